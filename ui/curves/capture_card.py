"""Profile now, dump now: a button at the head of a run that trains with hooks, and the card that asks and follows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QProgressBar, QWidget

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast
from backends.launch.capture.sentences import end_sentences, first_step
from backends.launch.capture.spec import CaptureSpec
from backends.launch.capture.work import forecast_note, request_capture
from studio import schema
from studio.errors import StudioError
from studio.sentences import sentence_of
from studio.texts import t
from ui.form.field_box import FieldBox
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Card,
    Sentence,
    button,
    primary_button,
    retone,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Ready, Request
    from studio.run import Glance, Run
    from ui.services.session import Session

FIELDS = ("kind", "steps", "at", "ranks", "stacks", "task", "level", "targets", "direction", "casts", "optimizer_state")
COLUMNS, MAX_COLUMNS = 3, 4
CALM = 0.9
"""Seconds between two readings while nothing is captured."""


@dataclass(frozen=True, kw_only=True)
class CaptureSnapshot:
    """`request`: the newest one, and how far its `ranks` are; `is_over`: nothing more comes of it. `before`: what
    earlier captures came to, None where that was not read."""

    ready: tuple[Ready, ...] = ()
    request: Request | None = None
    is_over: bool = True
    ranks: dict[int, Rank] = field(default_factory=dict)
    before: tuple[Rank, ...] | None = None


class CaptureCard(Card):
    """`button` opens it. It also shows what a command line has asked of the run."""

    folder_requested = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__("capture.card")
        self.setObjectName("curves_capture")
        self._session = session
        self._run: Run | None = None
        self._works = False
        self._snapshot = CaptureSnapshot()
        self._turn = 0
        self._is_reading = self._reads_again = False
        self._read_time = 0.0
        self._spec = CaptureSpec()
        self._unread: dict[str, schema.Problem] = {}
        self._is_open = False
        self._is_requesting = False
        self._request_id = ""  # the request whose end is still to be read
        self.button = button("capture.button", "capture.button")
        self.button.clicked.connect(self.open)
        localize(self.button.setToolTip, "capture.button_hint")
        self.button.hide()
        self._make()
        self.hide()

    def _make(self) -> None:
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(10)
        self._boxes = {name: self._make_box(name) for name in FIELDS}
        self.sentence, self.failed, self.progress = Sentence(), Sentence(), QProgressBar()
        self.sentence.setObjectName("curves_capture_said")
        self.failed.setObjectName("curves_capture_failed")
        retone(self.failed, "role", "bad")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(6)
        self.start = primary_button("capture.start", "capture.start")
        self.capture_again = text_button("capture.again", "capture.again")
        self.cancel = button("capture.cancel", "capture.cancel")
        self.folder = button("capture.open", "capture.open")
        self.timeline = button("timeline.page.show_capture", "capture_timeline")
        self.close_button = text_button("capture.close", "capture.close")
        for widget, do in (
            (self.start, self._request), (self.capture_again, self.open), (self.cancel, self._withdraw),
            (self.folder, self._open_folder), (self.timeline, self._open_profile), (self.close_button, self._close),
        ):  # fmt: skip
            widget.clicked.connect(do)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (self.close_button, self.capture_again, self.cancel, self.folder, self.timeline, self.start):
            row.addWidget(widget)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.sentence)
        self.body.addWidget(self.failed)
        self.body.addWidget(self.progress)
        self.body.addLayout(row)

    def _make_box(self, name: str) -> FieldBox:
        box = FieldBox(schema.field_of(CaptureSpec, name), "launch")
        # The form of Launch has fields of these names too.
        box.setObjectName(f"capture.{name}.box")
        box.input.setObjectName(f"capture.{name}")
        if name == "steps":
            box.show_hint("capture.steps_hint")
        box.input.show_value(schema.value_of(self._spec, name))
        box.input.edited.connect(self._edited)
        return box

    def show_run(self, run: Run, glance: Glance | None) -> None:
        """Called a few times a second: a few small files are read, in another thread, once a second where no capture
        is under way."""
        did_work, self._works = self._works, glance is not None and glance.state in ("running", "unattended")
        if self._run is None or run.folder != self._run.folder:
            self._run, self._is_open, self._request_id, self._is_requesting = run, False, "", False
            self._show_snapshot(CaptureSnapshot())
        elif (
            did_work != self._works  # nobody calls again once the end of a run is shown
            or not self._snapshot.is_over
            or time.monotonic() - self._read_time > CALM
        ):
            self._read_again()

    def _read_again(self) -> None:
        """One reading at a time: a disk may be slower than this is called."""
        self._reads_again = self._is_reading
        if self._run is not None and not self._is_reading:
            self._is_reading, self._read_time = True, time.monotonic()
            question = partial(read_snapshot, self._run.folder, works=self._works, with_before=self._is_open)
            run_in_background(self, question, partial(self._show_read, self._turn))

    def _show_read(self, turn: int, snapshot: CaptureSnapshot) -> None:
        self._is_reading = False
        if turn == self._turn and snapshot != self._snapshot:
            self._snapshot = snapshot
            self._show()
        if self._reads_again:
            self._read_again()

    def _show_snapshot(self, snapshot: CaptureSnapshot) -> None:
        """What is known without reading; a reading that is under way is older."""
        self._snapshot = snapshot
        self._turn += 1
        self._show()
        self._read_again()

    def _show(self) -> None:
        snapshot = self._snapshot
        if snapshot.request is not None and not snapshot.is_over:
            self._request_id, self._is_open = snapshot.request.id, False
            self._show_progress(snapshot.request, snapshot.ranks)
        elif snapshot.request is not None and snapshot.request.id == self._request_id and not self._is_open:
            self._show_end(snapshot.ranks, can_capture=bool(snapshot.ready))
        elif self._is_open and snapshot.ready:
            self._show_form(snapshot)
        else:
            self.hide()
        self.button.setVisible(bool(snapshot.ready) and self.isHidden())

    def open(self) -> None:
        self._is_open, self._request_id = True, ""
        self._show_snapshot(self._snapshot)
        self._boxes["steps"].input.focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close(self) -> None:
        self._is_open, self._request_id = False, ""
        self._show()

    def _show_form(self, snapshot: CaptureSnapshot) -> None:
        names = [name for name in FIELDS if name != "ranks" or len(snapshot.ready) > 1]
        names = [name for name in names if schema.is_visible(self._spec, schema.field_of(CaptureSpec, name))]
        for name, box in self._boxes.items():
            box.setVisible(name in names)
        columns = MAX_COLUMNS if len(names) == MAX_COLUMNS else COLUMNS
        for index, name in enumerate(names):
            self._grid.addWidget(self._boxes[name], index // columns, index % columns)
        for column in range(MAX_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        problems = {problem.field: problem for problem in (*schema.problems(self._chosen()), *self._unread.values())}
        for name, box in self._boxes.items():
            box.show_problem(problems.get(name))
        self.sentence.setText("" if problems else self._expected(snapshot))
        self.start.setEnabled(not problems and not self._is_requesting)
        self._show_only(self.start, self.close_button)

    def _expected(self, snapshot: CaptureSnapshot) -> str:
        """Nothing until it is known whether this run was captured before."""
        request = state.request_of(self._chosen().capture)
        if snapshot.before is None:
            return ""
        return sentence_of(forecast_note(forecast(request, snapshot.ready, snapshot.before), request))

    def _show_only(self, *visible: QWidget, failed: str = "") -> None:
        others = (self.capture_again, self.cancel, self.folder, self.timeline, self.close_button, self.progress)
        for widget in (self.start, *others):
            widget.setVisible(widget in visible)
        if self.start not in visible:
            for box in self._boxes.values():
                box.hide()
        self.sentence.setVisible(bool(self.sentence.text()))
        self.failed.setVisible(bool(failed))
        self.failed.setText(failed)
        self.show()

    def _show_progress(self, request: Request, ranks: dict[int, Rank]) -> None:
        """The first rank stands for all: they capture the same steps."""
        first = next(iter(ranks.values()), None)
        if first is None:
            self.sentence.setText(t("capture.waits"))
        elif first.state == "armed":
            self.sentence.setText(t("capture.waits_for", step=first.start))
        else:
            texts = [t("capture.works", done=first.done, steps=request.steps), first_step(first)]
            self.sentence.setText("\n".join(filter(None, texts)))
        self.progress.setRange(0, request.steps)
        self.progress.setValue(first.done if first else 0)
        is_waiting = first is None or first.state == "armed"
        self._show_only(self.progress, *([self.cancel] if is_waiting else []))

    def _show_end(self, ranks: dict[int, Rank], *, can_capture: bool) -> None:
        failed = {number: rank for number, rank in ranks.items() if rank.finding}
        others = {number: rank for number, rank in ranks.items() if number not in failed}
        sentences = end_sentences(others, len(ranks)) or ([] if failed else [t("capture.withdrawn")])
        self.sentence.setText("\n".join(sentences))
        done = [rank for rank in others.values() if rank.state == "done"]
        has_profile = any(rank.kind == "profile" for rank in done)
        results = (*([self.folder] if done else []), *([self.timeline] if has_profile else []))
        buttons = (*results, *([self.capture_again] if can_capture else []), self.close_button)
        self._show_only(*buttons, failed="\n".join(end_sentences(failed, len(ranks))))

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

    def _request(self) -> None:
        """Reading the run and writing the request are short, but not on every disk."""
        run, chosen = self._run, self._chosen().capture
        if run is not None:
            self._is_requesting = True
            self.start.setEnabled(False)
            run_in_background(self, partial(_write_request, run, chosen), partial(self._requested, run))

    def _requested(self, run: Run, answer: Request | StudioError) -> None:
        """Another run may be looked at by then."""
        if isinstance(answer, StudioError):
            self._session.trouble.emit(answer)
        if self._run is run:
            self._is_requesting = False
            snapshot = self._snapshot
            if not isinstance(answer, StudioError):
                self._request_id, self._is_open = answer.id, False
                snapshot = replace(snapshot, request=answer, is_over=False, ranks={})
            self._show_snapshot(snapshot)

    def _withdraw(self) -> None:
        run, request = self._run, self._snapshot.request
        if run is not None and request is not None:
            run_in_background(self, partial(state.withdraw, run.folder, request), partial(self._withdrawn, run))

    def _withdrawn(self, run: Run, _nothing: None) -> None:
        if self._run is run:
            self._is_open, self._request_id = False, ""
            self._show_snapshot(replace(self._snapshot, request=None))

    def _open_folder(self) -> None:
        if self._run is not None and self._request_id:
            self.folder_requested.emit(self._run.folder / state.FOLDER / self._request_id)

    def _open_profile(self) -> None:
        if self._run is not None and self._request_id:
            self._session.path_requested.emit("profile", self._run.folder / state.FOLDER / self._request_id)

    def retranslate(self) -> None:
        self._show()


def _write_request(run: Run, chosen: Any) -> Request | StudioError:
    try:
        return request_capture(run, chosen)[0]
    except StudioError as error:
        return error


def read_snapshot(folder: Path, *, works: bool, with_before: bool) -> CaptureSnapshot:
    """Read a few files. `works`: whether the run's training lives."""
    request = state.newest_request(folder)
    # Before the ranks: then these are the last ones where it is over.
    is_over = request is None or not works or state.is_over(folder, request)
    return CaptureSnapshot(
        ready=state.ready(folder) if works else (),
        request=request,
        is_over=is_over,
        ranks=state.ranks(folder, request.id) if request else {},
        before=state.done_before(folder) if with_before else None,
    )
