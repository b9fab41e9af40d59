"""Precision from end to end, clicked: real trainings, real captures, real children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QMenu

from tests.ui.looks import faults, settle
from tests.ui.precision.journey import (
    capture_and_land,
    copy_issue,
    make_reproducer,
    see_tensors,
    until,
)
from tests.ui.precision.mouse import choose, press
from ui.precision.comparison import report_menu
from ui.precision.views import ENVIRONMENT, LOSSES_WEIGHTS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from ui.precision.page import PrecisionPage
    from ui.services.session import Session


# Everything about one pair of trainings


def test_that_a_planted_cast_is_captured_found_and_reported(
    page: PrecisionPage, session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture_and_land(page, session, qtbot, tmp_path, "tensor")
    see_tensors(page, qtbot)
    make_reproducer(page, session, qtbot)
    copy_issue(page, qtbot)
    write_report(page, qtbot, tmp_path, monkeypatch)


def write_report(page: PrecisionPage, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = folder / "报告.html"
    monkeypatch.setattr(report_menu, "choose_new_file", lambda _owner, _title, _start, _kind, then: then(out))
    press(page, "precision_report")
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.actions()[1].trigger()
    menu.close()
    qtbot.waitUntil(out.is_file)
    assert "Tensor.to" in out.read_text(encoding="utf-8")


# Two trainings that ran


def test_that_the_environments_of_two_trainings_are_compared(
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
    page.tabs.setCurrentIndex(LOSSES_WEIGHTS)
    card = page.views.losses_weights.losses
    until(qtbot, session, lambda: card.sides["target_run"].choice.count() >= 3)
    choose(card, "precision_target_run", 1)
    choose(card, "precision_golden_run", 2)
    press(card, "precision_compare_losses")
    until(qtbot, session, lambda: card.losses is not None)
    assert "Steps compared: 4" in card.sentence.text()
    assert card.chip.text() == "Within limit"
