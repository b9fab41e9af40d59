"""Precision from end to end, clicked: real trainings, real captures, real children."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run as run_child
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu

from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema, worker
from studio.project import Project, make_runs_folder
from studio.run import outcome_of
from tests.precision.block import BLOCK
from tests.runs import ended
from tests.ui.looks import faults, settle
from tests.ui.test_precision_page import choose, press, seen
from ui.pages.precision import PrecisionPage
from ui.precision import report_menu
from ui.precision.issue_sheet import IssueSheet
from ui.precision.picture_read import Pictures
from ui.precision.views import CAPTURE, ENVIRONMENT, MEASURES

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.session import Session
    from ui.shell import Shell

LONG = 120_000


@pytest.fixture
def page(shell: Shell) -> PrecisionPage:
    shell.show_page("precision")
    found = shell.findChild(PrecisionPage)
    assert found is not None
    return found


def until(qtbot: QtBot, session: Session, condition: Any) -> None:
    qtbot.waitUntil(lambda: session.look() or condition(), timeout=LONG)


# Everything about one pair of trainings


def test_that_a_planted_cast_is_captured_landed_on_and_told(
    page: PrecisionPage, session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture_and_land(page, session, qtbot, tmp_path, "tensor")
    see_tensors(page, qtbot)
    make_reproducer(page, session, qtbot)
    copy_issue(page, qtbot)
    write_report(page, qtbot, tmp_path, monkeypatch)


def capture_and_land(page: PrecisionPage, session: Session, qtbot: QtBot, folder: Path, task: str) -> None:
    """An unmodified script, with a cast in one block."""
    project = folder / "gpt"
    project.mkdir()
    (project / "train.py").write_text(BLOCK, encoding="utf-8")
    session.open_project(project)
    capture_both(page, session, qtbot, task)
    press(page.views.capture, "precision_as_target_0")
    press(page, "precision_compare")
    until(qtbot, session, lambda: page.compare.compared is not None)
    found = page.compare.compared
    assert found is not None
    first = found.comparison.first
    assert first is not None
    assert (first.name, first.place, first.step) == ("Tensor.to.0.forward", "extra", 1)
    assert first.source.endswith("train.py:22")
    qtbot.waitUntil(lambda: page.compare.view.operator.name.whole_text() == first.name)


def capture_both(page: PrecisionPage, session: Session, qtbot: QtBot, task: str) -> None:
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    assert not view.start.isEnabled()
    view.planned.set_value("capture_task", task)
    line, python = view.own.boxes["line"].input, view.own.boxes["python"].input
    for number, words in enumerate(("python train.py", "python train.py --cast 1")):
        line.setPlainText(words)  # type: ignore[attr-defined]
        python._line.setText(sys.executable)  # type: ignore[attr-defined]
        python.edited.emit()
        press(view, "precision_start_capture")
        if number == 0:
            assert view.consent.isVisible()
            assert not session.listed
            press(view.consent, "launch.trust")
        qtbot.waitUntil(lambda number=number: session.look() or len(session.listed) == number + 1, timeout=10_000)
        assert "--capture" in view.other.view.toPlainText()
        until(qtbot, session, lambda: outcome_of(session.listed[0][1]) == "done")
        seen(page, qtbot, number + 1)


def see_tensors(page: PrecisionPage, qtbot: QtBot) -> None:
    view = page.compare.view
    names = list(page.compare.compared.comparison.names)  # type: ignore[union-attr]
    suspect = next(name for name in names if name.startswith("Functional.linear") and name.endswith("forward"))
    view.selection.select(names.index(suspect))
    qtbot.waitUntil(lambda: isinstance(view.operator.pictures.pictures(), Pictures))
    settle()
    assert view.operator.pictures.heat.isVisible()
    assert not faults(page)


def make_reproducer(page: PrecisionPage, session: Session, qtbot: QtBot) -> None:
    press(page.compare.view.operator, "precision_reproducer")
    until(qtbot, session, page.compare.made.isVisible)
    script = Path(page.compare.made._path.whole_text())
    done = run_child([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 3), done.stderr
    assert "linear" in done.stdout


def copy_issue(page: PrecisionPage, qtbot: QtBot) -> None:
    press(page.compare.view.operator, "precision_issue")
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, IssueSheet)
    qtbot.waitUntil(lambda: bool(sheet.view.toPlainText()))
    press(sheet, "precision_copy_issue")
    assert "Functional.linear" in QGuiApplication.clipboard().text()
    sheet.close()


def write_report(page: PrecisionPage, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = folder / "报告.html"
    monkeypatch.setattr(report_menu, "ask_new_file", lambda _owner, _title, _start, _kind, then: then(out))
    press(page, "precision_report")
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.actions()[1].trigger()
    menu.close()
    qtbot.waitUntil(out.is_file)
    assert "Tensor.to" in out.read_text(encoding="utf-8")


# Two trainings that ran


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose script ran twice with its configuration kept, once with the cast."""
    project = tmp_path_factory.mktemp("trained") / "gpt"
    project.mkdir()
    (project / "train.py").write_text(BLOCK, encoding="utf-8")
    begun = []
    for words in ((), ("--cast", "1")):
        spec: Any = OwnSpec()
        values = {"line": ("python", "train.py", *words), "workdir": project, "python": Path(sys.executable)}
        for name, value in (values | {"config_pack": True}).items():
            spec = schema.with_value(spec, name, value)
        run = runs.create(make_runs_folder(Project(folder=project)), "script", schema.to_json(spec), project)
        worker.start(run)
        begun.append(run)
    for run in begun:
        assert outcome_of(ended(run)) == "done"
    return project


def test_that_two_trainings_are_checked_for_what_they_began_with(
    page: PrecisionPage, session: Session, qtbot: QtBot, trained: Path
) -> None:
    session.open_project(trained)
    page.tabs.setCurrentIndex(ENVIRONMENT)
    view = page.views.environment
    until(qtbot, session, lambda: view.target.choice.count() == 3)
    choose(view, "precision_pack_target", 1)
    choose(view, "precision_pack_golden", 2)
    press(view, "precision_check")
    until(qtbot, session, view.result.isVisible)
    settle()
    assert view.result.chip.isVisible()
    press(view, "precision_part_weights")
    assert not faults(view)


def test_that_the_losses_of_two_trainings_are_compared(
    page: PrecisionPage, session: Session, qtbot: QtBot, trained: Path
) -> None:
    session.open_project(trained)
    page.tabs.setCurrentIndex(MEASURES)
    card = page.views.measures.losses
    until(qtbot, session, lambda: card.sides["target_run"].choice.count() >= 3)
    choose(card, "precision_target_run", 1)
    choose(card, "precision_golden_run", 2)
    press(card, "precision_compare_losses")
    until(qtbot, session, lambda: card.found is not None)
    assert "4 steps" in card.sentence.text()
    assert card.chip.text() == "Within the limit"
