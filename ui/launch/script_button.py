"""The chosen training as a script that needs no studio: a file is asked for, and a run writes it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.script.script import FILE
from backends.launch.script.spec import Output, ScriptSpec
from studio.texts import t
from ui.file_dialogs import ask_new_file
from ui.say import say
from ui.widgets import text_button

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.launch.spec import LaunchSpec
    from ui.pages.launch import LaunchPage
    from ui.session import Session


class ScriptButton:
    """Adds itself to the card with the other forms of the same start."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        self._page, self._session = page, session
        self.button: QPushButton = text_button("launch.script_button", "launch.script_button")
        say(self.button, "setToolTip", "launch.script_hint")
        self.button.clicked.connect(self._ask)
        page.copies.header.addWidget(self.button)
        page.disable_while_wrong(self.button)

    def _ask(self) -> None:
        project = self._session.project
        start = (project.folder if project else Path.home()) / FILE
        ask_new_file(self._page, t("launch.script_where"), start, "py", self.write_to)

    def write_to(self, path: Path) -> None:
        self._page.begin("as-script", lambda spec: spec_for(spec, path))


def spec_for(spec: LaunchSpec, path: Path) -> ScriptSpec:
    cards = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return ScriptSpec(**cards, output=Output(out=path.absolute()))
