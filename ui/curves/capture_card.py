"""Profile now, dump now: a button at the head of a run that trains with hooks, and the card that asks and follows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QProgressBar, QWidget

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast
from backends.launch.capture.spec import CaptureSpec
from backends.launch.capture.work import ask_for, said
from studio import schema
from studio.errors import StudioError
from studio.sentences import sentence_of
from studio.texts import t
from ui.asking import ask
from ui.curves.capture_look import Look, look
from ui.curves.captured import ends, first_step
from ui.field_box import FieldBox
from ui.say import say
from ui.widgets import Card, Sentence, button, primary_button, retone, text_button

if TYPE_CHECKING:
    from backends.launch.capture.state import Rank, Request
    from studio.run import Glance, Run
    from ui.session import Session

COMMAND = "capture"
FIELDS = ("kind", "steps", "at", "ranks", "stacks", "task", "level", "targets", "direction", "casts")
COLUMNS, MOST = 3, 4


class CaptureCard(Card):
    """`button` opens it. It also shows what a command line has asked of the run."""

    folder_wanted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__("capture.card")
        self.setObjectName("curves_capture")
        self._session = session
        self._run: Run | None = None
        self._works = False
        self._look = Look()
        self._turn = 0
        self._is_looking = self._looks_again = False
        self._spec = CaptureSpec()
        self._unread: dict[str, schema.Problem] = {}
        self._is_open = False
        self._is_asking = False
        self._mine = ""  # the request whose end is still to be read
        self.button = button("capture.button", "capture.button")
        self.button.clicked.connect(self.open)
        say(self.button, "setToolTip", "capture.button_hint")
        self.button.hide()
        self._make()
        self.hide()

    def _make(self) -> None:
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(10)
        self._boxes = {name: self._make_box(name) for name in FIELDS}
        self.said, self.failed, self.progress = Sentence(), Sentence(), QProgressBar()
        self.said.setObjectName("curves_capture_said")
        self.failed.setObjectName("curves_capture_failed")
        retone(self.failed, "role", "bad")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.start = primary_button("capture.start", "capture.start")
        self.again = text_button("capture.again", "capture.again")
        self.cancel = button("capture.cancel", "capture.cancel")
        self.folder = button("capture.open", "capture.open")
        self.timeline = button("timeline.page.show_capture", "capture_timeline")
        self.close_button = text_button("capture.close", "capture.close")
        for one, do in (
            (self.start, self._ask), (self.again, self.open), (self.cancel, self._withdraw),
            (self.folder, self._open_folder), (self.timeline, self._open_profile), (self.close_button, self._close),
        ):  # fmt: skip
            one.clicked.connect(do)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (self.close_button, self.again, self.cancel, self.folder, self.timeline, self.start):
            row.addWidget(widget)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.said)
        self.body.addWidget(self.failed)
        self.body.addWidget(self.progress)
        self.body.addLayout(row)

    def _make_box(self, name: str) -> FieldBox:
        box = FieldBox(schema.field_of(CaptureSpec, name), "launch")
        # The form of Launch has fields of these names too.
        box.setObjectName(f"capture.{name}.box")
        box.input.setObjectName(f"capture.{name}")
        if name == "steps":
            box.say_hint("capture.steps_hint")
        box.input.show_value(schema.value_of(self._spec, name))
        box.input.edited.connect(self._edited)
        return box

    def show_run(self, run: Run, glance: Glance | None) -> None:
        """To be called a few times a second: it looks at a few small files, in another thread."""
        self._works = glance is not None and glance.state in ("running", "unattended")
        if self._run is None or run.folder != self._run.folder:
            self._run, self._is_open, self._mine, self._is_asking = run, False, "", False
            self._take(Look())
        else:
            self._look_again()

    def _look_again(self) -> None:
        """One look at a time: a disk may be slower than this is called."""
        self._looks_again = self._is_looking
        if self._run is not None and not self._is_looking:
            self._is_looking = True
            question = partial(look, self._run.folder, works=self._works, with_before=self._is_open)
            ask(self, question, partial(self._looked, self._turn))

    def _looked(self, turn: int, found: Look) -> None:
        self._is_looking = False
        if turn == self._turn and found != self._look:
            self._look = found
            self._show()
        if self._looks_again:
            self._look_again()

    def _take(self, known: Look) -> None:
        """What is known without looking; a look that is under way is older."""
        self._look = known
        self._turn += 1
        self._show()
        self._look_again()

    def _show(self) -> None:
        seen = self._look
        if seen.request is not None and not seen.is_over:
            self._mine, self._is_open = seen.request.id, False
            self._show_progress(seen.request, seen.ranks)
        elif seen.request is not None and seen.request.id == self._mine and not self._is_open:
            self._show_end(seen.ranks, may_go_on=bool(seen.ready))
        elif self._is_open and seen.ready:
            self._show_form(seen)
        else:
            self.hide()
        self.button.setVisible(bool(seen.ready) and self.isHidden())

    def open(self) -> None:
        self._is_open, self._mine = True, ""
        self._take(self._look)
        self._boxes["steps"].input.focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close(self) -> None:
        self._is_open, self._mine = False, ""
        self._show()

    def _show_form(self, seen: Look) -> None:
        names = [name for name in FIELDS if name != "ranks" or len(seen.ready) > 1]
        names = [name for name in names if schema.is_shown(self._spec, schema.field_of(CaptureSpec, name))]
        for name, box in self._boxes.items():
            box.setVisible(name in names)
        columns = MOST if len(names) == MOST else COLUMNS
        for place, name in enumerate(names):
            self._grid.addWidget(self._boxes[name], place // columns, place % columns)
        for column in range(MOST):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        problems = {one.field: one for one in (*schema.problems(self._chosen()), *self._unread.values())}
        for name, box in self._boxes.items():
            box.show_problem(problems.get(name))
        self.said.setText("" if problems else self._expected(seen))
        self.start.setEnabled(not problems and not self._is_asking)
        self._show_only(self.start, self.close_button)

    def _expected(self, seen: Look) -> str:
        """Nothing until it is known whether this run was captured before."""
        request = state.request_of(self._chosen().capture)
        return "" if seen.before is None else sentence_of(said(forecast(request, seen.ready, seen.before), request))

    def _show_only(self, *shown: QWidget, failed: str = "") -> None:
        others = (self.again, self.cancel, self.folder, self.timeline, self.close_button, self.progress)
        for widget in (self.start, *others):
            widget.setVisible(widget in shown)
        if self.start not in shown:
            for box in self._boxes.values():
                box.hide()
        self.said.setVisible(bool(self.said.text()))
        self.failed.setVisible(bool(failed))
        self.failed.setText(failed)
        self.show()

    def _show_progress(self, request: Request, found: dict[int, Rank]) -> None:
        lead = next(iter(found.values()), None)
        if lead is None:
            self.said.setText(t("capture.waits"))
        elif lead.state == "armed":
            self.said.setText(t("capture.waits_for", step=lead.start))
        else:
            texts = [t("capture.works", done=lead.done, steps=request.steps), first_step(lead)]
            self.said.setText("\n".join(filter(None, texts)))
        self.progress.setRange(0, request.steps)
        self.progress.setValue(lead.done if lead else 0)
        waits = lead is None or lead.state == "armed"
        self._show_only(self.progress, *([self.cancel] if waits else []))

    def _show_end(self, found: dict[int, Rank], *, may_go_on: bool) -> None:
        failed = {rank: one for rank, one in found.items() if one.finding}
        others = {rank: one for rank, one in found.items() if rank not in failed}
        self.said.setText("\n".join(ends(others, len(found))) or ("" if failed else t("capture.withdrawn")))
        done = any(one.state == "done" for one in others.values())
        profiled = any(one.state == "done" and one.kind == "profile" for one in others.values())
        made = (*([self.folder] if done else []), *([self.timeline] if profiled else []))
        shown = (*made, *([self.again] if may_go_on else []), self.close_button)
        self._show_only(*shown, failed="\n".join(ends(failed, len(found))))

    def _edited(self) -> None:
        for name, box in self._boxes.items():
            self._unread.pop(name, None)
            try:
                self._spec = schema.with_value(self._spec, name, box.input.value())
            except schema.Unreadable as error:
                self._unread[name] = error.problem
        self._show()

    def _chosen(self) -> CaptureSpec:
        spec = schema.effective(self._spec)
        return schema.with_value(spec, "run", self._run.folder) if self._run else spec

    def _ask(self) -> None:
        """Looking at the run and writing the request are short, but not on every disk."""
        run, chosen = self._run, self._chosen().capture
        if run is not None:
            self._is_asking = True
            self.start.setEnabled(False)
            ask(self, partial(_asked, run, chosen), partial(self._answered, run))

    def _answered(self, run: Run, answer: Request | StudioError) -> None:
        """Another run may be looked at by then."""
        if isinstance(answer, StudioError):
            self._session.trouble.emit(answer)
        if self._run is run:
            self._is_asking = False
            known = self._look
            if not isinstance(answer, StudioError):
                self._mine, self._is_open = answer.id, False
                known = replace(known, request=answer, is_over=False, ranks={})
            self._take(known)

    def _withdraw(self) -> None:
        run, request = self._run, self._look.request
        if run is not None and request is not None:
            ask(self, partial(state.withdraw, run.folder, request), partial(self._withdrawn, run))

    def _withdrawn(self, run: Run, _nothing: None) -> None:
        if self._run is run:
            self._is_open, self._mine = False, ""
            self._take(replace(self._look, request=None))

    def _open_folder(self) -> None:
        if self._run is not None and self._mine:
            self.folder_wanted.emit(self._run.folder / state.FOLDER / self._mine)

    def _open_profile(self) -> None:
        if self._run is not None and self._mine:
            self._session.profile_wanted.emit(self._run.folder / state.FOLDER / self._mine)

    def retranslate(self) -> None:
        self._show()


def _asked(run: Run, chosen: Any) -> Request | StudioError:
    try:
        return ask_for(run, chosen)[0]
    except StudioError as error:
        return error
