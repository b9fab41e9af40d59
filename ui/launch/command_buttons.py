"""Buttons and cards of the Launch page that do something else with its choices than to start a training here."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from backends.launch.nodes import NodesSpec, lines_for_nodes, with_node_comments
from backends.launch.script.document import FILE
from backends.launch.script.spec import Output, ScriptSpec
from backends.launch.template import make_template
from studio import schema, texts
from studio.errors import StudioError
from studio.texts import t
from ui.services import actions
from ui.services.file_dialogs import ask_folder, choose_new_file
from ui.widgets.basic import Card, Sentence, button, text_button
from ui.widgets.copy_card import CopyCard
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.launch.spec import LaunchSpec
    from ui.launch.page import LaunchPage
    from ui.services.session import Session


class ShapesButton(QObject):
    """Starts the run that reports the shapes in the chosen network."""

    def __init__(self, page: LaunchPage) -> None:
        super().__init__(page)
        self._page = page
        self.button = text_button("launch.shapes", "launch.shapes")
        self.button.clicked.connect(self.start)
        localize(self.button.setToolTip, "launch.shapes_hint")
        page.add_action(self.button)
        actions.register(page, "launch.shapes", "launch.shapes", self.start)

    def start(self) -> None:
        """One step with the choices of the form."""
        self._page.begin("shapes")


class SaveScriptButton:
    """Asks for a file, into which a run writes the chosen training as a script that needs no studio. It stands in the
    card with the other forms of the same start."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        self._page, self._session = page, session
        self.button: QPushButton = text_button("launch.script_button", "launch.script_button")
        localize(self.button.setToolTip, "launch.script_hint")
        self.button.clicked.connect(self._choose_file)
        page.copies.header.addWidget(self.button)
        page.disable_while_wrong(self.button)

    def _choose_file(self) -> None:
        project = self._session.project
        start = (project.folder if project else Path.home()) / FILE
        choose_new_file(self._page, t("launch.script_where"), start, "py", self.write_to)

    def write_to(self, path: Path) -> None:
        self._page.begin("as-script", lambda spec: spec_for(spec, path))


def spec_for(spec: LaunchSpec, path: Path) -> ScriptSpec:
    sections = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return ScriptSpec(**sections, output=Output(out=path.absolute()))


class TemplateCard(Card):
    """Writes the template of an own recipe and chooses it in the form. It stands at the side of the page while the
    recipe is `own`."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__("launch.template_card")
        self.setObjectName("launch.template_card")
        self._page, self._session = page, session
        text = Sentence()
        localize(text.setText, "launch.template_about")
        write_button = button("launch.template_button", "launch.template_button")
        localize(write_button.setToolTip, "launch.template_hint")
        write_button.clicked.connect(self._write)
        self.body.addWidget(text)
        self.body.addWidget(write_button, 0, Qt.AlignmentFlag.AlignLeft)
        page.add_side(self)
        page.form.spec_changed.connect(self._spec_changed)
        self._spec_changed(page.form.spec())

    def _spec_changed(self, spec: object) -> None:
        self.setVisible(schema.value_of(spec, "recipe") == "own")

    def _write(self) -> None:
        """Into the project; without one, where the user chooses."""
        if self._session.project is not None:
            self.write_into(self._session.project.folder)
        else:
            ask_folder(self, t("launch.template_where"), Path.home(), self.write_into)

    def write_into(self, folder: Path) -> None:
        """Writes the template and chooses it. Trouble is reported."""
        form = self._page.form
        framework = schema.value_of(form.spec(), "framework")
        try:
            file = make_template(folder.absolute(), texts.language(), framework)
        except StudioError as error:
            self._session.trouble.emit(error)
            return
        form.set_spec(schema.with_value(form.spec(), "recipe_file", file))


class NodeLines(QObject):
    """A card below the others, visible while more than one node is chosen."""

    def __init__(self, page: LaunchPage) -> None:
        super().__init__(page)
        self.card = CopyCard("launch.nodes_title", ("launch.nodes_tab",), "node_lines")
        self.card.body.insertWidget(1, Sentence("launch.nodes_hint"))
        self.card.hide()
        page.add_side(self.card)
        page.form.spec_changed.connect(self.show_spec)
        self.show_spec(page.form.spec())

    def show_spec(self, spec: LaunchSpec) -> None:
        has_nodes = spec.parallel.parallel != "none" and spec.parallel.nodes > 1
        self.card.setVisible(has_nodes)
        if has_nodes:
            wrong = schema.problems(NodesSpec(**vars(spec)))
            self.card.show_wrong(bool(wrong))
            if not wrong:
                self.card.show_texts(["\n\n".join(with_node_comments(lines_for_nodes(spec, None)))])
