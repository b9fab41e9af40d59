"""Launch: choose what to train and how, see what follows from it, start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.launch import command_texts
from backends.launch.plan import code_of
from backends.launch.spec import LaunchSpec
from studio.texts import t
from ui.form.form import Form
from ui.launch.command_buttons import NodeLines, SaveScriptButton, ShapesButton, TemplateCard
from ui.launch.forecast_card import ForecastCard
from ui.launch.last_check_card import LastCheckCard
from ui.launch.preview_button import PreviewSplits
from ui.launch.resume_choice import ResumeChoice
from ui.launch.spec_sentences import empty_field_texts, section_summaries, training_sentence, without_choices
from ui.launch.strategy_table import StrategyTable
from ui.launch.user_script.side import OwnScript, was_last
from ui.services import actions
from ui.services.consent import Consent
from ui.widgets.basic import (
    GAP,
    MARGIN,
    SearchField,
    Sentence,
    SideColumn,
    Title,
    button,
    primary_button,
    retone,
    text_button,
)
from ui.widgets.copy_card import CopyCard
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.schema import Field
    from ui.form.field_box import MakeInput
    from ui.services.session import Session

SEEK = 190
SIDES = ("launch.side_recipe", "launch.side_own")
RECIPE, OWN = range(2)
FOLDED = ("data", "keep", "parallel", "ascend", "debug", "planned", "advanced")


def make_page(session: Session) -> LaunchPage:
    return LaunchPage(session)


def open_resume(page: LaunchPage, folder: Path) -> None:
    """Fill the side for own scripts with what resumes the run in a folder."""
    page.show_own()
    page.own().resume(folder)


class LaunchPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self._session = session
        self._specs: dict[str, Any] = {}
        self._sides: dict[str, int] = {}
        self._own: OwnScript | None = None
        self._project: Project | None = session.project
        self._actions: list[QPushButton] = []
        inputs: dict[str, MakeInput] = {"strategy": self._strategy_table}
        self.form = Form(LaunchSpec, "launch", empty_field_texts, FOLDED, inputs=inputs, summaries=section_summaries)
        self.copies = CopyCard(
            "launch.same", ("launch.tab_shell", "launch.tab_python", "launch.tab_json"), "launch.same"
        )
        self.forecast = ForecastCard()
        self._build()
        self._build_extras()
        self.form.spec_changed.connect(self._changed)
        self.form.help_requested.connect(self._help)
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._change_project)
        actions.register(self, "launch.start", "launch.start", self._start_visible, "Ctrl+Return", "play")
        actions.register(self, "launch.reset", "launch.reset_long", self._reset_visible)
        actions.register(self, "launch.seek", "launch.seek", self._seek_option, "Ctrl+F", "search")
        actions.register(self, "launch.side_own", "launch.side_own", self.show_own, icon="folder-open")
        self._show()
        self._begin_with_last()

    def _build(self) -> None:
        self._recipe_actions = self._make_actions()
        self.sides = QStackedWidget()
        self._recipe = self._recipe_side()
        self.sides.addWidget(self._recipe)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 18, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._top())
        column.addWidget(self.sides, 1)

    def _top(self) -> QHBoxLayout:
        """The choice between a recipe and a script of the user, and the buttons for what is chosen."""
        self.tabs = Tabs("launch.sides", "launch.sides", SIDES)
        self.tabs.currentChanged.connect(self._show_side)
        self._head = QHBoxLayout()
        self._head.setContentsMargins(0, 0, MARGIN, 0)
        self._head.setSpacing(8)
        self._head.addWidget(Title("launch.title"))
        self._head.addSpacing(4)
        self._head.addWidget(self.tabs)
        self._head.addWidget(self._recipe_actions, 1)
        return self._head

    def _recipe_side(self) -> QWidget:
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.sentence = Sentence()
        self.sentence.setContentsMargins(0, 0, MARGIN, 6)
        column.addWidget(self.sentence)
        self._scroll = self._content()
        column.addWidget(self._scroll, 1)
        return side

    def own(self) -> OwnScript:
        """The side for a script of the user, made when it is first shown."""
        if self._own is None:
            self._own = OwnScript(self._session)
            self.sides.addWidget(self._own)
            self._head.addWidget(self._own.head, 1)
        return self._own

    def show_own(self) -> None:
        self.tabs.setCurrentIndex(OWN)

    def _show_side(self, side: int) -> None:
        self.sides.setCurrentWidget(self.own() if side == OWN else self._recipe)
        self._recipe_actions.setVisible(side == RECIPE)
        if self._own is not None:
            self._own.head.setVisible(side == OWN)

    def _begin_with_last(self) -> None:
        """A project whose last training was an own script begins with that."""
        key = _key(self._project)
        if key not in self._sides and self._session.listed:
            self._sides[key] = OWN if was_last(self._session.listed) else RECIPE
            self.tabs.setCurrentIndex(self._sides[key])

    def _start_visible(self) -> None:
        self.own().start() if self.tabs.currentIndex() == OWN else self.start()

    def _reset_visible(self) -> None:
        self.own().reset() if self.tabs.currentIndex() == OWN else self.reset()

    def _seek_option(self) -> None:
        self.tabs.setCurrentIndex(RECIPE)
        self.seek_box.setFocus()

    def _build_extras(self) -> None:
        """Make what the page has in addition to the form and Start."""
        self.template = TemplateCard(self, self._session)
        self.shapes = ShapesButton(self)
        self.last_check = LastCheckCard(self, self._session)
        self.node_lines = NodeLines(self)
        self.preview = PreviewSplits(self, self._session)
        self.resume_choice = ResumeChoice(self, self._session)
        self.script = SaveScriptButton(self, self._session)

    def _strategy_table(self, field: Field, _feature: str) -> StrategyTable:
        """Made when it is first shown; it checks its rows with all other choices."""
        table = StrategyTable(field)
        table.show_spec(self.form.spec())
        self.form.spec_changed.connect(table.show_spec)
        return table

    def _make_actions(self) -> QWidget:
        self.start_button = primary_button("launch.start", "launch.start")
        self.start_button.setMinimumWidth(96)
        self.start_button.clicked.connect(self.start)
        self._to_wrong = button("launch.to_wrong", "launch.to_wrong")
        self._to_wrong.clicked.connect(self.start)
        reset = text_button("launch.reset", "launch.reset")
        localize(reset.setToolTip, "launch.reset_long")
        reset.clicked.connect(self.reset)
        actions_row = QWidget()
        self._row = QHBoxLayout(actions_row)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self._seek())
        self._row.addStretch(1)
        for widget in (reset, self._to_wrong, self.start_button):
            self._row.addWidget(widget)
        return actions_row

    def _seek(self) -> SearchField:
        self.seek_box = SearchField("launch.seek", "launch.seek", SEEK)
        localize(self.seek_box.setToolTip, "launch.seek_hint")
        self.seek_box.textChanged.connect(self._seek_text)
        self.form.sought_all.connect(self.seek_box.clear)
        return self.seek_box

    def _seek_text(self, text: str) -> None:
        """Show the matches at the top."""
        self.form.seek(text)
        self._scroll.verticalScrollBar().setValue(0)

    def add_action(self, widget: QPushButton) -> None:
        """Add a button next to Start, disabled with it while a field is wrong."""
        self.disable_while_wrong(widget)
        self._row.insertWidget(self._row.count() - 2, widget)

    def disable_while_wrong(self, widget: QPushButton) -> None:
        self._actions.append(widget)

    def add_side(self, card: QWidget) -> None:
        """A card in the right column, under what the choices come to."""
        self._side.insertWidget(self._side.count() - 1, card)

    def _content(self) -> PageScroll:
        right = SideColumn()
        self._side = right.column
        self._side.addWidget(self.copies)
        self._side.addWidget(self.forecast)
        self._side.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.form, 5)
        row.addWidget(right, 2)
        self.consent = Consent(self._session)
        return PageScroll(self.consent, row)

    def start(self) -> None:
        """Starts the training that is chosen."""
        self.begin("launch")

    def begin(self, command: str, make: Callable[[LaunchSpec], Any] | None = None) -> None:
        """Start a command with the choices (`make` turns them into the command's own spec) and show its run;
        asks first where that would run code of a project that is not trusted."""
        spec = self.form.spec()
        if wrong := self.form.problems():
            self._scroll.reveal(self.form.focus_field(wrong[0].field))
        elif self.consent.asks(partial(code_of, spec), partial(self.begin, command, make)):
            self._scroll.reveal(self.consent)
        elif self._session.start(command, make(spec) if make else spec):
            self._session.page_requested.emit("curves")

    def reset(self) -> None:
        """Go back to the recipe's values; mode, device and the folded sections stay."""
        self.form.set_spec(without_choices(self.form.spec()))

    def _help(self, card: str) -> None:
        """The help page at the section of a card, which has the card's name."""
        self._session.show_help(f"launch.section.{card}")

    def _change_project(self, project: Project | None) -> None:
        """Each project has its own choices, as long as the window is open."""
        self._specs[_key(self._project)] = self.form.spec()
        self._sides[_key(self._project)] = self.tabs.currentIndex()
        self._project = project
        self.consent.hide()
        self.form.set_spec(self._specs.get(_key(project), LaunchSpec()))
        self.tabs.setCurrentIndex(self._sides.get(_key(project), RECIPE))

    def _changed(self, _spec: LaunchSpec) -> None:
        """The question, if one was asked, was about other choices."""
        self.consent.hide()
        self._show()

    def _show(self) -> None:
        spec, wrong = self.form.spec(), self.form.problems()
        for action in (self.start_button, *self._actions):
            action.setDisabled(bool(wrong))
        self._to_wrong.setVisible(bool(wrong))
        retone(self.sentence, "role", "bad" if wrong else "dim")
        self.sentence.setText(t("launch.wrong", count=len(wrong)) if wrong else training_sentence(spec))
        self.start_button.setToolTip(self.sentence.text() if wrong else t("launch.start_hint"))
        self.copies.show_wrong(bool(wrong))
        if not wrong:
            folder = self._project.folder if self._project else None
            texts = (
                command_texts.shell_line(spec, folder),
                command_texts.python_script(spec, folder),
                command_texts.run_json_values(spec),
            )
            self.copies.show_texts(texts)
        self.forecast.show_spec(spec)
        self._show_measured()

    def _runs_changed(self, _listed: object) -> None:
        self._show_measured()
        self._begin_with_last()

    def _show_measured(self) -> None:
        self.forecast.show_measured(self._session.listed, self.form.spec().what.recipe)

    def retranslate(self) -> None:
        self._show()


def _key(project: Project | None) -> str:
    return str(project.folder) if project else ""
