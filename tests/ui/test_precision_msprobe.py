"""msprobe's own results beside ours, clicked: its verdict, its check for NaN, its tree and its curves."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton

from backends.precision.compare.comparison import DIFFERS, EQUAL, FIRST, First
from backends.precision.compare.spec import CompareSpec, Sides
from backends.precision.compare.work import compare
from backends.precision.msprobe import acc_check
from backends.precision.msprobe.table import Row
from studio import run as runs
from studio import schema
from studio.events import Journal
from studio.places import ROOT
from studio.project import Project, make_runs_folder
from tests.ui import looks
from tests.ui.comparisons import made
from ui.pages.precision import PrecisionPage
from ui.plain_text import plain_tip
from ui.precision.comparison_view import Suspect
from ui.precision.msprobe_graph import GraphSheet
from ui.precision.msprobe_read import read_beside
from ui.precision.msprobe_said import held_against
from ui.precision.msprobe_sheet import MsprobeSheet
from ui.precision.msprobe_trend import TrendSheet
from ui.say import change_language
from ui.widgets import Elided

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.session import Session
    from ui.shell import Shell

TOOLS = ROOT / "tests" / "recorded" / "precision_tools"
LINEAR = "Functional.linear.0.forward"
NORM = "Functional.layer_norm.0.forward"


@pytest.fixture
def project(tmp_path: Path, session: Session) -> Path:
    folder = tmp_path / "gpt 中文"
    folder.mkdir()
    session.open_project(folder)
    return folder


@pytest.fixture
def page(shell: Shell, project: Path) -> PrecisionPage:
    shell.show_page("precision")
    found = shell.findChild(PrecisionPage)
    assert found is not None
    return found


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Brought from elsewhere: a target whose first layer_norm makes a NaN, and the golden side."""
    folder = tmp_path / "brought"
    shutil.copytree(TOOLS / "overflowed", folder / "target")
    shutil.copytree(TOOLS / "golden", folder / "golden")
    return folder


@pytest.fixture
def left(dumps: Path) -> Path:
    """With what msprobe wrote beside them; its curves have forty steps."""
    shutil.copy(TOOLS / "compare_26.2.0.vis.db", dumps / "compare_1.vis.db")
    shutil.copy(TOOLS / "compare_26.2.0.csv", dumps / "compare_result_1.csv")
    trends = dumps / "dump_data.trend.db"
    shutil.copy(TOOLS / "dump_data_26.2.0.trend.db", trends)
    columns = "norm, max, min, mean"
    more = f"INSERT INTO trend_data (rank, step, target_id, metric_id, {columns}) SELECT rank, ?, target_id, metric_id"
    with sqlite3.connect(trends) as connection:
        for step in range(2, 40):
            connection.execute(f"{more}, norm + ?, max, min, mean FROM trend_data WHERE step = 0", (step, step))
    connection.close()
    return dumps


@pytest.fixture
def compared(page: PrecisionPage, project: Path, session: Session, qtbot: QtBot) -> Callable[[Path], Run]:
    """Compares both sides of a folder and shows that."""

    def show(folder: Path) -> Run:
        spec = CompareSpec(sides=Sides(target=folder / "target", golden=folder / "golden"))
        run = runs.create(make_runs_folder(Project(folder=project)), "compare", schema.to_json(spec), project)
        Journal(run.folder, 1).write(compare(spec, run))
        qtbot.waitUntil(lambda: session.look() or page.compare.is_result, timeout=20_000)
        return run

    return show


def opened(page: PrecisionPage, qtbot: QtBot) -> MsprobeSheet:
    press(page, "precision_msprobe_open")
    return sheet(qtbot, MsprobeSheet)


def sheet(qtbot: QtBot, kind: type[Any]) -> Any:
    qtbot.waitUntil(lambda: bool(shown(kind)), timeout=20_000)
    looks.settle()
    return shown(kind)[0]


def shown(kind: type[Any]) -> list[Any]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()]


def press(within: Any, name: str) -> None:
    looks.settle()
    found = within.findChild(QPushButton, name)
    assert found is not None
    assert found.isVisible()
    assert found.isEnabled()
    found.click()


def said(within: Any, name: str) -> str:
    found = within.findChildren(QLabel, name)
    return "\n".join(label.text() for label in found)


