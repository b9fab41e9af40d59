"""Launch: choose what to train and how, see what follows from it, start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from backends.launch import lines
from backends.launch.plan import code_of
from backends.launch.spec import LaunchSpec
from studio.texts import t
from ui import actions
from ui.copy_card import CopyCard
from ui.form import Form
from ui.launch.ask_shapes import AskShapes
from ui.launch.check_card import CheckFirst
from ui.launch.consent import Consent
from ui.launch.going_on import GoingOn
from ui.launch.implied import implied, without_choices
from ui.launch.node_lines import NodeLines
from ui.launch.own_script import OwnScript, was_last
from ui.launch.preview_button import PreviewSplits
from ui.launch.script_button import ScriptButton
from ui.launch.sentence import sentence
from ui.launch.strategy_table import StrategyTable
from ui.launch.summaries import summaries
from ui.launch.template_button import TemplateCard
from ui.outlook import Outlook
from ui.page_scroll import PageScroll
from ui.say import say
from ui.tabs import Tabs
from ui.widgets import GAP, MARGIN, Sentence, Title, button, primary_button, retone, text_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.schema import Field
    from ui.field_box import MakeInput
    from ui.session import Session

SIDE = 400
SEEK = 190
SIDES = ("launch.side_recipe", "launch.side_own")
RECIPE, OWN = range(2)
FOLDED = ("data", "keep", "parallel", "ascend", "debug", "planned", "advanced")


def make_page(session: Session) -> LaunchPage:
    return LaunchPage(session)


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
        self.form = Form(LaunchSpec, "launch", implied, FOLDED, inputs=inputs, summaries=summaries)
        self.copies = CopyCard(
            "launch.same", ("launch.tab_shell", "launch.tab_python", "launch.tab_json"), "launch.same"
        )
        self.outlook = Outlook()
        self._build()
        self._build_extras()
        self.form.spec_changed.connect(self._changed)
        self.form.help_wanted.connect(self._help)
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._change_project)
        actions.register(self, "launch.start", "launch.start", self._start_shown, "Ctrl+Return", "play")
        actions.register(self, "launch.reset", "launch.reset_long", self._reset_shown)
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
        """The choice between a recipe and an own script, and what can be done with what is chosen."""
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
        """The side of an own script, made when it is first looked at."""
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

    def _start_shown(self) -> None:
        self.own().start() if self.tabs.currentIndex() == OWN else self.start()

    def _reset_shown(self) -> None:
        self.own().reset() if self.tabs.currentIndex() == OWN else self.reset()

    def _seek_option(self) -> None:
        self.tabs.setCurrentIndex(RECIPE)
        self.seek_box.setFocus()

    def _build_extras(self) -> None:
        """What belongs to the page beside the form and Start."""
        self.template = TemplateCard(self, self._session)
        self.ask_shapes = AskShapes(self)
        self.check_first = CheckFirst(self, self._session)
        self.node_lines = NodeLines(self)
        self.preview = PreviewSplits(self, self._session)
        self.going_on = GoingOn(self, self._session)
        self.script = ScriptButton(self, self._session)

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
        say(reset, "setToolTip", "launch.reset_long")
        reset.clicked.connect(self.reset)
        made = QWidget()
        self._row = QHBoxLayout(made)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self._seek())
        self._row.addStretch(1)
        for widget in (reset, self._to_wrong, self.start_button):
            self._row.addWidget(widget)
        return made

    def _seek(self) -> QLineEdit:
        self.seek_box = QLineEdit()
        self.seek_box.setObjectName("launch.seek")
        self.seek_box.setFixedWidth(SEEK)
        say(self.seek_box, "setPlaceholderText", "launch.seek")
        say(self.seek_box, "setAccessibleName", "launch.seek")
        say(self.seek_box, "setToolTip", "launch.seek_hint")
        self.seek_box.textChanged.connect(self._seek_text)
        self.form.sought_all.connect(self.seek_box.clear)
        return self.seek_box

    def _seek_text(self, text: str) -> None:
        """What is found stands at the top."""
        self.form.seek(text)
        self._scroll.verticalScrollBar().setValue(0)

    def add_action(self, widget: QPushButton) -> None:
        """A button beside Start; disabled with it while a field is wrong."""
        self.disable_while_wrong(widget)
        self._row.insertWidget(self._row.count() - 2, widget)

    def disable_while_wrong(self, widget: QPushButton) -> None:
        self._actions.append(widget)

    def add_side(self, card: QWidget) -> None:
        """A card in the right column, under what the choices come to."""
        self._side.insertWidget(self._side.count() - 1, card)

    def _content(self) -> PageScroll:
        self._side = QVBoxLayout()
        self._side.setSpacing(GAP)
        self._side.addWidget(self.copies)
        self._side.addWidget(self.outlook)
        self._side.addStretch(1)
        right = QWidget()
        right.setMinimumWidth(SIDE)
        right.setMaximumWidth(SIDE + 120)
        right.setLayout(self._side)
        self._side.setContentsMargins(0, 0, 0, 0)
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
        """Starts a command with what is chosen (`make` turns that into the command's own spec) and shows its run;
        asks first where that would run code of a project that is not trusted."""
        spec = self.form.spec()
        if wrong := self.form.problems():
            self._scroll.reveal(self.form.focus_field(wrong[0].field))
        elif self.consent.asks(partial(code_of, spec), partial(self.begin, command, make)):
            self._scroll.reveal(self.consent)
        elif self._session.start(command, make(spec) if make else spec):
            self._session.page_wanted.emit("curves")

    def reset(self) -> None:
        """Back to what the recipe brings along; mode, device and what is folded away stay."""
        self.form.set_spec(without_choices(self.form.spec()))

    def _help(self, card: str) -> None:
        """The help page at the section of a card, which has the card's name."""
        self._session.ask_help(f"launch.card.{card}")

    def _change_project(self, project: Project | None) -> None:
        """Each project has its own choices, as long as the window is open."""
        self._specs[_key(self._project)] = self.form.spec()
        self._sides[_key(self._project)] = self.tabs.currentIndex()
        self._project = project
        self.consent.hide()
        self.form.set_spec(self._specs.get(_key(project), LaunchSpec()))
        self.tabs.setCurrentIndex(self._sides.get(_key(project), RECIPE))

    def _changed(self, _spec: LaunchSpec) -> None:
        """What was asked about before is not what would start now."""
        self.consent.hide()
        self._show()

    def _show(self) -> None:
        spec, wrong = self.form.spec(), self.form.problems()
        for action in (self.start_button, *self._actions):
            action.setDisabled(bool(wrong))
        self._to_wrong.setVisible(bool(wrong))
        retone(self.sentence, "role", "bad" if wrong else "dim")
        self.sentence.setText(t("launch.wrong", count=len(wrong)) if wrong else sentence(spec))
        self.start_button.setToolTip(self.sentence.text() if wrong else t("launch.start_hint"))
        self.copies.show_wrong(bool(wrong))
        if not wrong:
            folder = self._project.folder if self._project else None
            texts = (lines.shell(spec, folder), lines.script(spec, folder), lines.values(spec))
            self.copies.show_texts(texts)
        self.outlook.show_spec(spec)
        self._show_measured()

    def _runs_changed(self, _listed: object) -> None:
        self._show_measured()
        self._begin_with_last()

    def _show_measured(self) -> None:
        self.outlook.show_measured(self._session.listed, self.form.spec().what.recipe)

    def retranslate(self) -> None:
        self._show()


def _key(project: Project | None) -> str:
    return str(project.folder) if project else ""
