"""Reading a profile for the window: from the cache at once, else by a child process whose progress is followed."""

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
from ui.timeline.latest import Latest

if TYPE_CHECKING:
    from backends.timeline.read import Opened
    from backends.timeline.tables.missing import Missing
    from backends.timeline.tables.summary import Summary
    from backends.timeline.trace import Trace

LONGEST_LINE = 1 << 16
PATIENCE_MS = 2000
PAINTED_MS = 100


@dataclass(frozen=True, kw_only=True)
class Known:
    """What takes a look at all slices: where the time went, and what the data has not got."""

    summary: Summary
    missing: tuple[Missing, ...]


class Opening(QObject):
    """One profile at a time: another `open` lets go of the one before, whose answers are not heard any more.

    `progressed`: bytes done and in all. `first_lanes`: its path, and a Trace of which more is being read. `opened`: its
    path, an Opened, and what was said while it was read. `known`: the Known of it, later. `failed`: its path and a
    StudioError. `cancelled`: as was asked."""

    begun = Signal(object)
    progressed = Signal(object, object)
    first_lanes = Signal(object, object)
    opened = Signal(object, object, object)
    known = Signal(object)
    failed = Signal(object, object)
    cancelled = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self._shown: Opened | None = None
        self._process: QProcess | None = None
        self._line = b""
        self._said: list[str] = []
        self._latest = Latest(self)
        if (app := QCoreApplication.instance()) is not None:
            app.aboutToQuit.connect(self._end_for_good)

    @property
    def is_at_work(self) -> bool:
        return self.path is not None

    def open(self, path: Path) -> None:
        self._let_go()
        self.path, self._said = path.absolute(), []
        self.begun.emit(self.path)
        self._latest.ask(partial(_cached, self.path), self._looked)

    def cancel(self) -> None:
        if self.is_at_work:
            self._let_go()
            self.cancelled.emit()

    def _let_go(self) -> None:
        self._latest.drop()
        self._end_process()
        self.path = self._shown = None

    def _looked(self, found: Opened | StudioError | None) -> None:
        if found is None:
            self._start()
        else:
            self._end(found)

    def _end(self, found: Opened | StudioError) -> None:
        path, self.path = self.path, None
        self._latest.drop()
        if isinstance(found, StudioError):
            self.failed.emit(path, found)
        else:
            known = [str(StudioError(note.key, **note.args)) for note in found.notes]
            self.opened.emit(path, found, tuple(line for line in self._said if line and line not in known))
            self.look_closer(found)

    def look_closer(self, opened: Opened) -> None:
        """Tells `known` of what is shown, once it is painted: that comes first."""
        self._shown = opened
        QTimer.singleShot(PAINTED_MS, self, partial(self._ask_closer, opened))

    def _ask_closer(self, opened: Opened) -> None:
        if opened is self._shown:
            self._latest.ask(partial(_known, opened), partial(self._tell_known, opened))

    def _tell_known(self, opened: Opened, known: Known) -> None:
        self.known.emit(known)
        self._latest.ask(partial(_prepare, opened.trace), _nothing)

    # The child

    def _start(self) -> None:
        assert self.path is not None
        self._line = b""
        process = self._process = QProcess(self)
        process.setProgram(sys.executable)
        words = ["--no-project", "--language", texts.language(), "timeline", "--json", str(self.path)]
        process.setArguments(["-I", "-m", "studio", *words])
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
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            self._said.append(line.decode("utf-8", "replace").strip())
        elif isinstance(folder := told.get("partial"), str) and self.path is not None:
            self._latest.ask(partial(_first, Path(folder), self.path), self._seen)
        elif isinstance(done := told.get("done"), int) and isinstance(total := told.get("total"), int):
            self.progressed.emit(done, total)

    def _seen(self, trace: Trace | None) -> None:
        if trace is not None:
            self.first_lanes.emit(self.path, trace)

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        process = self.sender()
        if process is not self._process or self._process is None or self.path is None:
            return
        self._take(bytes(self._process.readAllStandardError().data()) + b"\n")
        self._forget_process()
        if code == 0 and status == QProcess.ExitStatus.NormalExit:
            self._latest.ask(partial(_read_now, self.path), self._end)
        else:
            self._end(self._reason(code, died=status != QProcess.ExitStatus.NormalExit))

    def _reason(self, code: int, *, died: bool) -> StudioError:
        """Of a process that died, `code` is the number of the signal."""
        said = [line for line in self._said if line]
        if died:
            key = "timeline.open.shrunk" if code == signal.SIGBUS else "timeline.open.killed"
            return StudioError(key, code=code)
        if not said:
            return StudioError("timeline.open.failed", code=code)
        return StudioError("timeline.open.said", said="\n".join(said[-3:]))

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
        """SIGTERM: it takes away what it has half written, while the window goes on."""
        process, self._process = self._process, None
        if process is not None:
            process.finished.connect(process.deleteLater)
            process.terminate()

    def _end_for_good(self) -> None:
        """The window closes, and would kill it before it is done."""
        if self._process is not None:
            self._process.terminate()
            self._process.waitForFinished(PATIENCE_MS)


def _environment() -> QProcessEnvironment:
    """PROGRESS of backends.timeline.command; one thread for linear algebra, which nothing there needs."""
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("ASCEND_STUDIO_PROGRESS", "json")
    environment.insert("OPENBLAS_NUM_THREADS", "1")
    return environment


def _cached(path: Path) -> Opened | StudioError | None:
    from backends.timeline.read import open_cached

    try:
        found = open_cached(path)
    except StudioError as error:
        return error
    if found is not None:
        _warm(found.trace)
    return found


def _read_now(path: Path) -> Opened | StudioError:
    return _cached(path) or StudioError("timeline.open.gone", place=str(path))


def _first(folder: Path, path: Path) -> Trace | None:
    """None where the reading has ended meanwhile, and its folder is gone."""
    from backends.timeline.read import root_of
    from backends.timeline.trace import open_trace

    try:
        trace = open_trace(folder, root_of(path))
        _warm(trace)
    except (OSError, ValueError):
        return None
    return trace


def _warm(trace: Trace) -> None:
    """The names are decoded here, not on the UI thread; and their file is opened before it may be gone."""
    _ = trace.name_texts
    if len(trace.name_family):
        trace.name_text(0)


def _nothing(_answer: object) -> None:
    """Nobody waits for it."""


def _prepare(trace: Trace) -> None:
    """What the first question about a range would wait for otherwise; it is kept beside the columns."""
    from backends.timeline.query.prepared import inner_of, seen_of

    seen_of(trace)
    inner_of(trace)


def _known(opened: Opened) -> Known:
    from backends.timeline.tables.missing import missing
    from backends.timeline.tables.summary import step_summary

    return Known(summary=step_summary(opened.trace), missing=missing(opened.trace))
