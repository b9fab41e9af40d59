"""The Precision page, clicked: captures made, picked and compared, environments, losses and weights."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from backends.launch.own.spec import OwnSpec
from backends.migration.certify.spec import CertifySpec
from backends.precision.compare.alignment.manual_matches import path_of
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from backends.precision.dump.layout import find_dumps
from backends.precision.dump.read import read_dump
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Metric
from studio.paths import ROOT
from studio.project import Project, make_runs_folder
from studio.security import ledger
from tests.precision.config import packs
from tests.runs import write_worker
from tests.ui import looks
from tests.ui.precision.mouse import choose, drop_on, press, wait_for_captures
from ui.form.inputs import ChoiceInput
from ui.home.journey_steps import steps
from ui.precision.capture.target_sheet import TargetSheet
from ui.precision.capture.target_tree import TargetNodes, TargetTreeModel, target_nodes
from ui.precision.captures import describe_capture, describe_origin, read_capture, read_captures
from ui.precision.comparison.follow_ups import IssueSheet
from ui.precision.page import PrecisionPage
from ui.precision.tables.tree_view import CallMatch
from ui.precision.views import CAPTURE, COMPARE, ENVIRONMENT, LOSSES_WEIGHTS
from ui.services import editor
from ui.services.run_titles import page_of, title_of
from ui.shell.dropped_path import recognise
from ui.widgets.basic import Elided
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.precision.capture.view import CaptureView
    from ui.services.session import Session
    from ui.shell.window import Shell

DUMPS = ROOT / "tests" / "recorded" / "precision" / "dumps"
TOOLS = ROOT / "tests" / "recorded" / "precision_tools"
PUT = "artifacts/captures/101112-dump-ab12"


@pytest.fixture
def project(tmp_path: Path, session: Session) -> Path:
    folder = tmp_path / "gpt 中文"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)\n", encoding="utf-8")
    session.open_project(folder)
    return folder


@pytest.fixture
def page(shell: Shell, project: Path) -> PrecisionPage:
    shell.show_page("precision")
    precision_page = shell.findChild(PrecisionPage)
    assert precision_page is not None
    return precision_page


@pytest.fixture
def put(session: Session, project: Path) -> Callable[..., Run]:
    """Create a training of the project that has ended, with a recorded dump as its capture."""

    def make(
        dump: str = "", *words: str, command: str = "script", change: Callable[[Any], None] | None = None,
        losses: tuple[float, ...] = (),
    ) -> Run:  # fmt: skip
        spec = schema.with_value(OwnSpec(), "line", ("python", "train.py", *words))
        spec = schema.with_value(spec, "workdir", project)
        run = runs.create(make_runs_folder(Project(folder=project)), command, schema.to_json(spec), project)
        if dump:
            shutil.copytree(DUMPS / dump, run.folder / PUT)
        if change:
            (path,) = (run.folder / PUT).rglob("dump.json")
            content = json.loads(path.read_text())
            change(content["data"])
            path.write_text(json.dumps(content))
        metrics = [Metric(step=step, values={"loss": loss}) for step, loss in enumerate(losses, 1)]
        Journal(run.folder, 1).write(*metrics, Ended(code=0))
        time.sleep(0.002)  # Runs are named by their start time.
        session.refresh_runs()
        return run

    return make


def texts_in(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def origins(card: QWidget) -> list[str]:
    """Where each capture is from, as its row says it."""
    looks.settle()
    labels = [label for label in card.findChildren(Elided) if "origin" in label.objectName()]
    return [label.whole_text() for label in labels if label.isVisible()]


def raise_linear(data: dict[str, Any]) -> None:
    """Change a call in the middle of a dump, and nothing after it."""
    name = next(
        call for call in data if "linear" in call and call.endswith("forward") and call.startswith("Functional")
    )
    for entry in data[name]["output"]:
        for figure in ("Max", "Min", "Mean", "Norm"):
            if isinstance(entry.get(figure), float) and math.isfinite(entry[figure]):
                entry[figure] *= 1.5


# What there is to compare


def test_that_without_captures_the_page_says_what_it_needs_and_leads_there(page: PrecisionPage) -> None:
    assert page.compare.guide.isVisible()
    assert not page.compare.sides.compare.isEnabled()
    assert not looks.faults(page)
    press(page, "precision_go_capture")
    assert page.tabs.currentIndex() == CAPTURE


def test_that_captures_of_runs_are_found_with_what_they_hold(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    put("torch_statistics")
    put("torch_tensor")
    put()
    wait_for_captures(page, qtbot, 2)
    assert not page.compare.guide.isVisible()
    first = page.views._captures[0]
    assert (first.task, first.level, first.framework, first.steps) == ("tensor", "mix", "pytorch", (0,))
    assert describe_capture(first).startswith("step 0 · tensors · mix · pytorch · ")
    page.tabs.setCurrentIndex(CAPTURE)
    card = page.views.capture.captures_card
    assert "train.py" in "".join(label.whole_text() for label in card.findChildren(Elided))
    for capture, origin in zip(page.views._captures, origins(card), strict=True):
        assert str(capture.path) in origin
        assert "train.py" in origin
    press(card, "precision_as_golden_1")
    assert page.tabs.currentIndex() == COMPARE
    golden = page.compare.sides.golden.capture
    assert golden is not None
    assert golden.task == "statistics"
    page.tabs.setCurrentIndex(CAPTURE)
    assert ["golden side" in origin for origin in origins(card)] == [False, True]


def test_that_a_comparison_that_ends_elsewhere_replaces_neither_a_form_nor_a_result(
    page: PrecisionPage, put: Callable[..., Run], session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    put("torch_statistics")
    wait_for_captures(page, qtbot, 1)
    choose(page, "precision_target", 1)
    elsewhere = compared_elsewhere(session)
    qtbot.waitUntil(lambda: session.refresh_runs() or len(page.run_results.comparisons) == 1)
    looks.settle()
    assert not page.compare.is_result
    assert page.compare.sides.target.capture is not None
    page.run_results.open_comparison(elsewhere)
    qtbot.waitUntil(lambda: page.compare.loaded is not None)
    compared_elsewhere(session)
    qtbot.waitUntil(lambda: session.refresh_runs() or len(page.run_results.comparisons) == 2)
    looks.settle()
    assert page.compare.loaded is not None
    assert page.compare.loaded.run.folder == elsewhere.folder


def compared_elsewhere(session: Session) -> Run:
    """A comparison that was made on the command line."""
    target, golden = DUMPS / "torch_statistics", DUMPS / "torch_tensor"
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
    run = runs.create(make_runs_folder(session.project), "compare", schema.to_json(spec))
    Journal(run.folder, 1).write(compare(spec, run))
    time.sleep(0.002)  # Runs are named by their start time.
    return run


def test_that_the_golden_line_is_ticked_by_a_capture_that_is_used_as_golden(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    put("torch_statistics")
    wait_for_captures(page, qtbot, 1)
    assert page.compare.guide.done == (True, False, False)
    page.tabs.setCurrentIndex(CAPTURE)
    press(page.views.capture.captures_card, "precision_as_golden_0")
    assert page.compare.guide.isVisible()
    assert page.compare.guide.done == (False, True, False)
    press(page, "precision_swap")
    assert page.compare.guide.done == (True, False, False)


def test_that_a_capture_says_project_command_device_and_folder(tmp_path: Path) -> None:
    values = {"program": {"line": ["python", "train.py", "--lr", "0.1"]}}
    run = runs.create(tmp_path / "runs", "script", values, tmp_path / "my project")
    pack = run.folder / "artifacts" / "config" / "rank0.zip"
    packs.write(pack, packs.own(devices=["Ascend910B1"]))
    folder = run.folder / "artifacts" / "captures" / "a"
    shutil.copytree(DUMPS / "torch_statistics", folder)
    (capture,) = read_captures([run])
    words = describe_origin(capture, "golden").split(" · ")
    assert words == ["my project", "python train.py --lr 0.1", "golden side", "Ascend910B1", str(folder)]


def test_that_a_dropped_dump_becomes_the_side_that_is_missing(
    shell: Shell, page: PrecisionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    brought = tmp_path / "from gpu 🎉"
    shutil.copytree(DUMPS / "torch_statistics", brought)
    assert recognise(brought).kind == "dump"
    (file,) = brought.rglob("dump.json")
    assert recognise(file).kind == "dump"
    shell.show_page("home")
    shell.open_path(brought)
    pick = page.compare.sides
    qtbot.waitUntil(lambda: pick.target.capture is not None)
    assert shell.page == "precision"
    drop_on(pick.golden, DUMPS / "torch_tensor")
    qtbot.waitUntil(lambda: pick.golden.capture is not None)
    assert pick.compare.isEnabled()
    assert len(pick.pairs.matched) == 1
    press(page, "precision_swap")
    assert pick.golden.capture is not None
    assert pick.golden.capture.path == brought
    assert not looks.faults(page)


def test_that_dumps_from_elsewhere_are_compared_without_a_project(
    page: PrecisionPage, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    session.open_project(None)
    target = tmp_path / "npu 结果"
    shutil.copytree(DUMPS / "torch_statistics", target)
    (path,) = target.rglob("dump.json")
    dump = json.loads(path.read_text())
    raise_linear(dump["data"])
    path.write_text(json.dumps(dump))
    pick = page.compare.sides
    for side, folder in ((pick.target, target), (pick.golden, DUMPS / "torch_statistics")):
        drop_on(side, folder)
        qtbot.waitUntil(lambda side=side: side.capture is not None)
    press(page, "precision_compare")
    qtbot.waitUntil(lambda: session.refresh_runs() or page.compare.loaded is not None)
    assert page.compare.is_result
    qtbot.waitUntil(lambda: page.compare.result_view.operator.name.whole_text().startswith("Functional.linear"))


def test_that_a_folder_without_a_dump_says_so(page: PrecisionPage, qtbot: QtBot, tmp_path: Path) -> None:
    side = page.compare.sides.target
    drop_on(side, tmp_path)
    qtbot.waitUntil(lambda: side._error is not None)
    assert side.capture is None
    assert str(tmp_path) in texts_in(side)
    assert not page.compare.sides.compare.isEnabled()


def test_that_the_same_capture_on_both_sides_is_no_comparison(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    put("torch_statistics")
    wait_for_captures(page, qtbot, 1)
    for side in ("precision_target", "precision_golden"):
        choose(page, side, 1)
    assert not page.compare.sides.compare.isEnabled()
    assert "Both sides are the same capture." in texts_in(page)


def test_that_steps_can_be_paired_by_hand_and_reset(page: PrecisionPage, qtbot: QtBot, tmp_path: Path) -> None:
    sides = []
    for name in ("npu", "gpu"):
        for step in (0, 1):
            shutil.copytree(DUMPS / "torch_statistics" / "step0", tmp_path / name / f"step{step}")
        sides.append(tmp_path / name)
    pick = page.compare.sides
    for side, folder in zip((pick.target, pick.golden), sides, strict=True):
        drop_on(side, folder)
        qtbot.waitUntil(lambda side=side: side.capture is not None)
    assert len(pick.pairs.matched) == 2
    choose(page, "precision_partner_1", 1)
    assert pick.pairs.manual_pairs == (((0, 0), (1, 0)),)
    first = pick.pairs.pairs[0]
    assert first.golden is not None
    assert first.golden.step == 1
    press(page, "precision_pairs_back")
    assert pick.pairs.manual_pairs == ()


def test_that_msprobe_files_next_to_a_dump_are_listed(page: PrecisionPage, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "brought"
    shutil.copytree(DUMPS / "torch_statistics", folder)
    for name in ("compare_26.2.0.vis.db", "dump_data_26.2.0.trend.db"):
        shutil.copy(TOOLS / name, folder / name)
    shutil.copy(TOOLS / "compare_26.2.0.csv", folder / "compare_result_1.csv")
    (folder / "damaged.vis.db").write_bytes(b"none")
    page.take_dump(folder)
    card = page.compare.msprobe_files
    qtbot.waitUntil(card.isVisible)
    looks.settle()
    texts = texts_in(card)
    assert "the first call that msprobe marks is" in texts
    assert "the first row that does not pass is" in texts
    assert "dump_data_26.2.0.trend.db: statistics of" in texts
    assert "damaged.vis.db" in texts
    assert not looks.faults(page)


# Comparing


@pytest.fixture
def compared(page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot) -> PrecisionPage:
    """The page after a real comparison by its worker, started with the keyboard."""
    put("torch_statistics", "--golden")
    put("torch_statistics", "--target", change=raise_linear)
    wait_for_captures(page, qtbot, 2)
    choose(page, "precision_target", 1)
    choose(page, "precision_golden", 2)
    page.window().activateWindow()
    qtbot.keyClick(page.compare.sides.compare, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: page.session.refresh_runs() or page.compare.loaded is not None)
    return page


def test_that_a_comparison_lands_on_what_differs(compared: PrecisionPage, session: Session) -> None:
    loaded = compared.compare.loaded
    assert loaded is not None
    assert compared.compare.is_result
    assert loaded.comparison.first is not None
    assert loaded.comparison.first.name.startswith("Functional.linear")
    assert compared.head.chip.text().startswith("Diverges")
    assert not loaded.stale
    assert page_of(loaded.run) == "precision"
    assert next(step for step in steps(session) if step.id == "precision").state == "open"
    assert session.run is None
    change_language("zh")
    assert compared.head.chip.text().startswith("有差异")
    change_language("en")
    assert not looks.left_in_chinese(compared.head)


def test_that_a_dump_written_again_makes_the_comparison_stale_and_it_can_be_repeated(
    compared: PrecisionPage, qtbot: QtBot
) -> None:
    before = compared.compare.loaded
    assert before is not None
    target = before.comparison.passes[0].target
    assert target is not None
    os.utime(target / "dump.json", (time.time() + 5, time.time() + 5))
    compared.run_results.open_comparison(before.run)
    qtbot.waitUntil(lambda: "written again" in compared.compare._stale.whole_text())
    press(compared, "precision_again")
    qtbot.waitUntil(
        lambda: compared.session.refresh_runs() or (compared.compare.loaded or before).run != before.run,
    )
    assert compared.compare.choice.count() == 2
    choose(compared, "precision_comparisons", 1)
    qtbot.waitUntil(lambda: (compared.compare.loaded or before).run == before.run)


def compare_elsewhere(page: PrecisionPage, target: Run, golden: Run) -> Run:
    """Compare two captures as a shell would, in the project of the page."""
    spec = CompareSpec()
    for name, run in (("target", target), ("golden", golden)):
        spec = schema.with_value(spec, name, run.folder)
    project = page.session.project
    assert project is not None
    run = runs.create(make_runs_folder(project), "compare", schema.to_json(spec), project.folder)
    Journal(run.folder, 1).write(compare(spec, run))
    page.session.refresh_runs()
    return run


def test_that_a_comparison_that_ends_elsewhere_replaces_no_form_that_is_being_filled_in(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    first, second = put("torch_statistics"), put("torch_statistics", change=raise_linear)
    wait_for_captures(page, qtbot, 2)
    choose(page, "precision_target", 1)
    run = compare_elsewhere(page, second, first)
    qtbot.waitUntil(page.elsewhere.isVisible)
    assert not page.compare.is_result
    assert page.compare.sides.target.capture is not None
    assert page.compare.loaded is None
    press(page, "precision_elsewhere_show")
    qtbot.waitUntil(lambda: page.compare.loaded is not None)
    assert page.compare.loaded is not None
    assert page.compare.loaded.run.folder == run.folder
    assert not page.elsewhere.isVisible()


def test_that_a_comparison_that_ends_elsewhere_does_not_replace_the_one_that_is_read(
    compared: PrecisionPage, qtbot: QtBot
) -> None:
    before = compared.compare.loaded
    assert before is not None
    other = compare_elsewhere(compared, *[run for run, _ in compared.session.listed if run.request.command == "script"])
    qtbot.waitUntil(compared.elsewhere.isVisible)
    assert compared.compare.loaded is before
    assert compared.compare.choice.count() == 2
    assert other.name in [compared.compare.choice.itemData(row).name for row in range(2)]


def test_that_a_comparison_that_was_not_whole_is_amber(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    def cut(data: dict[str, Any]) -> None:
        for name in [name for name in data if ".forward" not in name]:
            del data[name]

    compare_elsewhere(page, put("torch_statistics", change=cut), put("torch_statistics"))
    qtbot.waitUntil(lambda: page.compare.loaded is not None)
    card = page.compare.result_view.verdict
    assert "Incomplete" in card.headline.text()
    assert "captured the forward or the backward alone" in card.explanation.text()
    assert page.head.chip.text().startswith("Not all compared")


def test_that_a_report_is_written_in_the_language_that_is_chosen(
    compared: PrecisionPage, qtbot: QtBot, tmp_path: Path
) -> None:
    press(compared, "precision_report")
    menu = QApplication.activePopupWidget()
    assert menu is not None
    assert [action.text() for action in menu.actions()] == ["HTML, English", "HTML, Chinese"]
    menu.close()
    out = tmp_path / "报告.html"
    compared.follow_ups.report.write("zh", out)
    qtbot.waitUntil(out.is_file)
    assert "Functional.linear" in out.read_text(encoding="utf-8")


def test_that_others_can_be_compared_and_an_unfinished_comparison_is_no_result(
    compared: PrecisionPage, qtbot: QtBot
) -> None:
    press(compared, "precision_other")
    assert not compared.compare.is_result
    assert compared.compare.sides.isVisible()
    compared.session.open_project(None)
    assert compared.compare.loaded is None
    assert not compared.head.chip.isVisible()


def test_that_the_reason_of_a_failed_comparison_is_reported(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot, session: Session
) -> None:
    first, second = put("torch_statistics"), put("torch_tensor")
    wait_for_captures(page, qtbot, 2)
    choose(page, "precision_target", 1)
    choose(page, "precision_golden", 2)
    for run in (first, second):
        shutil.rmtree(run.folder / "artifacts/captures")
    with qtbot.waitSignal(session.trouble) as failure:
        press(page, "precision_compare")
        qtbot.waitUntil(lambda: session.refresh_runs() or failure.signal_triggered)
    assert page.compare.loaded is None


# Capturing


def test_that_a_capture_is_offered_while_its_training_is_running(
    page: PrecisionPage, session: Session, project: Path, qtbot: QtBot
) -> None:
    spec = schema.with_value(schema.with_value(OwnSpec(), "line", ("python", "train.py")), "workdir", project)
    run = runs.create(make_runs_folder(Project(folder=project)), "script", schema.to_json(spec), project)
    journal = Journal(run.folder, 1)
    journal.write(Metric(step=1, values={"loss": 2.0}))
    write_worker(run.folder)
    (run.folder / "capture.json").write_text('{"id": "a", "kind": "dump"}')
    session.refresh_runs()
    assert session.listed[0][1].state == "running"
    assert page.views._captures == ()
    shutil.copytree(DUMPS / "torch_statistics", run.folder / "artifacts/captures/a")
    (run.folder / "artifacts/captures/a/rank0.json").write_text('{"state": "done", "kind": "dump"}')
    journal.write(Metric(step=2, values={"loss": 1.0}))
    wait_for_captures(page, qtbot, 1)
    assert page.views._captures[0].run is not None


def test_that_the_last_command_line_is_offered_again(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    run = put("", "--lr=1")
    own = page.views.capture.own
    qtbot.waitUntil(lambda: own.spec.program.line == ("python", "train.py", "--lr=1"))
    own.set_value("line", ("python", "other.py"))
    put("", "--lr=2")
    qtbot.waitUntil(lambda: not page.views.capture._search._is_running)
    assert own.spec.program.line == ("python", "other.py"), "what was written stays"
    assert run.request.command == "script"


def test_that_a_capture_after_a_proof_begins_with_the_migrated_project(
    page: PrecisionPage, put: Callable[..., Run], project: Path, session: Session, qtbot: QtBot
) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    put("", "--lr=1")
    migrated = project.with_name("gpt-npu")
    migrated.mkdir()
    spec = CertifySpec()
    line = ("python", "train.py", "--lr=1")
    for name, value in {"original": project, "migrated": migrated, "line": line, "workdir": project}.items():
        spec = schema.with_value(spec, name, value)
    run = runs.create(session.folder, "certify", schema.to_json(spec), project)
    Journal(run.folder, 1).write(Ended(code=0))
    session.refresh_runs()
    qtbot.waitUntil(lambda: page.views.capture.own.spec.program.workdir == migrated)
    assert page.views.capture.own.spec.program.line == line


def test_that_modules_are_ticked_in_a_tree_of_an_earlier_capture(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    assert not view.tick_targets.isEnabled()
    put("torch_tensor")
    put("torch_structure")
    wait_for_captures(page, qtbot, 2)
    view.planned.set_value("capture_level", "L1")
    press(view, "precision_tick_targets")
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, TargetSheet)
    qtbot.waitUntil(lambda: sheet.model is not None)
    model = sheet.model
    assert model is not None
    index = model.index(0, 0)
    assert model.setData(index, Qt.CheckState.Checked.value, Qt.ItemDataRole.CheckStateRole)
    assert model.targets() == (f"Module.{index.data()}.",)
    press(sheet, "precision_take_targets")
    spec = view.spec()
    assert spec.planned.capture_targets == f"Module.{index.data()}."
    assert spec.planned.capture_level == "mix"
    assert not [problem for problem in view.problems() if problem.field != "line"]


def test_that_a_ticked_module_stands_for_what_is_in_it() -> None:
    nodes = TargetNodes()
    block = nodes.add(0, "block", "Module.block.", "Block")
    inside = nodes.add(block, "up", "Module.block.up.", "Linear")
    calls = [nodes.add(parent, "Functional.linear", "Functional.linear", "") for parent in (inside, 0)]
    model = TargetTreeModel(nodes, ("Module.block.", "Module.block.up.", "typed"))
    assert model.targets() == ("Module.block.", "typed")
    state = Qt.ItemDataRole.CheckStateRole
    assert model.createIndex(0, 0, calls[0]).data(state) == Qt.CheckState.Checked
    assert not model.setData(model.createIndex(0, 0, inside), Qt.CheckState.Unchecked.value, state)
    other = model.createIndex(1, 0, calls[1])
    assert other.data(state) == Qt.CheckState.Unchecked
    assert model.setData(other, Qt.CheckState.Checked.value, state)
    assert model.targets() == ("Module.block.", "Functional.linear", "typed")


def test_that_calls_stand_below_the_module_that_made_them() -> None:
    nodes = target_nodes(read_dump(find_dumps(DUMPS / "torch_structure")[0]))
    first = nodes.names.index("first")
    assert (nodes.targets[first], nodes.hints[first]) == ("Module.first.", "Linear")
    assert [nodes.names[child] for child in nodes.children[first]] == ["Functional.linear"]
    assert "Torch.cat" in [nodes.names[one] for one in nodes.children[0]]


def test_that_the_line_for_the_other_machine_has_nothing_of_this_one(
    page: PrecisionPage, project: Path, qtbot: QtBot
) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    view.own.boxes["line"].input.setPlainText("python train.py --lr 0.1")
    text = view.other_host.view.toPlainText()
    assert text.startswith("ascend-studio")
    assert str(project) not in text
    assert "-- python train.py" in text.replace("\\\n ", "")
    press(view, "precision_other_side.copy")
    assert QGuiApplication.clipboard().text() == text


def test_that_a_missing_msprobe_brings_its_install_line(
    page: PrecisionPage, qtbot: QtBot, interpreter: Callable[[str], Path]
) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    python = interpreter("exit 1")
    view.own.set_value("python", python)
    view.own.set_value("line", ("python", "train.py"))
    qtbot.waitUntil(view.msprobe.isVisible)
    assert "lacks msprobe" in texts_in(view.msprobe)
    press(view.msprobe, "precision_copy_install")
    assert QGuiApplication.clipboard().text() == f"{python} -m pip install mindstudio-probe"


def test_that_a_recipe_is_captured_in_pynative(page: PrecisionPage) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    view.tabs.setCurrentIndex(1)
    spec = view.spec()
    assert (spec.how.mode, spec.planned.capture) == ("pynative", "dump")  # type: ignore[union-attr]
    assert view.start.isEnabled()
    view.recipe.set_value("mode", "jit")
    assert not view.start.isEnabled()
    assert "PyNative" in view._start_hint.text()


def test_that_a_recipe_of_either_framework_is_captured(page: PrecisionPage) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    view.tabs.setCurrentIndex(1)
    boxes = view.recipe.boxes
    assert "lora" not in offered(view, "recipe")
    pick(view, "framework", "torch")
    assert boxes["mode"].isHidden()
    pick(view, "recipe", "lora")
    spec = view.spec()
    assert (spec.what.framework, spec.what.recipe) == ("torch", "lora")  # type: ignore[union-attr]
    assert view.start.isEnabled(), view._start_hint.text()
    pick(view, "framework", "mindspore")
    assert view.spec().what.recipe == "digits"  # type: ignore[union-attr]
    assert boxes["recipe"].input.value() == "digits"
    pick(view, "recipe", "own")
    assert not boxes["recipe_file"].isHidden()
    assert not view.start.isEnabled()


def offered(view: CaptureView, name: str) -> list[str]:
    combo = view.recipe.boxes[name].input
    assert isinstance(combo, ChoiceInput)
    return [combo.itemData(row) for row in range(combo.count())]


def pick(view: CaptureView, name: str, value: str) -> None:
    """Choose a value of a recipe's field as a click would."""
    combo = view.recipe.boxes[name].input
    assert isinstance(combo, ChoiceInput)
    combo.setCurrentIndex(offered(view, name).index(value))
    combo.activated.emit(combo.currentIndex())


