"""An own recipe begins with a click: the template is written and chosen in the form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from backends.launch.template import make_template
from studio import schema, texts
from studio.errors import StudioError
from studio.texts import t
from ui.file_dialogs import ask_folder
from ui.say import say
from ui.widgets import Card, Sentence, button

if TYPE_CHECKING:
    from ui.pages.launch import LaunchPage
    from ui.session import Session


class TemplateCard(Card):
    """Adds itself at the page's side; shown with the recipe `own`."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__("launch.template_card")
        self.setObjectName("launch.template_card")
        self._page, self._session = page, session
        text = Sentence()
        say(text, "setText", "launch.template_about")
        made = button("launch.template_button", "launch.template_button")
        say(made, "setToolTip", "launch.template_hint")
        made.clicked.connect(self._write)
        self.body.addWidget(text)
        self.body.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
        page.add_side(self)
        page.form.spec_changed.connect(self._spec_changed)
        self._spec_changed(page.form.spec())

    def _spec_changed(self, spec: object) -> None:
        self.setVisible(schema.value_of(spec, "recipe") == "own")

    def _write(self) -> None:
        """Into the project; without one, where the user says."""
        if self._session.project is not None:
            self.write_into(self._session.project.folder)
        else:
            ask_folder(self, t("launch.template_where"), Path.home(), self.write_into)

    def write_into(self, folder: Path) -> None:
        """Writes the template and chooses it. Trouble is told."""
        try:
            file = make_template(folder.absolute(), texts.language())
        except StudioError as error:
            self._session.trouble.emit(error)
            return
        form = self._page.form
        form.set_spec(schema.with_value(form.spec(), "recipe_file", file))
