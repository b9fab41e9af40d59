"""msprobe's own results next to ours, clicked: its verdict, its check for NaN, its tree and its curves."""

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
from backends.precision.msprobe.table import TableRow
from studio import run as runs
from studio import schema
from studio.events import Journal
from studio.paths import ROOT
from studio.project import Project, make_runs_folder
from tests.packages import skip_without
from tests.ui import looks
from tests.ui.precision.comparisons import make_comparison
from ui.precision.comparison.result_view import Suspect
from ui.precision.msprobe.graph_sheet import GraphSheet
from ui.precision.msprobe.results import read_msprobe_results
from ui.precision.msprobe.results_sheet import MsprobeSheet, agreement_text
from ui.precision.msprobe.trend_sheet import TrendSheet
from ui.precision.page import PrecisionPage
from ui.widgets.basic import Elided
from ui.widgets.localized import change_language
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell

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
    precision_page = shell.findChild(PrecisionPage)
    assert precision_page is not None
    return precision_page


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """A folder from elsewhere: a target whose first layer_norm produces a NaN, and the golden side."""
    folder = tmp_path / "brought"
    shutil.copytree(TOOLS / "overflowed", folder / "target")
    shutil.copytree(TOOLS / "golden", folder / "golden")
    return folder


@pytest.fixture
def left(dumps: Path) -> Path:
    """The same folder with msprobe's files; its curves have forty steps."""
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
    """Compare both sides of a folder and show the result."""

    def show(folder: Path) -> Run:
        spec = CompareSpec(sides=Sides(target=folder / "target", golden=folder / "golden"))
        run = runs.create(make_runs_folder(Project(folder=project)), "compare", schema.to_json(spec), project)
        Journal(run.folder, 1).write(compare(spec, run))
        qtbot.waitUntil(lambda: session.refresh_runs() or page.compare.is_result)
        return run

    return show


def opened(page: PrecisionPage, qtbot: QtBot) -> MsprobeSheet:
    press(page, "precision_msprobe_open")
    return sheet(qtbot, MsprobeSheet)


def sheet(qtbot: QtBot, kind: type[Any]) -> Any:
    qtbot.waitUntil(lambda: bool(visible_widgets(kind)))
    looks.settle()
    return visible_widgets(kind)[0]


def visible_widgets(kind: type[Any]) -> list[Any]:
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, kind) and widget.isVisible()]


def press(within: Any, name: str) -> None:
    looks.settle()
    button = within.findChild(QPushButton, name)
    assert button is not None
    assert button.isVisible()
    assert button.isEnabled()
    button.click()


def label_text(within: Any, name: str) -> str:
    labels = within.findChildren(QLabel, name)
    return "\n".join(label.text() for label in labels)


