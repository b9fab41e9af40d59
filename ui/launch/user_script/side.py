"""Your own script, on the Launch page: a line as one types it in a shell, its options, where and with what it runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.common import program_line
from backends.launch.capture.spec import Planned
from backends.launch.own import command_texts
from backends.launch.own.plan import code_of
from backends.launch.own.resume.offer import offer_for
from backends.launch.own.spec import OwnSpec
from studio import schema
from studio.errors import StudioError
from studio.texts import t
from ui.form.form import Form
from ui.form.words_input import WordsInput
from ui.launch.user_script.interpreters_card import InterpretersCard
from ui.launch.user_script.log_pattern_card import PatternPreview
from ui.launch.user_script.npu_offer_card import NpuOfferCard
from ui.launch.user_script.options_card import ScriptOptions
from ui.launch.user_script.rehearse_button import RehearseButton
from ui.launch.user_script.resume_card import ResumeCard
from ui.services.background import run_in_background
from ui.services.consent import Consent
from ui.services.file_dialogs import ask_file
from ui.services.last_program import ProgramSearch
from ui.services.run_titles import name_of_line
from ui.widgets.basic import (
    GAP,
    MARGIN,
    Sentence,
    SideColumn,
    button,
    label,
    primary_button,
    retone,
    show_icon,
    text_button,
)
from ui.widgets.copy_card import CopyCard
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backends.launch.own.python_choice import PythonChoice
    from backends.launch.own.resume.offer import Offer
    from studio.project import Project
    from studio.run import Glance, Run
    from ui.services.last_program import LastProgram
    from ui.services.session import Session

COMMAND = "script"
COMMANDS = (COMMAND, "rehearse")
TRAININGS = (*COMMANDS, "launch")
FOLDED = ("recording", "planned", "limits", "ending", "environment")
LINE, PATTERN = "python train.py --lr 0.1", "step {step}: loss {loss}"
STARTS = {
    "python": "own_script.starts.python", "module": "own_script.starts.module", "code": "own_script.starts.code",
    "shell": "own_script.starts.shell", "launcher": "own_script.starts.launcher", "other": "own_script.starts.other",
}  # fmt: skip


def was_last(listed: Iterable[tuple[Run, Glance]]) -> bool:
    """Whether the newest training was a script of the user's own."""
    newest = next((run for run, _ in listed if run.request.command in TRAININGS), None)
    return newest is not None and newest.request.command in COMMANDS


class _Form(Form):
    def _check(self) -> None:
        """An empty line is not wrong yet: the sentence at the top says what belongs there."""
        super()._check()
        if self.is_blank():
            self.box("line").show_problem(None)

    def is_blank(self) -> bool:
        return not self.spec().program.line and "line" not in self._unread