def test_that_msprobes_verdict_stands_beside_ours(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    found = opened(page, qtbot)
    held = said(found, "precision_msprobe_held")
    assert held.startswith("msprobe names Functional.linear.0 first; ours, Functional.layer_norm.0, runs before it.")
    assert said(found, "precision_msprobe_counts").startswith("75 rows pass, 0 warning, 5 error")
    assert f"does not let pass: {LINEAR}" in said(found, "precision_msprobe_graph")
    assert "has neither" in said(found, "precision_msprobe_no_card")
    assert not looks.faults(found)
    found.close()
    change_language("zh")
    found = opened(page, qtbot)
    assert said(found, "precision_msprobe_held").startswith("msprobe 指出的首个异常是")
    assert not looks.faults(found)
    found.close()


def test_that_msprobes_own_comparison_of_this_run_comes_before_what_lies_beside(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    run = compared(left)
    own = run.folder / "artifacts" / "msprobe" / "step0.rank0"
    own.mkdir(parents=True)
    text = (TOOLS / "compare_26.2.0.csv").read_text("utf-8").replace(",error,", ",pass,")
    (own / "compare_result_own.csv").write_text(text, encoding="utf-8")
    found = opened(page, qtbot)
    assert "80 rows pass" in said(found, "precision_msprobe_counts")
    assert "compare_result_own.csv" in said(found, "precision_msprobe_counts")
    assert said(found, "precision_msprobe_held").startswith("msprobe lets every row pass; ours names")
    found.close()


def test_that_nothing_stands_there_for_what_is_not_there(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, qtbot: QtBot
) -> None:
    compared(dumps)
    (dumps / "damaged.vis.db").write_bytes(b"none")
    found = opened(page, qtbot)
    assert found.findChild(QPushButton, "precision_open_graph") is None
    assert found.findChild(QPushButton, "precision_open_trend") is None
    assert said(found, "precision_msprobe_held") == ""
    assert any("damaged.vis.db cannot be read" in label.text() for label in found.findChildren(QLabel))
    found.close()


def test_that_the_check_for_nan_is_run_and_told_and_kept(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, session: Session, qtbot: QtBot
) -> None:
    pytest.importorskip("msprobe")
    compared(dumps)
    press(opened(page, qtbot), "precision_overflow_check")
    told = page.compare.told
    qtbot.waitUntil(lambda: session.look() or told.isVisible(), timeout=120_000)
    assert told.said.text() == (
        f"First overflow: {NORM} (step 0, rank 0) makes NaN in output 0 of finite inputs.\n"
        f"msprobe's overflow_check names the same call, {NORM}."
    )
    looks.settle()
    assert not looks.faults(page)
    found = opened(page, qtbot)
    assert f"First overflow: {NORM}" in said(found, "precision_msprobe_overflow")
    found.close()
    change_language("zh")
    assert told.said.text().startswith("首个溢出")
    press(page, "precision_told_close")
    assert not told.isVisible()


def test_that_the_tree_opens_at_msprobes_first_error_and_reads_level_by_level(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    press(opened(page, qtbot), "precision_open_graph")
    found = sheet(qtbot, GraphSheet)
    tensors = found.findChild(QPlainTextEdit, "precision_msprobe_tensors")
    qtbot.waitUntil(lambda: "out 0  float32  [4, 6, 16]  error" in tensors.toPlainText(), timeout=20_000)
    model, tree = found.model, found.tree
    assert tree.currentIndex().data() == LINEAR
    embedding = model.index(0, 0, model.index(0, 0))
    assert (embedding.data(), model.rowCount(embedding)) == ("Module.0.Embedding.forward.0", 0)
    tree.expand(embedding)
    qtbot.waitUntil(lambda: model.rowCount(embedding) == 1, timeout=20_000)
    assert model.index(0, 0, embedding).data() == "Functional.embedding.0.forward"
    assert model.index(0, 1, embedding).data() == "pass"
    assert not looks.faults(found)
    found.sides.setCurrentIndex(1)
    qtbot.waitUntil(lambda: found.model.rowCount() == 1, timeout=20_000)
    assert found.model.index(0, 1).data() == "–"
    found.close()


def test_that_a_tensors_statistics_are_drawn_over_the_steps(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    press(opened(page, qtbot), "precision_open_trend")
    found = sheet(qtbot, TrendSheet)
    qtbot.waitUntil(lambda: bool(found.curves), timeout=20_000)
    assert [chart.metric_name for chart in found.charts] == ["norm", "max", "min", "mean"]
    before = found.curves["norm"]
    assert len(before) == 39
    assert float(before.values[-1] - before.values[0]) == pytest.approx(39)
    assert (found.steps.begin, found.steps.end) == (0, 39)
    found.targets.setCurrentIndex(3)
    qtbot.waitUntil(lambda: found.curves["norm"] is not before, timeout=20_000)
    looks.settle()
    assert not looks.faults(found)
    found.close()


def test_that_an_operator_is_checked_alone_only_where_a_card_is(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, session: Session, qtbot: QtBot
) -> None:
    run = compared(dumps)
    assert not page.compare.view.operator.alone.isVisible()
    told: list[Exception] = []
    session.trouble.connect(told.append)
    page.compare.alone_wanted.emit(Suspect(run=run, call=NORM, index=0, step=0, rank=0))
    assert "this host has neither" in str(told[0])


def test_that_where_a_card_is_the_operators_page_starts_its_check(
    shell: Shell, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, dumps: Path,
    session: Session,
) -> None:  # fmt: skip
    (tmp_path / "dev" / "nvidia0").mkdir(parents=True)
    monkeypatch.setattr(acc_check, "DEVICES", tmp_path / "dev")
    shell.show_page("precision")
    page = shell.findChild(PrecisionPage)
    assert page is not None
    spec = CompareSpec(sides=Sides(target=dumps / "target", golden=dumps / "golden"))
    run = runs.create(make_runs_folder(Project(folder=project)), "compare", schema.to_json(spec), project)
    Journal(run.folder, 1).write(compare(spec, run))
    qtbot.waitUntil(lambda: session.look() or page.compare.is_result, timeout=20_000)
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(page.starts, "begin", lambda command, spec: asked.append((command, spec)))
    qtbot.waitUntil(lambda: page.compare.view.operator.call >= 0)
    press(page, "precision_alone")
    ((command, wanted),) = asked
    assert (command, wanted.chosen.call, wanted.chosen.comparison) == ("acc-check", NORM, run.folder)
    found = opened(page, qtbot)
    assert any(label.text().startswith("On this host's GPU") for label in found.findChildren(QLabel))
    found.close()


# What is said


def row(tensor: str) -> Row:
    return Row(tensor, tensor, 3, "", ())


@pytest.mark.parametrize(
    ("tensor", "begins"),
    [
        ("Torch.relu.1.forward.input.0", "msprobe names Torch.relu.1 first; ours is the same call."),
        ("Torch.relu.2.forward.output.0", "msprobe names Torch.relu.2 first; ours, Torch.relu.1, runs before it."),
        ("Torch.relu.0.forward.output.0", "msprobe names Torch.relu.0 first; ours is Torch.relu.1, later."),
        ("Tensor.add.0.forward.output.0", "msprobe names Tensor.add.0.forward.output.0 first; ours is Torch.relu.1."),
        ("", "msprobe lets every row pass; ours names Torch.relu.1."),
    ],
)
def test_that_its_first_is_held_against_ours(tensor: str, begins: str) -> None:
    first = First(
        name="Torch.relu.1.forward", direction="forward", place="output", index=0, step=0, rank=0, reason="output",
        call=1,
    )  # fmt: skip
    comparison = made([EQUAL, FIRST, DIFFERS], first=first)
    assert held_against(comparison, row(tensor) if tensor else None).startswith(begins)
    clean = made([EQUAL] * 3)
    expected = "msprobe lets every row pass." if not tensor else "ours finds no divergence"
    assert expected in held_against(clean, row(tensor) if tensor else None)


def test_that_a_table_too_large_for_the_window_is_said_to_be(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(left)
    found = page.compare.compared
    assert found is not None
    monkeypatch.setattr("ui.precision.msprobe_read.LARGEST", {".csv": 10, ".xlsx": 10})
    read = read_beside(found, ())
    assert read.tables is None
    assert [error.key for error in read.problems] == ["precision.beside.too_large"]


# Names from a dump are text


def test_that_a_name_that_looks_like_html_is_shown_sign_for_sign(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, qtbot: QtBot
) -> None:
    name = "<img src=x><b>Functional.evil.0.forward"
    for side in ("target", "golden"):
        path = dumps / side / "step0" / "rank0" / "dump.json"
        found = json.loads(path.read_text())
        entry = found["data"].pop(LINEAR)
        found["data"] = {name: json.loads(json.dumps(entry)), **found["data"]}
        if side == "target":
            found["data"][name]["output"][0].update(Max=9.0, Norm=99.0)
        path.write_text(json.dumps(found))
    compared(dumps)
    view = page.compare.view
    call = view.comparison.names.index(name)  # type: ignore[union-attr]
    view.selection.select(call)
    qtbot.waitUntil(lambda: view.operator.call == call)
    looks.settle()
    tips = [widget.toolTip() for widget in view.operator.findChildren(QLabel)]
    for table in (view.table.model, view.tree.model):
        cells = [table.index(line, at) for line in range(table.rowCount()) for at in range(table.columnCount())]
        tips += [str(cell.data(Qt.ItemDataRole.ToolTipRole) or "") for cell in cells]
    evil = [tip for tip in tips if "evil" in tip]
    assert evil
    assert not [tip for tip in evil if "<img" in tip or "<b>" in tip]
    assert all("&lt;img" in tip for tip in evil)


def test_that_only_text_that_looks_like_html_is_changed(qtbot: QtBot) -> None:
    assert plain_tip("a < b & c\nd") == "a < b & c\nd"
    assert "&lt;b&gt;" in plain_tip("<b>x</b>")
    line = Elided()
    qtbot.addWidget(line)
    line.setFixedWidth(30)
    line.setText("<b>a long name that has no room</b>")
    line.show()
    looks.settle()
    assert "&lt;b&gt;" in line.toolTip()