def test_that_msprobes_verdict_is_shown_with_ours(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    results = opened(page, qtbot)
    agreement = label_text(results, "precision_msprobe_held")
    assert agreement.startswith(
        "msprobe names Functional.linear.0 first; ours, Functional.layer_norm.0, runs before it."
    )
    assert label_text(results, "precision_msprobe_counts").startswith("75 rows pass, 0 warn, 5 fail")
    assert f"does not pass: {LINEAR}" in label_text(results, "precision_msprobe_graph")
    assert "has neither" in label_text(results, "precision_msprobe_no_card")
    assert not looks.faults(results)
    results.close()
    change_language("zh")
    results = opened(page, qtbot)
    assert label_text(results, "precision_msprobe_held").startswith("msprobe 指出的首个异常是")
    assert not looks.faults(results)
    results.close()


def test_that_msprobes_own_comparison_of_this_run_comes_before_other_files(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    run = compared(left)
    own = run.folder / "artifacts" / "msprobe" / "step0.rank0"
    own.mkdir(parents=True)
    text = (TOOLS / "compare_26.2.0.csv").read_text("utf-8").replace(",error,", ",pass,")
    (own / "compare_result_own.csv").write_text(text, encoding="utf-8")
    results = opened(page, qtbot)
    assert "80 rows pass" in label_text(results, "precision_msprobe_counts")
    assert "compare_result_own.csv" in label_text(results, "precision_msprobe_counts")
    assert label_text(results, "precision_msprobe_held").startswith("msprobe passes every row; ours names")
    results.close()


def test_that_missing_results_have_no_section(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, qtbot: QtBot
) -> None:
    compared(dumps)
    (dumps / "damaged.vis.db").write_bytes(b"none")
    results = opened(page, qtbot)
    assert results.findChild(QPushButton, "precision_open_graph") is None
    assert results.findChild(QPushButton, "precision_open_trend") is None
    assert label_text(results, "precision_msprobe_held") == ""
    assert any("damaged.vis.db cannot be read" in label.text() for label in results.findChildren(QLabel))
    results.close()


def test_that_the_check_for_nan_runs_and_its_result_is_shown_and_kept(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, session: Session, qtbot: QtBot
) -> None:
    skip_without("msprobe")
    compared(dumps)
    press(opened(page, qtbot), "precision_overflow_check")
    notice = page.compare.check_notice
    qtbot.waitUntil(lambda: session.refresh_runs() or notice.isVisible())
    assert notice.sentence.text() == (
        f"First overflow: {NORM} (step 0, rank 0) produces NaN in output 0 from finite inputs.\n"
        f"msprobe's overflow_check names the same call, {NORM}."
    )
    looks.settle()
    assert not looks.faults(page)
    results = opened(page, qtbot)
    assert f"First overflow: {NORM}" in label_text(results, "precision_msprobe_overflow")
    results.close()
    change_language("zh")
    assert notice.sentence.text().startswith("首个溢出")
    press(page, "precision_told_close")
    assert not notice.isVisible()


def test_that_the_tree_opens_at_msprobes_first_error_and_reads_level_by_level(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    press(opened(page, qtbot), "precision_open_graph")
    graph = sheet(qtbot, GraphSheet)
    tensors = graph.findChild(QPlainTextEdit, "precision_msprobe_tensors")
    qtbot.waitUntil(lambda: "out 0  float32  [4, 6, 16]  error" in tensors.toPlainText())
    model, tree = graph.model, graph.tree
    assert tree.currentIndex().data() == LINEAR
    embedding = model.index(0, 0, model.index(0, 0))
    assert (embedding.data(), model.rowCount(embedding)) == ("Module.0.Embedding.forward.0", 0)
    tree.expand(embedding)
    qtbot.waitUntil(lambda: model.rowCount(embedding) == 1)
    assert model.index(0, 0, embedding).data() == "Functional.embedding.0.forward"
    assert model.index(0, 1, embedding).data() == "pass"
    assert not looks.faults(graph)
    graph.sides.setCurrentIndex(1)
    qtbot.waitUntil(lambda: graph.model.rowCount() == 1)
    assert graph.model.index(0, 1).data() == "–"
    graph.close()


def test_that_a_tensors_statistics_are_drawn_over_the_steps(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, qtbot: QtBot
) -> None:
    compared(left)
    press(opened(page, qtbot), "precision_open_trend")
    trend = sheet(qtbot, TrendSheet)
    qtbot.waitUntil(lambda: bool(trend.curves))
    assert [chart.metric_name for chart in trend.charts] == ["norm", "max", "min", "mean"]
    before = trend.curves["norm"]
    assert len(before) == 39
    assert float(before.values[-1] - before.values[0]) == pytest.approx(39)
    assert (trend.steps.begin, trend.steps.end) == (0, 39)
    trend.targets.setCurrentIndex(3)
    qtbot.waitUntil(lambda: trend.curves["norm"] is not before)
    looks.settle()
    assert not looks.faults(trend)
    trend.close()


def test_that_an_operator_is_checked_alone_only_on_a_host_with_a_device(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, session: Session, qtbot: QtBot
) -> None:
    run = compared(dumps)
    assert not page.compare.result_view.operator.acc_check.isVisible()
    errors: list[Exception] = []
    session.trouble.connect(errors.append)
    page.compare.acc_check_requested.emit(Suspect(run=run, call=NORM, index=0, step=0, rank=0))
    assert "this host has neither" in str(errors[0])


def test_that_the_page_of_an_operator_starts_its_check_on_a_host_with_a_device(
    shell: Shell, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, dumps: Path,
    session: Session,
) -> None:  # fmt: skip
    (tmp_path / "dev" / "nvidia0").mkdir(parents=True)
    monkeypatch.setattr(acc_check, "ACC_DEVICES", tmp_path / "dev")
    shell.show_page("precision")
    page = shell.findChild(PrecisionPage)
    assert page is not None
    spec = CompareSpec(sides=Sides(target=dumps / "target", golden=dumps / "golden"))
    run = runs.create(make_runs_folder(Project(folder=project)), "compare", schema.to_json(spec), project)
    Journal(run.folder, 1).write(compare(spec, run))
    qtbot.waitUntil(lambda: session.refresh_runs() or page.compare.is_result)
    requests: list[tuple[str, Any]] = []
    monkeypatch.setattr(page.run_starter, "start", lambda command, spec: requests.append((command, spec)))
    qtbot.waitUntil(lambda: page.compare.result_view.operator.call >= 0)
    press(page, "precision_alone")
    ((command, check),) = requests
    assert (command, check.chosen.call, check.chosen.comparison) == ("acc-check", NORM, run.folder)
    results = opened(page, qtbot)
    assert any(label.text().endswith("on this host's GPU.") for label in results.findChildren(QLabel))
    results.close()


# Agreement with msprobe


def row(tensor: str) -> TableRow:
    return TableRow(tensor, tensor, 3, "", ())


@pytest.mark.parametrize(
    ("tensor", "begins"),
    [
        ("Torch.relu.1.forward.input.0", "msprobe names Torch.relu.1 first; ours is the same call."),
        ("Torch.relu.2.forward.output.0", "msprobe names Torch.relu.2 first; ours, Torch.relu.1, runs before it."),
        ("Torch.relu.0.forward.output.0", "msprobe names Torch.relu.0 first; ours is Torch.relu.1, later."),
        ("Tensor.add.0.forward.output.0", "msprobe names Tensor.add.0.forward.output.0 first; ours is Torch.relu.1."),
        ("", "msprobe passes every row; ours names Torch.relu.1."),
    ],
)
def test_that_msprobes_first_is_compared_with_ours(tensor: str, begins: str) -> None:
    first = First(
        name="Torch.relu.1.forward", direction="forward", place="output", index=0, step=0, rank=0, reason="output",
        call=1,
    )  # fmt: skip
    comparison = make_comparison([EQUAL, FIRST, DIFFERS], first=first)
    assert agreement_text(comparison, row(tensor) if tensor else None).startswith(begins)
    clean = make_comparison([EQUAL] * 3)
    expected = "msprobe passes every row." if not tensor else "ours finds no divergence"
    assert expected in agreement_text(clean, row(tensor) if tensor else None)


def test_that_a_table_too_large_to_read_is_reported(
    page: PrecisionPage, compared: Callable[[Path], Run], left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared(left)
    loaded = page.compare.loaded
    assert loaded is not None
    monkeypatch.setattr("ui.precision.msprobe.results.MAX_BYTES", {".csv": 10, ".xlsx": 10})
    read = read_msprobe_results(loaded, ())
    assert read.tables is None
    assert [error.key for error in read.problems] == ["precision.beside.too_large"]


# Names from a dump are text


def test_that_a_name_that_looks_like_html_is_shown_literally(
    page: PrecisionPage, compared: Callable[[Path], Run], dumps: Path, qtbot: QtBot
) -> None:
    name = "<img src=x><b>Functional.evil.0.forward"
    for side in ("target", "golden"):
        path = dumps / side / "step0" / "rank0" / "dump.json"
        graph = json.loads(path.read_text())
        entry = graph["data"].pop(LINEAR)
        graph["data"] = {name: json.loads(json.dumps(entry)), **graph["data"]}
        if side == "target":
            graph["data"][name]["output"][0].update(Max=9.0, Norm=99.0)
        path.write_text(json.dumps(graph))
    compared(dumps)
    view = page.compare.result_view
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
