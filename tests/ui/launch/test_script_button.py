"""The script that is saved from the Launch page is of what the form shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QPushButton

from tests.ui.form.entries import pick, type_into
from ui.launch.page import make_page

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.services.session import Session


def test_that_the_saved_script_is_of_what_the_form_shows(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    page = make_page(session)
    qtbot.addWidget(page)
    page.show()
    pick(page.form, "recipe", "linear")
    type_into(page.form, "steps", "30")
    pick(page.form, "device", "cpu")
    page.findChild(QPushButton, "launch.script_button").click()
    dialog = page.window().findChild(QFileDialog, "file_dialog")
    assert dialog.defaultSuffix() == "py"
    dialog.fileSelected.emit(str(tmp_path / "mine.py"))
    dialog.close()
    qtbot.waitUntil(lambda: (tmp_path / "mine.py").exists())
    text = (tmp_path / "mine.py").read_text("utf-8")
    assert "STEPS = 30" in text
    assert "import mindspore" in text
