"""Capture: run a training and dump what its operators compute, from its first step on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.launch.capture.spec import MODULES, targets_of
from backends.launch.launchers import python_of as python_of_recipe
from backends.launch.own.plan import code_of as code_of_own
from backends.launch.own.plan import python_of
from backends.launch.own.spec import OwnSpec
from backends.launch.plan import code_of as code_of_recipe
from backends.launch.spec import LaunchSpec
from studio import schema
from studio.texts import t
from ui.device import cards
from ui.file_dialogs import ask_file
from ui.launch.consent import Consent
from ui.page_scroll import PageScroll
from ui.precision.captured_card import CapturedCard
from ui.precision.expected_card import ExpectedCard
from ui.precision.last_training import as_last
from ui.precision.other_side_card import OtherSideCard
from ui.precision.probe_card import ProbeCard
from ui.precision.spec_boxes import SpecBoxes
from ui.precision.target_sheet import TargetSheet
from ui.tabs import Tabs
from ui.widgets import GAP, Card, Sentence, button, label, primary_button, retone, show_icon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.schema import Problem
    from ui.precision.captures import Capture
    from ui.session import Session

OWN, RECIPE = range(2)
COMMANDS = ("script", "launch")
WHAT = ("precision.more.own", "precision.more.recipe")
OWN_ROWS = (("line",), ("workdir", "python"))
RECIPE_ROWS = (("recipe", "mode"), ("device", "seed"), ("weights", "steps"))
PLANNED_ROWS = (
    ("capture_task", "capture_level", "capture_direction"),
    ("capture_at", "capture_steps", "capture_ranks"),
    ("capture_targets",),
    ("capture_casts", "config_pack"),
)
PLANNED = tuple(name for row in PLANNED_ROWS for name in row)
IMPLIED = {
    "line": "precision.more.implied_line", "workdir": "own_script.implied_workdir",
    "python": "own_script.implied_python", "capture_at": "precision.more.implied_at",
}  # fmt: skip
SIDE = 380
RECIPE_STEPS = 10


class CaptureView(QWidget):
    """`capture_wanted`: a command and its spec; it runs the user's code. `side_chosen`: as of CapturedCard."""

    capture_wanted = Signal(str, object)
    side_chosen = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_capture")
        self._session = session
        self._captures: Sequence[Capture] = ()
        self.consent = Consent(session)
        self._make_what()
        self._make_planned()
        self.captured, self.expected, self.other = CapturedCard(), ExpectedCard(), OtherSideCard()
        # Above the fold, whatever is chosen below it.
        self.expected.body.addWidget(self._wants)
        self.expected.body.addWidget(self.start, 0, Qt.AlignmentFlag.AlignRight)
        self.probe = ProbeCard(on_npu=bool(cards()))
        self.captured.side_chosen.connect(self.side_chosen)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self._left(), 5)
        row.addWidget(self._right(), 2)
        self.area = PageScroll(self.consent, row)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.area)
        self._judge()

    def _left(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for card in (self._what, self._planned):
            column.addWidget(card)
        column.addStretch(1)
        return made

    def _right(self) -> QWidget:
        made = QWidget()
        made.setMinimumWidth(SIDE)
        made.setMaximumWidth(SIDE + 120)
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for card in (self.expected, self.captured, self.probe, self.other):
            column.addWidget(card)
        column.addStretch(1)
        return made

    def _make_what(self) -> None:
        self._what = Card("precision.more.what")
        self.tabs = Tabs("precision_what", "precision.more.what", WHAT)
        self.tabs.currentChanged.connect(self._turn)
        self.own = SpecBoxes(OwnSpec(), "launch", OWN_ROWS, IMPLIED)
        self.recipe = SpecBoxes(_recipe(), "launch", RECIPE_ROWS)
        for boxes in (self.own, self.recipe):
            boxes.edited.connect(self._judge)
        choose = button("own_script.choose", "precision_choose_script")
        show_icon(choose, "folder-open", "dim", 16)
        choose.clicked.connect(self._ask_script)
        self.own.boxes["line"].add_below(_beside(choose, label("own_script.drop", "hint")))
        self.own.boxes["python"].say_hint("own_script.python_hint")
        line_input = self.own.boxes["line"].input
        line_input.file_dropped.connect(self._choose_script)  # type: ignore[union-attr]
        self._what.header.addWidget(self.tabs)
        self._what.body.addWidget(self.own)
        self._what.body.addWidget(self.recipe)
        self.recipe.hide()

    def _make_planned(self) -> None:
        self._planned = Card("precision.more.planned")
        self.planned = SpecBoxes(_planned(), "launch", PLANNED_ROWS, IMPLIED)
        self.planned.edited.connect(self._judge)
        self.tick = button("precision.more.tick_targets", "precision_tick_targets")
        self.tick.clicked.connect(self._ask_targets)
        self.no_tick = Sentence("precision.more.no_structure")
        self.planned.boxes["capture_targets"].add_below(_beside(self.tick, self.no_tick))
        self.start = primary_button("precision.more.start", "precision_start_capture")
        self.start.clicked.connect(self._ask)
        self._wants = Sentence()
        self._planned.body.addWidget(self.planned)

    # What is asked

    @property
    def is_recipe(self) -> bool:
        return self.tabs.currentIndex() == RECIPE

    def spec(self) -> OwnSpec | LaunchSpec:
        """What would be started: what is run, with what is captured."""
        made: OwnSpec | LaunchSpec = self.recipe.spec if self.is_recipe else self.own.spec
        for name in ("capture", *PLANNED):
            made = schema.with_value(made, name, schema.value_of(self.planned.spec, name))
        return made

    def show_project(self, project: Project | None) -> None:
        self.consent.hide()
        self.own.show_spec(as_last(OwnSpec(), project, self._session.listed))
        self._judge()

    def take_last_line(self) -> None:
        """Where none was written yet, that of the last run."""
        if self.own.spec == as_last(OwnSpec(), self._session.project, []):
            self.own.show_spec(as_last(OwnSpec(), self._session.project, self._session.listed))
            self._judge()

    def _turn(self, _tab: int) -> None:
        self.own.setVisible(not self.is_recipe)
        self.recipe.setVisible(self.is_recipe)
        self._judge()

    def _ask_script(self) -> None:
        start = self.own.spec.program.workdir
        ask_file(self, t("own_script.choose"), start if start != Path() else Path.home(), self._choose_script)

    def _choose_script(self, path: Path) -> None:
        folder = self.own.spec.program.workdir
        if folder == Path():
            folder = path.parent
            self.own.show_spec(schema.with_value(self.own.spec, "workdir", folder))
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
        self.own.set_value("line", ("bash" if path.suffix == ".sh" else "python", name))

    def _ask_targets(self) -> None:
        source = _with_modules(self._captures)
        if source is not None:
            chosen = targets_of(self.planned.spec.planned.capture_targets)
            TargetSheet(self, source, chosen, self._take_targets).show_below(self.tick)

    def _take_targets(self, targets: tuple[str, ...]) -> None:
        """Modules are seen at two of the levels."""
        spec = self.planned.spec
        if spec.planned.capture_level == "L1" and any(one.startswith(MODULES) for one in targets):
            spec = schema.with_value(spec, "capture_level", "mix")
        self.planned.show_spec(spec)
        self.planned.set_value("capture_targets", ",".join(targets))

    def _ask(self) -> None:
        """Runs code of the project: asks first where that is not trusted."""
        if self.problems():
            return
        if self.consent.asks(self._code_of, self._ask):
            self.area.reveal(self.consent)
        else:
            self.capture_wanted.emit(COMMANDS[self.tabs.currentIndex()], self.spec())

    def _code_of(self, folder: Path) -> tuple[Path, ...]:
        spec = self.spec()
        return code_of_own(spec, folder) if isinstance(spec, OwnSpec) else code_of_recipe(spec, folder)

    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with what would be started."""
        unread = (*(self.recipe if self.is_recipe else self.own).unread, *self.planned.unread)
        known = {one.field for one in unread}
        return (*unread, *(one for one in schema.problems(self.spec()) if one.field not in known))

    # What is shown

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.captured.show_captures(captures)
        source = _with_modules(captures)
        self.tick.setEnabled(source is not None)
        self.no_tick.setVisible(source is None)

    def _judge(self) -> None:
        self.consent.hide()
        wrong = self.problems()
        is_blank = not self.is_recipe and not self.own.spec.program.line
        self.start.setEnabled(not wrong)
        if is_blank:
            self._wants.setText(t("precision.more.wants_line"))
        else:
            self._wants.setText(t(wrong[0].rule, **wrong[0].args) if wrong else t("precision.more.will"))
        retone(self._wants, "role", "bad" if wrong and not is_blank else "dim")
        spec = self.spec()
        self.expected.show_spec(spec, self._session.listed, self._session.folder)
        self.other.show_spec(None if wrong else spec)
        self.other.setHidden(is_blank)
        project = str(self._session.project.folder) if self._session.project else ""
        if isinstance(spec, LaunchSpec):
            self.probe.show_python(python_of_recipe(spec))
        else:
            self.probe.show_python(None if is_blank else python_of(spec, project))

    def sentence(self) -> str:
        return t("precision.more.sentence")

    def retranslate(self) -> None:
        self._judge()


def _beside(made: QPushButton, other: QWidget) -> QWidget:
    """A button below a field, what there is to say beside it."""
    below = QWidget()
    inside = QHBoxLayout(below)
    inside.setContentsMargins(0, 3, 0, 0)
    inside.setSpacing(10)
    inside.addWidget(made)
    inside.addWidget(other, 2)
    inside.addStretch(1)
    return below


def _planned() -> OwnSpec:
    """What lands on most with least: modules too, so that a comparison can be looked at by them; casts too, so that an
    untraced one is a call of its own; one step, the first, before which both sides are the same."""
    spec = OwnSpec()
    for name, value in (("capture", "dump"), ("capture_level", "mix"), ("capture_casts", True), ("capture_steps", 1)):
        spec = schema.with_value(spec, name, value)
    return spec


def _recipe() -> LaunchSpec:
    """Operators are seen one by one in PyNative only; what comes behind the captured steps is not needed."""
    return schema.with_value(schema.with_value(LaunchSpec(), "mode", "pynative"), "steps", RECIPE_STEPS)


def _with_modules(captures: Sequence[Capture]) -> Capture | None:
    """A structure capture, else any with modules."""
    ranked = sorted(captures, key=lambda one: (one.task != "structure", one.level not in ("mix", "L0")))
    return ranked[0] if ranked else None