# Environment


def pack(run: Run, seed: int, numpy: str) -> None:
    own = {
        "framework": "torch", "rank": 0, "world": 1, "python": "3.11.7", "seeds": {"torch.seed": seed},
        "determinism": {"torch.deterministic_algorithms": True}, "versions": {"torch": "2.13.0"}, "devices": ["cpu"],
        "threads": {},
    }  # fmt: skip
    folder = run.folder / "artifacts" / "config"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "rank0.zip", "w") as archive:
        archive.writestr("studio.json", json.dumps(own))
        archive.writestr("env", json.dumps({"PATH": "/usr/bin"}))
        archive.writestr("pip", f"torch=2.13.0\nnumpy={numpy}\n")


def test_that_two_environments_are_checked_verdict_first(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot, session: Session
) -> None:
    pack(put("", "--golden"), 1, "1.26.4")
    pack(put("", "--target"), 2, "2.0.1")
    page.tabs.setCurrentIndex(ENVIRONMENT)
    view = page.views.environment
    qtbot.waitUntil(lambda: session.refresh_runs() or view.target.choice.count() == 3)
    choose(view, "precision_pack_target", 1)
    choose(view, "precision_pack_golden", 2)
    press(view, "precision_check")
    qtbot.waitUntil(lambda: session.refresh_runs() or view.result.isVisible())
    looks.settle()
    assert view.result.chip.property("tone") == "bad"
    texts = texts_in(view.result)
    assert "torch.seed" in texts
    press(view, "precision_part_seeds")
    assert "Entries that differ: 1 of 1." in texts_in(view.tables)
    press(view, "precision_copy_pip")
    assert "numpy==1.26.4" in QGuiApplication.clipboard().text()
    looks.settle()
    assert not looks.faults(view)


