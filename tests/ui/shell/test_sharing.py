"""Whether the group of a project reads its runs: asked once, changed in the sheet of trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from studio.security import trust
from tests.ui.looks import faults, settle
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.shell.window import Shell


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which its group can write."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o2775)
    return folder


def click_in_sheet(qtbot: QtBot, shell: Shell, name: str) -> None:
    qtbot.mouseClick(shell.top_bar.trust_button, Qt.MouseButton.LeftButton)
    sheet = QApplication.activePopupWidget()
    assert sheet is not None
    assert faults(sheet) == []
    button = sheet.findChild(QPushButton, name)
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("is_agreed", [True, False])
def test_that_a_shared_project_asks_once_who_reads_its_runs(
    qtbot: QtBot, shell: Shell, project: Path, is_agreed: bool
) -> None:
    shell.open_project(project)
    question = shell.sharing
    assert question.isVisible()
    assert trust.group_of(project) in question.text.text()
    qtbot.mouseClick(question.share if is_agreed else question.keep, Qt.MouseButton.LeftButton)
    assert (question.isVisible(), trust.is_shared(project)) == (False, is_agreed)
    shell.open_project(None)
    shell.open_project(project)
    assert not question.isVisible()


def test_that_a_project_of_one_user_is_not_asked_about(shell: Shell, project: Path) -> None:
    project.chmod(0o755)
    shell.open_project(project)
    assert not shell.sharing.isVisible()
    shell.explain_trust()
    sheet = QApplication.activePopupWidget()
    assert sheet is not None
    assert sheet.findChild(QPushButton, "trust_sheet_sharing") is None
    sheet.close()


def test_that_the_sheet_of_trust_shows_and_changes_who_reads_the_runs(
    qtbot: QtBot, shell: Shell, project: Path
) -> None:
    shell.open_project(project)
    click_in_sheet(qtbot, shell, "trust_sheet_sharing")
    assert (trust.is_shared(project), shell.sharing.isVisible()) == (True, False)
    click_in_sheet(qtbot, shell, "trust_sheet_sharing")
    assert (trust.is_shared(project), trust.is_sharing_open(project)) == (False, False)
    assert not trust.is_trusted(project)


def test_that_the_question_fits_the_smallest_window_in_both_languages(shell: Shell, project: Path) -> None:
    shell.open_project(project)
    shell.resize(shell.minimumSize())
    for language in ("en", "zh"):
        change_language(language)  # type: ignore[arg-type]
        settle()
        assert faults(shell.sharing) == []


def test_that_an_answer_that_cannot_be_saved_is_reported_and_asked_for_again(
    qtbot: QtBot, shell: Shell, project: Path, homes: Path
) -> None:
    shell.open_project(project)
    (homes / "config" / "ascend-studio" / "trust.json").mkdir(parents=True)
    qtbot.mouseClick(shell.sharing.share, Qt.MouseButton.LeftButton)
    assert shell.strip.messages
    assert shell.sharing.isVisible()


def test_that_the_sheet_leads_to_the_help_about_what_is_run(qtbot: QtBot, shell: Shell, project: Path) -> None:
    shell.open_project(project)
    click_in_sheet(qtbot, shell, "trust_sheet_help")
    page = shell.page_widget("help")
    assert page.text.toPlainText().startswith("What is run, when")
