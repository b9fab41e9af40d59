"""Reading of a profile for the window: from the cache at once, else by a child process whose progress is shown."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QProcessEnvironment, QTimer, Signal

from studio import texts
from studio.errors import StudioError
from studio.paths import MAIN
from ui.timeline.latest_question import LatestQuestion

if TYPE_CHECKING:
    from backends.timeline.profile_reader import Opened
    from backends.timeline.tables.missing_data import Missing
    from backends.timeline.tables.summary import Summary
    from backends.timeline.trace import Trace

LONGEST_LINE = 1 << 16
PATIENCE_MS = 2000
PAINTED_MS = 100


@dataclass(frozen=True, kw_only=True)
class ProfileSummary:
    """What takes a pass over all slices: where the time went, and what the data lacks."""

    summary: Summary
    missing: tuple[Missing, ...]


class ProfileOpening(QObject):
    """Opens one profile at a time; another `open` drops the previous one, whose answers are ignored.

    `progressed`: bytes done and total. `first_lanes`: its path, and a Trace of which more is being read. `opened`: its
    path, an Opened, and messages of the reader. `summarized`: its ProfileSummary, later. `failed`: its path and a
    StudioError. `cancelled`: on request.
    """

    begun = Signal(object)
    progressed = Signal(object, object)
    first_lanes = Signal(object, object)
    opened = Signal(object, object, object)
    summarized = Signal(object)
    failed = Signal(object, object)
    cancelled = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self._summarizing: Opened | None = None
        self._process: QProcess | None = None
        self._line = b""
        self._messages: list[str] = []
        self._latest = LatestQuestion(self)
        if (app := QCoreApplication.instance()) is not None:
            app.aboutToQuit.connect(self._end_for_good)

    @property
    def is_at_work(self) -> bool:
        return self.path is not None

    def open(self, path: Path) -> None:
        self._let_go()
        self.path, self._messages = path.absolute(), []
        self.begun.emit(self.path)
        self._latest.run(partial(_cached, self.path), self._use_cached)

    def cancel(self) -> None:
        if self.is_at_work:
            self._let_go()
            self.cancelled.emit()

    def _let_go(self) -> None:
        self._latest.drop()
        self._end_process()
        self.path = self._summarizing = None

    def _use_cached(self, opened: Opened | StudioError | None) -> None:
        if opened is None:
            self._start()
        else:
            self._end(opened)

    def _end(self, opened: Opened | StudioError) -> None:
        path, self.path = self.path, None
        self._latest.drop()
        if isinstance(opened, StudioError):
            self.failed.emit(path, opened)
        else:
            repeated = [str(StudioError(note.key, **note.args)) for note in opened.notes]
            self.opened.emit(path, opened, tuple(line for line in self._messages if line and line not in repeated))
            self.summarize(opened)

    def summarize(self, opened: Opened) -> None:
        """Compute the summary of a profile after it has been painted, which comes first."""
        self._summarizing = opened
        QTimer.singleShot(PAINTED_MS, self, partial(self._start_summary, opened))

    def _start_summary(self, opened: Opened) -> None:
        if opened is self._summarizing:
            self._latest.run(partial(_summarize, opened), partial(self._announce_summary, opened))

    def _announce_summary(self, opened: Opened, summary: ProfileSummary) -> None:
        self.summarized.emit(summary)
        self._latest.run(partial(_prepare, opened.trace), _nothing)

    # The child

    def _start(self) -> None:
        assert self.path is not None
        self._line = b""
        process = self._process = QProcess(self)
        process.setProgram(sys.executable)
        words = ["--no-project", "--language", texts.language(), "timeline", "--json", str(self.path)]
        process.setArguments(["-I", str(MAIN), *words])
        process.setWorkingDirectory("/")
        process.setProcessEnvironment(_environment())
        process.setStandardOutputFile(QProcess.nullDevice())
        process.readyReadStandardError.connect(self._read)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._not_started)
        process.start()

    def _read(self) -> None:
        if self.sender() is self._process and self._process is not None:
            self._take(bytes(self._process.readAllStandardError().data()))

    def _take(self, data: bytes) -> None:
        *lines, rest = (self._line + data).split(b"\n")
        self._line = rest[-LONGEST_LINE:]
        for line in lines:
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._messages.append(line.decode("utf-8", "replace").strip())
        elif isinstance(folder := message.get("partial"), str) and self.path is not None:
            self._latest.run(partial(_first, Path(folder), self.path), self._show_partial)
        elif isinstance(done := message.get("done"), int) and isinstance(total := message.get("total"), int):
            self.progressed.emit(done, total)

    def _show_partial(self, trace: Trace | None) -> None:
        if trace is not None:
            self.first_lanes.emit(self.path, trace)

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        process = self.sender()
        if process is not self._process or self._process is None or self.path is None:
            return
        self._take(bytes(self._process.readAllStandardError().data()) + b"\n")
        self._forget_process()
        if code == 0 and status == QProcess.ExitStatus.NormalExit:
            self._latest.run(partial(_read_now, self.path), self._end)
        else:
            self._end(self._reason(code, died=status != QProcess.ExitStatus.NormalExit))

    def _reason(self, code: int, *, died: bool) -> StudioError:
        """Return the reason of a failure. For a process that died, `code` is the number of the signal."""
        messages = [line for line in self._messages if line]
        if died:
            key = "timeline.open.shrunk" if code == signal.SIGBUS else "timeline.open.killed"
            return StudioError(key, code=code)
        if not messages:
            return StudioError("timeline.open.failed", code=code)
        return StudioError("timeline.open.said", said="\n".join(messages[-3:]))

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self.sender() is self._process and self._process:
            reason = self._process.errorString()
            self._forget_process()
            self._end(StudioError("timeline.open.not_started", reason=reason))

    def _forget_process(self) -> None:
        if self._process is not None:
            self._process.deleteLater()
            self._process = None

    def _end_process(self) -> None:
        """Terminate the child, which removes its unfinished files while the window continues."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.connect(process.deleteLater)
            process.terminate()

    def _end_for_good(self) -> None:
        """Wait for the child when the window closes, which would otherwise kill it before its clean-up is done."""
        if self._process is not None:
            self._process.terminate()
            self._process.waitForFinished(PATIENCE_MS)


