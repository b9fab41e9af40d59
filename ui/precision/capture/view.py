"""Capture: run a training and dump what its operators compute, from its first step on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.common.npu_devices import npu_names
from backends.launch.capture.spec import MODULES, targets_of
from backends.launch.launchers import python_of as python_of_recipe
from backends.launch.own.plan import code_of as code_of_own
from backends.launch.own.plan import python_of
from backends.launch.own.spec import OwnSpec
from backends.launch.plan import code_of as code_of_recipe
from backends.launch.spec import LaunchSpec
from studio import schema
from studio.texts import t
from ui.precision.capture.captures_card import CapturesCard
from ui.precision.capture.cost_card import CostCard
from ui.precision.capture.msprobe_card import MsprobeCard
from ui.precision.capture.other_host_card import OtherHostCard
from ui.precision.capture.target_sheet import TargetSheet
from ui.precision.last_training import COMMANDS as LAST_COMMANDS
from ui.precision.last_training import with_folder, with_training
from ui.precision.spec_boxes import SpecBoxes
from ui.services.consent import Consent
from ui.services.file_dialogs import ask_file
from ui.services.last_program import ProgramSearch
from ui.widgets.basic import (
    GAP,
    Card,
    Sentence,
    SideColumn,
    button,
    label,
    primary_button,
    retone,
    show_icon,
)
from ui.widgets.page_scroll import PageScroll
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.schema import Problem
    from ui.precision.captures import Capture
    from ui.services.last_program import LastProgram
    from ui.services.session import Session

OWN, RECIPE = range(2)
COMMANDS = ("script", "launch")
TRAINING_TABS = ("precision.more.own", "precision.more.recipe")
OWN_ROWS = (("line",), ("workdir", "python"))
RECIPE_ROWS = (
    ("framework", "recipe"), ("recipe_file",), ("mode", "initial_weights"), ("device", "seed"), ("weights", "steps"),
)  # fmt: skip
PLANNED_ROWS = (
    ("capture_task", "capture_level", "capture_direction"),
    ("capture_at", "capture_steps", "capture_ranks"),
    ("capture_targets",),
    ("capture_casts", "capture_optimizer_state"),
    ("config_pack",),
)
PLANNED = tuple(name for row in PLANNED_ROWS for name in row)
IMPLIED = {
    "line": "precision.more.implied_line", "workdir": "own_script.implied_workdir",
    "python": "own_script.implied_python", "capture_at": "precision.more.implied_at",
}  # fmt: skip
SIDE = 380
RECIPE_STEPS = 10


class CaptureView(QWidget):
    """`capture_requested` carries a command and its spec, which runs the user's code; `side_chosen` is that of
    CapturesCard."""

    capture_requested = Signal(str, object)
    side_chosen = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_capture")
        self._session = session
        self._captures: Sequence[Capture] = ()
        self.consent = Consent(session)
        self._make_training()
        self._make_capture_plan()
        self.captures_card, self.cost, self.other_host = CapturesCard(), CostCard(), OtherHostCard()
        # The start button stays above the fold, whatever is chosen below it.
        self.cost.body.addWidget(self._start_hint)
        self.cost.body.addWidget(self.start, 0, Qt.AlignmentFlag.AlignRight)
        self.msprobe = MsprobeCard(on_npu=bool(npu_names()))
        self.captures_card.side_chosen.connect(self.side_chosen)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self._left(), 5)
        row.addWidget(self._right(), 2)
        self.area = PageScroll(self.consent, row)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        self._update_start()

    def _left(self) -> QWidget:
        column_widget = QWidget()
        column = QVBoxLayout(column_widget)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for card in (self._training, self._planned):
            column.addWidget(card)
        column.addStretch(1)
        return column_widget

    def _right(self) -> QWidget:
        side = SideColumn(SIDE)
        for card in (self.cost, self.captures_card, self.msprobe, self.other_host):
            side.column.addWidget(card)
        side.column.addStretch(1)
        return side

    def _make_training(self) -> None:
        self._training = Card("precision.more.what")
        self.tabs = Tabs("precision_what", "precision.more.what", TRAINING_TABS)
        self.tabs.currentChanged.connect(self._turn)
        self.own = SpecBoxes(OwnSpec(), "launch", OWN_ROWS, IMPLIED)
        self.recipe = SpecBoxes(_recipe(), "launch", RECIPE_ROWS)
        for boxes in (self.own, self.recipe):
            boxes.edited.connect(self._update_start)
        choose = button("own_script.choose", "precision_choose_script")
        show_icon(choose, "folder-open", "dim", 16)
        choose.clicked.connect(self._browse_script)
        self.own.boxes["line"].add_below(_button_row(choose, label("own_script.drop", "hint")))
        self.own.boxes["python"].show_hint("own_script.python_hint")
        line_input = self.own.boxes["line"].input
        line_input.file_dropped.connect(self._choose_script)  # type: ignore[union-attr]
        self._training.header.addWidget(self.tabs)
        self._training.body.addWidget(self.own)
        self._training.body.addWidget(self.recipe)
        self.recipe.hide()
        self._prefilled = self.own.spec
        self._search = ProgramSearch(LAST_COMMANDS, self)
        self._search.found.connect(self._prefill_with)

    def _make_capture_plan(self) -> None:
        self._planned = Card("precision.more.planned")
        self.planned = SpecBoxes(_capture_plan(), "launch", PLANNED_ROWS, IMPLIED)
        self.planned.edited.connect(self._update_start)
        self.tick_targets = button("precision.more.tick_targets", "precision_tick_targets")
        self.tick_targets.clicked.connect(self._choose_targets)
        self.no_modules = Sentence("precision.more.no_structure")
        self.planned.boxes["capture_targets"].add_below(_button_row(self.tick_targets, self.no_modules))
        self.start = primary_button("precision.more.start", "precision_start_capture")
        self.start.clicked.connect(self._start_capture)
        self._start_hint = Sentence()
        self._planned.body.addWidget(self.planned)

    @property
    def is_recipe(self) -> bool:
        return self.tabs.currentIndex() == RECIPE

    def spec(self) -> OwnSpec | LaunchSpec:
        """Return what would be started: the training with its capture."""
        spec: OwnSpec | LaunchSpec = self.recipe.spec if self.is_recipe else self.own.spec
        for name in ("capture", *PLANNED):
            spec = schema.with_value(spec, name, schema.value_of(self.planned.spec, name))
        return spec

    def show_project(self, project: Project | None) -> None:
        self.consent.hide()
        self._take(with_folder(OwnSpec(), project))
        self.prefill()

    def prefill(self) -> None:
        """Fill in the last training's command line where nothing has been typed yet."""
        if self._session.project is not None and self.own.spec == self._prefilled:
            self._search.begin(self._session.project, self._session.listed)

    def _prefill_with(self, project: Project, program: LastProgram | None) -> None:
        spec = with_training(OwnSpec(), project, program)
        if self._session.project == project and self.own.spec == self._prefilled != spec:
            self._take(spec)

    def _take(self, spec: OwnSpec) -> None:
        self._prefilled = spec
        self.own.show_spec(spec)
        self._update_start()

    def _turn(self, _tab: int) -> None:
        self.own.setVisible(not self.is_recipe)
        self.recipe.setVisible(self.is_recipe)
        self._update_start()

    def _browse_script(self) -> None:
        start = self.own.spec.program.workdir
        ask_file(self, t("own_script.choose"), start if start != Path() else Path.home(), self._choose_script)

    def _choose_script(self, path: Path) -> None:
        folder = self.own.spec.program.workdir
        if folder == Path():
            folder = path.parent
            self.own.show_spec(schema.with_value(self.own.spec, "workdir", folder))
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
        self.own.set_value("line", ("bash" if path.suffix == ".sh" else "python", name))

    def _choose_targets(self) -> None:
        source = _capture_with_modules(self._captures)
        if source is not None:
            chosen = targets_of(self.planned.spec.planned.capture_targets)
            TargetSheet(self, source, chosen, self._take_targets).show_below(self.tick_targets)

    def _take_targets(self, targets: tuple[str, ...]) -> None:
        """Take the ticked targets; modules are dumped at two of the levels only, so the level may change."""
        spec = self.planned.spec
        if spec.planned.capture_level == "L1" and any(target.startswith(MODULES) for target in targets):
            spec = schema.with_value(spec, "capture_level", "mix")
        self.planned.show_spec(spec)
        self.planned.set_value("capture_targets", ",".join(targets))

    def _start_capture(self) -> None:
        """Start the capture; it runs code of the project, so ask first where the project is not trusted."""
        if self.problems():
            return
        if self.consent.asks(self._code_of, self._start_capture):
            self.area.reveal(self.consent)
        else:
            self.capture_requested.emit(COMMANDS[self.tabs.currentIndex()], self.spec())

    def _code_of(self, folder: Path) -> tuple[Path, ...]:
        spec = self.spec()
        return code_of_own(spec, folder) if isinstance(spec, OwnSpec) else code_of_recipe(spec, folder)

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with what would be started."""
        unreadable = (*(self.recipe if self.is_recipe else self.own).unreadable, *self.planned.unreadable)
        unreadable_fields = {problem.field for problem in unreadable}
        return (
            *unreadable,
            *(problem for problem in schema.problems(self.spec()) if problem.field not in unreadable_fields),
        )

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.captures_card.show_captures(captures)
        source = _capture_with_modules(captures)
        self.tick_targets.setEnabled(source is not None)
        self.no_modules.setVisible(source is None)

    def _update_start(self) -> None:
        self.consent.hide()
        wrong = self.problems()
        is_blank = not self.is_recipe and not self.own.spec.program.line
        self.start.setEnabled(not wrong)
        if is_blank:
            self._start_hint.setText(t("precision.more.wants_line"))
        else:
            self._start_hint.setText(t(wrong[0].rule, **wrong[0].args) if wrong else t("precision.more.will"))
        retone(self._start_hint, "role", "bad" if wrong and not is_blank else "dim")
        spec = self.spec()
        self.cost.show_spec(spec, self._session.listed, self._session.folder)
        self.other_host.show_spec(None if wrong else spec)
        self.other_host.setHidden(is_blank)
        project = str(self._session.project.folder) if self._session.project else ""
        if isinstance(spec, LaunchSpec):
            self.msprobe.show_python(python_of_recipe(spec))
        else:
            self.msprobe.show_python(None if is_blank else python_of(spec, project))

    def sentence(self) -> str:
        return t("precision.more.sentence")

    def retranslate(self) -> None:
        self._update_start()


def _button_row(first: QPushButton, other: QWidget) -> QWidget:
    """Return a row of a button below a field and the remark next to it."""
    below = QWidget()
    inside = QHBoxLayout(below)
    inside.setContentsMargins(0, 3, 0, 0)
    inside.setSpacing(10)
    inside.addWidget(first)
    inside.addWidget(other, 2)
    inside.addStretch(1)
    return below


def _capture_plan() -> OwnSpec:
    """Return the defaults that find most for the least cost.

    Modules are dumped too, so that a comparison can be read by them; casts too, so that an untraced one is a call of
    its own; and one step, the first, before which both sides are equal."""
    spec = OwnSpec()
    for name, value in (("capture", "dump"), ("capture_level", "mix"), ("capture_casts", True), ("capture_steps", 1)):
        spec = schema.with_value(spec, name, value)
    return spec


def _recipe() -> LaunchSpec:
    """Return a recipe in PyNative, where operators run one by one as they do in PyTorch, with few steps behind the
    captured ones."""
    return schema.with_value(schema.with_value(LaunchSpec(), "mode", "pynative"), "steps", RECIPE_STEPS)


def _capture_with_modules(captures: Sequence[Capture]) -> Capture | None:
    """Return the capture to pick targets from: a structure capture if there is one, else any that has modules."""
    ranked = sorted(captures, key=lambda capture: (capture.task != "structure", capture.level not in ("mix", "L0")))
    return ranked[0] if ranked else None
