"""Profile now, dump now: a button at the head of a run that trains with hooks, and the card that asks and follows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QProgressBar

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast_in
from backends.launch.capture.spec import CaptureSpec
from backends.launch.capture.work import ANSWER, ask_for, said
from studio import files, schema
from studio.errors import StudioError
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import duration, size
from ui.asking import ask
from ui.curves.answers import AnswerCard
from ui.field_box import FieldBox
from ui.say import say
from ui.widgets import Card, Sentence, button, primary_button, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Request
    from studio.run import Glance, Run
    from ui.session import Session

COMMAND = "capture"
FIELDS = ("kind", "steps", "at", "ranks", "stacks", "task", "level")
COLUMNS, MOST = 3, 4


class CaptureCard(Card):
    """`button` opens it. It also shows what a command line has asked of the run."""

    folder_wanted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__("capture.card")
        self.setObjectName("curves_capture")
        self._session = session
        self._run: Run | None = None
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
        self.said, self.progress = Sentence(), QProgressBar()
        self.said.setObjectName("curves_capture_said")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.start = primary_button("capture.start", "capture.start")
        self.again = text_button("capture.again", "capture.again")
        self.cancel = button("capture.cancel", "capture.cancel")
        self.folder = button("capture.open", "capture.open")
        self.close_button = text_button("capture.close", "capture.close")
        for one, do in (
            (self.start, self._ask), (self.again, self.open), (self.cancel, self._withdraw),
            (self.folder, self._open_folder), (self.close_button, self._close),
        ):  # fmt: skip
            one.clicked.connect(do)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (self.close_button, self.again, self.cancel, self.folder, self.start):
            row.addWidget(widget)
        self.body.addLayout(self._grid)
        for widget in (self.said, self.progress):
            self.body.addWidget(widget)
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
        """To be called a few times a second: it reads a few small files."""
        if self._run is None or run.folder != self._run.folder:
            self._run, self._is_open, self._mine, self._is_asking = run, False, "", False
        works = glance is not None and glance.state in ("running", "unattended")
        ready = state.ready(run.folder) if works else ()
        request = state.asked(run.folder)
        is_over = request is None or not works or state.is_over(run.folder, request)
        if request is not None and not is_over:
            self._mine, self._is_open = request.id, False
            self._show_progress(request, state.ranks(run.folder, request.id))
        elif request is not None and request.id == self._mine and not self._is_open:
            self._show_end(state.ranks(run.folder, request.id), may_go_on=bool(ready))
        elif self._is_open and ready:
            self._show_form(several=len(ready) > 1)
        else:
            self.hide()
        self.button.setVisible(bool(ready) and self.isHidden())

    def open(self) -> None:
        self._is_open, self._mine = True, ""
        self._refresh()
        self._boxes["steps"].input.focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close(self) -> None:
        self._is_open, self._mine = False, ""
        self._refresh()

    def _refresh(self) -> None:
        if self._run is not None:
            self.show_run(self._run, _glance(self._run))

    def _show_form(self, *, several: bool) -> None:
        names = [name for name in FIELDS if name != "ranks" or several]
        names = [name for name in names if schema.is_shown(self._spec, schema.field_of(CaptureSpec, name))]
        for name, box in self._boxes.items():
            box.setVisible(name in names)
        columns = MOST if len(names) == MOST else COLUMNS
        for place, name in enumerate(names):
            self._grid.addWidget(self._boxes[name], place // columns, place % columns)
        for column in range(MOST):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        assert self._run is not None
        problems = {one.field: one for one in (*schema.problems(self._chosen()), *self._unread.values())}
        for name, box in self._boxes.items():
            box.show_problem(problems.get(name))
        request = state.request_of(self._chosen().capture)
        self.said.setText("" if problems else sentence_of(said(forecast_in(self._run.folder, request), request)))
        self.start.setEnabled(not problems and not self._is_asking)
        self._show_only(self.start, self.close_button)

    def _show_only(self, *shown: Any) -> None:
        for widget in (self.start, self.again, self.cancel, self.folder, self.close_button, self.progress):
            widget.setVisible(widget in shown)
        if self.start not in shown:
            for box in self._boxes.values():
                box.hide()
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
        self.said.setText("\n".join(ends(found)) or t("capture.withdrawn"))
        done = any(one.state == "done" for one in found.values())
        self._show_only(*([self.folder] if done else []), *([self.again] if may_go_on else []), self.close_button)

    def _edited(self) -> None:
        for name, box in self._boxes.items():
            self._unread.pop(name, None)
            try:
                self._spec = schema.with_value(self._spec, name, box.input.value())
            except schema.Unreadable as error:
                self._unread[name] = error.problem
        self._refresh()

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
            if not isinstance(answer, StudioError):
                self._mine, self._is_open = answer.id, False
            self._refresh()

    def _withdraw(self) -> None:
        request = state.asked(self._run.folder) if self._run else None
        if self._run is not None and request is not None:
            state.withdraw(self._run.folder, request)
            self._close()

    def _open_folder(self) -> None:
        if self._run is not None and self._mine:
            self.folder_wanted.emit(self._run.folder / state.FOLDER / self._mine)

    def retranslate(self) -> None:
        self._refresh()


def _glance(run: Run) -> Glance:
    from studio import run as runs

    return runs.glance(run)


def _asked(run: Run, chosen: Any) -> Request | StudioError:
    try:
        return ask_for(run, chosen)[0]
    except StudioError as error:
        return error


def first_step(one: Rank) -> str:
    if not one.seconds:
        return ""
    times = {"seconds": duration(one.seconds), "usual": duration(one.usual) if one.usual else "–"}
    return t("capture.first_step", octets=size(one.octets), **times) if one.octets else t("capture.times", **times)


def ends(found: dict[int, Rank]) -> list[str]:
    """What each rank came to; the same sentence once, and whose it is where not all say it."""
    by: dict[str, list[int]] = {}
    for rank, one in found.items():
        by.setdefault(_end(one), []).append(rank)
    return [_whose(ranks, len(found), said_so) for said_so, ranks in by.items() if said_so]


def _whose(some: list[int], count: int, said_so: str) -> str:
    return said_so if len(some) == count else t("capture.of_ranks", ranks=", ".join(map(str, some)), said=said_so)


def _end(one: Rank) -> str:
    if one.finding:
        return sentence_of(one.finding)
    if one.state == "withdrawn":
        return t("capture.withdrawn")
    if one.state != "done":
        return ""
    first, last = one.start, one.start + one.done - 1
    key = "capture.finished" if last > first else "capture.finished_one"
    times = t("capture.times", seconds=duration(one.seconds), usual=duration(one.usual)) if one.usual else ""
    return t("curves.joined", first=t(key, first=first, last=last, octets=size(one.octets)), then=times).strip()


class CaptureAnswer(AnswerCard):
    """The page of a capture that a command line asked for."""

    def __init__(self) -> None:
        super().__init__("capture.result")
        self.setObjectName("curves_captured")
        self.text = Sentence()
        self.body.addWidget(self.text)
        self.hide()

    def show_run(self, run: Run) -> None:
        found = captured(run.folder)
        self.setVisible(bool(found))
        self.text.setText("\n".join(ends(found)))
        self.verdict = t("capture.verdict")


def captured(folder: Path) -> dict[int, Rank]:
    import msgspec

    listed = files.read_json(folder / ANSWER)
    try:
        return {one["rank"]: msgspec.convert(one, state.Rank) for one in listed or []}
    except (msgspec.ValidationError, TypeError, KeyError):
        return {}