def _environment() -> QProcessEnvironment:
    """Return the child's environment: PROGRESS of backends.timeline.command, and one thread for linear algebra, which
    reading does not need."""
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("ASCEND_STUDIO_PROGRESS", "json")
    environment.insert("OPENBLAS_NUM_THREADS", "1")
    return environment


def _cached(path: Path) -> Opened | StudioError | None:
    from backends.timeline.profile_reader import open_cached

    try:
        opened = open_cached(path)
    except StudioError as error:
        return error
    if opened is not None:
        _warm(opened.trace)
    return opened


def _read_now(path: Path) -> Opened | StudioError:
    return _cached(path) or StudioError("timeline.open.gone", place=str(path))


def _first(folder: Path, path: Path) -> Trace | None:
    """Open the first part; None where reading has ended in the meantime and its folder is gone."""
    from backends.timeline.profile_reader import root_of
    from backends.timeline.trace import open_trace

    try:
        trace = open_trace(folder, root_of(path))
        _warm(trace)
    except (OSError, ValueError):
        return None
    return trace


def _warm(trace: Trace) -> None:
    """Decode the names here, not on the UI thread, and open their file before it may be gone."""
    _ = trace.name_texts
    if len(trace.name_family):
        trace.name_text(0)


def _nothing(_answer: object) -> None:
    """Ignore the answer: nobody waits for it."""


def _prepare(trace: Trace) -> None:
    """Compute the columns that the first range query would otherwise wait for; they are stored with the trace."""
    from backends.timeline.query.coverage_cache import stored_covered_below, stored_covered_until

    stored_covered_until(trace)
    stored_covered_below(trace)


def _summarize(opened: Opened) -> ProfileSummary:
    from backends.timeline.tables.missing_data import missing
    from backends.timeline.tables.summary import step_summary

    return ProfileSummary(summary=step_summary(opened.trace), missing=missing(opened.trace))