def test_that_a_determinism_proof_asks_for_trust_and_shows_its_answer(
    page: PrecisionPage, put: Callable[..., Run], session: Session, qtbot: QtBot, project: Path
) -> None:
    put()
    page.tabs.setCurrentIndex(ENVIRONMENT)
    view = page.views.environment
    qtbot.waitUntil(lambda: view.determinism.boxes.spec.training.line == ("python", "train.py"))
    press(view, "precision_prove")
    assert view.consent.isVisible()
    assert len(session.listed) == 1
    run = put(command="determinism")
    answer = {
        "deterministic": False, "capture_changes": False, "runs": ["a", "b", "c"], "tensors": 40, "framework": "torch",
        "first": {"step": 1, "name": "Functional.linear.0.forward", "place": "output", "reason": "kernel"},
        "losses": [{"step": 1, "first": 2.0, "second": 2.5, "without": None}],
    }  # fmt: skip
    (run.folder / "artifacts" / "determinism.json").write_text(json.dumps(answer))
    page.run_results._stamps.clear()
    page.run_results.update(session.listed)
    qtbot.waitUntil(view.determinism.chip.isVisible)
    assert view.determinism.chip.text() == "Not deterministic"
    assert "Functional.linear.0.forward" in texts_in(view.determinism)
    assert view.determinism.losses.rows[0][2].token == "bad"


