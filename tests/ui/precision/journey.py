"""Journeys through the precision page, from two trainings to a report."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run as run_child
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from studio.run import outcome_of
from tests.precision.block import BLOCK
from tests.ui.looks import faults, settle
from tests.ui.precision.mouse import press, wait_for_captures
from ui.precision.comparison.follow_ups import IssueSheet
from ui.precision.page import PrecisionPage
from ui.precision.picture.pictures import Pictures
from ui.precision.views import CAPTURE

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.precision.page import PrecisionPage
    from ui.services.session import Session


def until(qtbot: QtBot, session: Session, condition: Any) -> None:
    qtbot.waitUntil(lambda: session.refresh_runs() or condition())


def capture_and_land(page: PrecisionPage, session: Session, qtbot: QtBot, folder: Path, task: str) -> None:
    """Capture an unmodified script on two sides, one with a cast, and land on the divergence."""
    project = folder / "gpt"
    project.mkdir()
    (project / "train.py").write_text(BLOCK, encoding="utf-8")
    session.open_project(project)
    capture_both(page, session, qtbot, task)
    press(page.views.capture, "precision_as_target_0")
    press(page, "precision_compare")
    until(qtbot, session, lambda: page.compare.loaded is not None)
    loaded = page.compare.loaded
    assert loaded is not None
    first = loaded.comparison.first
    assert first is not None
    assert (first.name, first.place, first.step) == ("Tensor.to.0.forward", "extra", 1)
    assert first.source.endswith("train.py:22")
    qtbot.waitUntil(lambda: page.compare.result_view.operator.name.whole_text() == first.name)


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
        qtbot.waitUntil(lambda number=number: session.refresh_runs() or len(session.listed) == number + 1)
        assert "--capture" in view.other_host.view.toPlainText()
        until(qtbot, session, lambda: outcome_of(session.listed[0][1]) == "done")
        wait_for_captures(page, qtbot, number + 1)


def see_tensors(page: PrecisionPage, qtbot: QtBot) -> None:
    view = page.compare.result_view
    names = list(page.compare.loaded.comparison.names)  # type: ignore[union-attr]
    suspect = next(name for name in names if name.startswith("Functional.linear") and name.endswith("forward"))
    view.selection.select(names.index(suspect))
    qtbot.waitUntil(lambda: isinstance(view.operator.pictures.pictures(), Pictures))
    settle()
    assert view.operator.pictures.heatmap.isVisible()
    assert not faults(page)


def make_reproducer(page: PrecisionPage, session: Session, qtbot: QtBot) -> None:
    press(page.compare.result_view.operator, "precision_reproducer")
    until(qtbot, session, page.compare.reproducer_notice.isVisible)
    script = Path(page.compare.reproducer_notice.path.whole_text())
    done = run_child([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 3), done.stderr
    assert "linear" in done.stdout


def copy_issue(page: PrecisionPage, qtbot: QtBot) -> None:
    press(page.compare.result_view.operator, "precision_issue")
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, IssueSheet)
    qtbot.waitUntil(lambda: bool(sheet.view.toPlainText()))
    press(sheet, "precision_copy_issue")
    assert "Functional.linear" in QGuiApplication.clipboard().text()
    sheet.close()