class OwnScript(QWidget):
    """`head`: the widget next to the title. `options`: those that the script itself declares."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("launch_own")
        self._session = session
        self._project: Project | None = session.project
        self._specs: dict[str, OwnSpec] = {}
        self._proposed = Path()
        self._taken: tuple[tuple[str, ...], Path] | None = None
        self._judged: tuple[object, ...] = ()
        self._search = ProgramSearch(COMMANDS, self)
        self._search.found.connect(self._take)
        self.form = _Form(OwnSpec, "launch", implied, FOLDED)
        self.options = ScriptOptions()
        self.copies = CopyCard("launch.same", ("launch.tab_shell", "launch.tab_json"), "own_script_same")
        self.interpreters = InterpretersCard()
        self.npu_offer = NpuOfferCard()
        self.resume_card = ResumeCard()
        self._build()
        self.npu_offer.rehearsal_requested.connect(self.rehearse.start_as_npu)
        self.options.arguments_edited.connect(self._give_arguments)
        self.interpreters.chosen.connect(self._choose_python)
        self.interpreters.judged.connect(self._propose_python)
        self.form.spec_changed.connect(self._changed)
        self.form.help_requested.connect(self._help)
        session.project_changed.connect(self._change_project)
        session.runs_changed.connect(self._runs_changed)
        self._begin_project(session.project)

    def _build(self) -> None:
        self.head = self._make_actions()
        self._add_choose()
        self.pattern = PatternPreview()
        self.form.card("recording").add_below(self.pattern)
        self.form.box("python").show_hint("own_script.python_hint")
        self.consent = Consent(self._session)
        right = SideColumn()
        for card in (self.resume_card, self.npu_offer, self.copies, self.interpreters):
            right.column.addWidget(card)
        right.column.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.form, 5)
        row.addWidget(right, 2)
        self._scroll = PageScroll(self.consent, row)
        self.sentence = Sentence()
        self.sentence.setContentsMargins(0, 0, MARGIN, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.sentence)
        column.addWidget(self._scroll, 1)

    def _make_actions(self) -> QWidget:
        self.start_button = primary_button("launch.start", "own_script_start")
        self.start_button.setMinimumWidth(96)
        self.start_button.clicked.connect(self.start)
        self._to_wrong = button("launch.to_wrong", "own_script_to_wrong")
        self._to_wrong.clicked.connect(self.start)
        self.rehearse = RehearseButton(self)
        reset = text_button("launch.reset", "own_script_reset")
        localize(reset.setToolTip, "own_script.reset_hint")
        reset.clicked.connect(self.reset)
        side = QWidget()
        row = QHBoxLayout(side)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (reset, self.rehearse.button, self._to_wrong, self.start_button):
            row.addWidget(widget)
        return side

    def _add_choose(self) -> None:
        """The row below the command line: how to get one without typing."""
        self.choose = button("own_script.choose", "own_script.choose")
        show_icon(self.choose, "folder-open", "dim", 16)
        self.choose.clicked.connect(self._choose_script)
        row = QWidget()
        inside = QHBoxLayout(row)
        inside.setContentsMargins(0, 3, 0, 0)
        inside.setSpacing(10)
        inside.addWidget(self.choose)
        inside.addWidget(label("own_script.drop", "hint"), 1)
        box = self.form.box("line")
        box.add_below(row)
        box.add_below(self.options)
        assert isinstance(box.input, WordsInput)
        box.input.file_dropped.connect(self.choose_script)

    # The line

    def _choose_script(self) -> None:
        start = self.form.spec().program.workdir
        ask_file(self, t("own_script.choose"), start if start != Path() else Path.home(), self.choose_script)

    def choose_script(self, path: Path) -> None:
        """The line that runs a file, from the folder that is chosen; without one, from the file's own."""
        spec = self.form.spec()
        folder = spec.program.workdir
        if folder == Path():
            folder = path.parent
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
        line = ("bash" if path.suffix == ".sh" else "python", name)
        self.form.set_spec(replace(spec, program=replace(spec.program, line=line, workdir=folder)))
        self.form.box("line").input.focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _give_arguments(self, words: tuple[str, ...]) -> None:
        """What precedes the script's arguments stays: environment, launcher, interpreter."""
        line = self.form.spec().program.line
        count = len(program_line.parse_program_line(line).arguments)
        self.form.set_value("line", (*line[: len(line) - count], *words))

    def _choose_python(self, path: Path) -> None:
        self._proposed = Path()
        self.form.set_value("python", path)

    def _judge_pythons(self, spec: OwnSpec) -> None:
        """Ask once for each script which interpreters have what it imports."""
        program = program_line.parse_program_line(spec.program.line)
        question = (_key(self._project), spec.program.workdir, program.python, program.script)
        if question != self._judged:
            self._judged = question
            self.interpreters.judge(spec)

    def _propose_python(self, choice: PythonChoice) -> None:
        """Choose an interpreter that has what the script imports where nobody chose one and that of the line lacks
        some."""
        current = self.form.spec().program.python
        if current in (Path(), self._proposed) and current != (choice.proposed or Path()):
            self._proposed = choice.proposed or Path()
            self.form.set_value("python", self._proposed)

    # Starting

    def start(self) -> None:
        self.begin(COMMAND)

    def begin(self, command: str, make: Callable[[OwnSpec], Any] | None = None) -> None:
        """Starts what is written (`make` turns it into the command's own spec) and shows its run; asks first where
        that would run code of a project that is not trusted."""
        spec = self.form.spec()
        if wrong := self.form.problems():
            self._scroll.reveal(self.form.focus_field(wrong[0].field))
        elif self.consent.asks(partial(code_of, spec), partial(self.begin, command, make)):
            self._scroll.reveal(self.consent)
        elif self._session.start(command, make(spec) if make else spec):
            self._session.page_requested.emit("curves")

    def reset(self) -> None:
        """The line stays, and where it runs; all else is as it was at first."""
        spec = self.form.spec()
        self.form.set_spec(OwnSpec(program=spec.program))

    # Resuming

    def resume(self, folder: Path) -> None:
        """Fill in what goes on from the newest whole checkpoint of the run in a folder, once it is found."""
        run_in_background(self, partial(offer_for, folder), partial(self._show_offer, _key(self._project)))

    def _show_offer(self, key: str, offer: Offer | StudioError) -> None:
        """An answer about another project than the open one is dropped."""
        if key != _key(self._project):
            return
        if isinstance(offer, StudioError):
            self._session.trouble.emit(offer)
            return
        self.resume_card.show_offer(None)
        self.form.set_spec(offer.spec)
        self.resume_card.show_offer(replace(offer, spec=self.form.spec()))

    # The project

    def _change_project(self, project: Project | None) -> None:
        """Each project has its own line, as long as the window is open."""
        if (spec := self.form.spec()) != _first_spec(self._project):
            self._specs[_key(self._project)] = spec
        self._project, self._taken = project, None
        self.consent.hide()
        self._begin_project(project)

    def _begin_project(self, project: Project | None) -> None:
        self.interpreters.show_project(project)
        if (spec := self._specs.get(_key(project))) is not None:
            self.form.set_spec(spec)
            return
        self.form.set_spec(_first_spec(project))
        self._take_last()

    def _runs_changed(self, _listed: object) -> None:
        self._take_last()

    def _take_last(self) -> None:
        """A project begins with the line of its last own script, where none was written yet. A proof that ended since
        is followed by the training that it names, while that line is as it came. A capture was asked for once, in
        Precision perhaps: the next start has none by itself."""
        listed = [(run, glance) for run, glance in self._session.listed if run.folder.parent == self._session.folder]
        if listed and (self._is_untouched or self._is_blank):
            self._search.begin(_key(self._project), listed)

    @property
    def _is_untouched(self) -> bool:
        """Whether the line is still the one that a run gave."""
        program = self.form.spec().program
        return (program.line, program.workdir) == self._taken

    @property
    def _is_blank(self) -> bool:
        """Whether nothing was written yet."""
        return self.form.spec() == _first_spec(self._project) and _key(self._project) not in self._specs

    def _take(self, key: str, last: LastProgram | None) -> None:
        """Take the program of a run, unless the project is another one or a line was written meanwhile."""
        is_untouched = self._is_untouched
        if last is None or key != _key(self._project) or not (is_untouched or self._is_blank):
            return
        if is_untouched and not last.is_proposed:
            return
        spec, wrong = schema.from_json(OwnSpec, last.values)
        if wrong or (spec.program.line, spec.program.workdir) == self._taken:
            return
        spec = replace(spec, planned=Planned())
        self._specs[key], self._taken = spec, (spec.program.line, spec.program.workdir)
        self.form.set_spec(spec)

    # What is shown

    def _changed(self, _spec: OwnSpec) -> None:
        self.consent.hide()
        self._show()

    def _show(self) -> None:
        spec, wrong = self.form.spec(), self.form.problems()
        self.resume_card.show_spec(spec)
        self.options.show_spec(spec, _key(self._project))
        self.interpreters.show_chosen(spec.program.python)
        self._judge_pythons(spec)
        self.pattern.show_choice(spec.recording, self._session.listed, name_of_line(spec.program.line))
        is_empty = self.form.is_blank() and len(wrong) == 1
        for action in (self.start_button, self.rehearse.button):
            action.setDisabled(bool(wrong))
        self._to_wrong.setVisible(bool(wrong) and not is_empty)
        retone(self.sentence, "role", "bad" if wrong and not is_empty else "dim")
        self.sentence.setText(t("launch.wrong", count=len(wrong)) if wrong and not is_empty else sentence(spec))
        self.start_button.setToolTip(self.sentence.text() if wrong else t("launch.start_hint"))
        self.npu_offer.show_spec(None if wrong else spec, self._project)
        self.copies.setVisible(not is_empty)
        self.copies.show_wrong(bool(wrong))
        if not wrong:
            folder = self._project.folder if self._project else None
            self.copies.show_texts((command_texts.shell_line(spec, folder), command_texts.run_json_values(spec)))

    def _help(self, card: str) -> None:
        self._session.show_help(f"launch.section.{card}")

    def retranslate(self) -> None:
        self._show()


def _first_spec(project: Project | None) -> OwnSpec:
    spec: OwnSpec = schema.with_value(OwnSpec(), "workdir", project.folder if project else Path())
    return spec


def sentence(spec: OwnSpec) -> str:
    """What starts, in words."""
    if not spec.program.line:
        return t("own_script.empty")
    program = program_line.parse_program_line(spec.program.line)
    what = program.script or next(iter(program.words), "")
    folder = spec.program.workdir
    where = folder.name or str(folder)
    return t(STARTS[program.kind], what=what, folder=where)


def implied(_spec: OwnSpec) -> dict[str, str]:
    """What holds where a field is empty."""
    return {
        "line": LINE,
        "workdir": t("own_script.implied_workdir"),
        "python": t("own_script.implied_python"),
        "capture_at": t("own_script.implied_capture_at"),
        "visible": t("launch.implied_visible"),
        "cores": t("own_script.implied_cores"),
        "memory": t("own_script.implied_memory"),
        "pattern": PATTERN,
    }


def _key(project: Project | None) -> str:
    return str(project.folder) if project else ""