# Losses and weights


def test_that_diverging_losses_are_drawn_and_judged(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot, session: Session
) -> None:
    for bend in (0.0, 0.01):
        put("", f"--bend={bend}", losses=tuple(2 / step + bend * step for step in range(1, 41)))
    page.tabs.setCurrentIndex(LOSSES_WEIGHTS)
    card = page.views.losses_weights.losses
    qtbot.waitUntil(lambda: session.refresh_runs() or card.sides["target_run"].choice.count() == 3)
    assert not card.start.isEnabled()
    choose(card, "precision_target_run", 1)
    choose(card, "precision_golden_run", 2)
    press(card, "precision_compare_losses")
    qtbot.waitUntil(lambda: session.refresh_runs() or card.losses is not None)
    assert card.chip.text() == "Above limit"
    assert "40 of 40" in card.sentence.text()
    assert card.charts is not None
    losses = card.losses
    assert losses is not None
    assert np.allclose(losses.relative.values, [0.01 * step * step / 2 for step in range(1, 41)])
    qtbot.waitUntil(lambda: bool(card.charts._losses is losses and card.charts.charts[0]._drawn))
    looks.settle()
    qtbot.waitUntil(lambda: not looks.faults(page))


def test_that_checkpoints_are_compared_tensor_by_tensor(
    page: PrecisionPage, qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    for name, values in (("a", [1.0, 2.0]), ("b", [1.0, 2.5])):
        body = np.array(values, "<f4").tobytes()
        head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        (tmp_path / f"{name}.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)
    page.tabs.setCurrentIndex(LOSSES_WEIGHTS)
    card = page.views.losses_weights.weights
    drop_on(card.target, tmp_path / "b.safetensors")
    assert not card.start.isEnabled()
    drop_on(card.golden, tmp_path / "a.safetensors")
    press(card, "precision_compare_weights")
    qtbot.waitUntil(lambda: session.refresh_runs() or card.weights is not None)
    assert card.chip.text() == "Different"
    assert [cell.text for cell in card.rows.rows[0][:4]] == ["w", "✗ differs", "float32", "2"]


# All of it


def test_that_every_view_speaks_both_languages(page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot) -> None:
    put("torch_statistics")
    wait_for_captures(page, qtbot, 1)
    for tab in (COMPARE, CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS):
        page.tabs.setCurrentIndex(tab)
    for language in ("zh", "en"):
        change_language(language)  # type: ignore[arg-type]
        for tab in (COMPARE, CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS):
            page.tabs.setCurrentIndex(tab)
            looks.settle()
            assert not looks.faults(page)
    for tab in (COMPARE, CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS):
        page.tabs.setCurrentIndex(tab)
        assert not [fault for fault in looks.left_in_chinese(page) if "中文" not in fault]


def test_that_captures_that_cannot_be_read_are_skipped(put: Callable[..., Run], tmp_path: Path) -> None:
    run = put()
    (run.folder / PUT / "step0").mkdir(parents=True)
    assert read_captures([run]) == ()
    capture = read_capture(tmp_path / "gone")
    assert not isinstance(capture, tuple)
    assert "gone" in str(capture)


def test_that_the_page_fits_a_small_window(
    shell: Shell, page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot
) -> None:
    put("torch_statistics", "--learning-rate=0.0001", "--a-long-option=with a long value")
    wait_for_captures(page, qtbot, 1)
    shell.resize(1000, 640)
    for tab in (COMPARE, CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS):
        page.tabs.setCurrentIndex(tab)
        looks.settle()
        assert not looks.faults(page)


def test_that_the_text_of_an_issue_can_be_copied_and_a_reproducer_is_written(
    compared: PrecisionPage, qtbot: QtBot, session: Session
) -> None:
    first = compared.compare.loaded.comparison.first  # type: ignore[union-attr]
    compared.compare.result_view.go_to_first()
    compared.compare.result_view.operator.issue_requested.emit()
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, IssueSheet)
    qtbot.waitUntil(lambda: bool(sheet.view.toPlainText()))
    press(sheet, "precision_copy_issue")
    assert first.name in QGuiApplication.clipboard().text()
    sheet.close()
    with qtbot.waitSignal(session.trouble) as failure:
        compared.compare.result_view.operator.reproducer_requested.emit()
        qtbot.waitUntil(lambda: session.refresh_runs() or failure.signal_triggered)
    assert "not its tensors" in str(failure.args[0])


def test_that_going_deeper_asks_for_trust_and_reports_why_it_failed(
    compared: PrecisionPage, qtbot: QtBot, session: Session
) -> None:
    """The training of these dumps only prints: run again, there is nothing to capture in it."""
    for run, _ in session.listed:
        ledger.remember(run.folder / "run.json")  # as if this user had started it
    compared.compare.result_view.go_to_first()
    compared.compare.result_view.operator.deeper_requested.emit()
    assert compared.compare.consent.isVisible()
    with qtbot.waitSignal(session.trouble) as failure:
        press(compared.compare.consent, "launch.trust")
        qtbot.waitUntil(lambda: session.refresh_runs() or failure.signal_triggered)
    assert "did not reach its capture" in str(failure.args[0])


def test_that_the_reason_for_a_missing_dump_is_reported_once(
    page: PrecisionPage, put: Callable[..., Run], session: Session, qtbot: QtBot
) -> None:
    run = put()
    (run.folder / "capture.json").write_text('{"id": "a", "kind": "dump"}')
    state_file = run.folder / "artifacts/captures/a/rank0.json"
    state_file.parent.mkdir(parents=True)
    state = {"state": "failed", "kind": "dump", "rule": "capture.disk_low", "args": {"free": "3 MB"}}
    state_file.write_text(json.dumps(state))
    page.run_results.watch(run)
    with qtbot.waitSignal(session.trouble) as trouble:
        page.run_results.update(session.listed)
    assert "3 MB" in str(trouble.args[0])
    assert not page.run_results._watched


def test_that_a_source_line_opens_in_the_editor(
    compared: PrecisionPage, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    opened: list[tuple[Any, ...]] = []
    monkeypatch.setattr(editor, "chosen", lambda: ("code", "{path}:{line}"))
    monkeypatch.setattr(editor, "open_at", lambda *args: opened.append(args))
    compared.compare.result_view.source_requested.emit("train.py", 7)
    assert opened == [(("code", "{path}:{line}"), project / "train.py", 7)]


def test_that_a_corrected_match_is_remembered_and_compared_again(
    compared: PrecisionPage, qtbot: QtBot, session: Session
) -> None:
    before = compared.compare.loaded
    assert before is not None
    name = before.comparison.names[0]
    compared.compare.result_view.match_corrected.emit(CallMatch(target=name, golden=name, number=0, step=0, rank=0))
    qtbot.waitUntil(lambda: session.refresh_runs() or len(compared.run_results.comparisons) == 2)
    assert path_of(before.run).is_file()


def test_that_the_runs_of_the_page_have_names(put: Callable[..., Run]) -> None:
    assert title_of(put(command="compare")).startswith("Comparison")


def test_that_the_folder_of_a_capture_is_opened(
    page: PrecisionPage, put: Callable[..., Run], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    run = put("torch_statistics")
    wait_for_captures(page, qtbot, 1)
    page.tabs.setCurrentIndex(CAPTURE)
    press(page, "precision_open_0")
    assert opened == [str(run.folder / PUT)]
