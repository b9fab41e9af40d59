"""Record what happens in a training, from inside it.

    import ascend_studio
    ascend_studio.metric(step, loss=0.41, lr=1e-3)

Outside a run of the studio every function does nothing. Inside one
(ASCEND_STUDIO_RUN names the run's folder) each call appends one JSON line to
events.a<attempt>.r<rank>.p<pid>.jsonl in that folder. Nothing here raises into
the training; what a full disk refuses waits, see backlog.py. Python 3.7, standard
library only.
"""

from __future__ import annotations

# Paths are text here, and errors are caught inside loops: this runs in every step of a training.
import atexit
import errno
import fcntl
import functools
import json
import math
import operator
import os
import threading
import time

from ascend_studio.writer import process_rank
from ascend_studio.writer.backlog import Backlog
from ascend_studio.writer.nonfinite_losses import NonFiniteLosses
from ascend_studio.writer.process_rank import setting

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

__all__ = ["artifact", "finding", "metric", "note", "progress"]

RUN = "ASCEND_STUDIO_RUN"
ATTEMPT = "ASCEND_STUDIO_ATTEMPT"


def _never_raises(record: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(record)
    def safe(*args: Any, **kwargs: Any) -> None:
        if _event_file is not None or RUN in os.environ:
            try:  # noqa: SIM105  suppress() would cost a tenth of the record
                record(*args, **kwargs)
            except Exception:
                # A record is not worth a training: the event is lost, the step goes on.
                pass

    return safe


@_never_raises
def metric(step: Any, **values: Any) -> None:
    """Numbers of one optimizer step. Takes whatever float() takes; the rest is left out."""
    numbers = _plain_numbers(values)
    if numbers:
        _append("metric", f'"step":{_integer(step)},"values":{{{numbers}}}')
    else:
        _metric_of_any(_integer(step), values)


def _metric_of_any(step: int, values: Dict[str, Any]) -> None:
    """Record values of any kind, and say once where a loss among them is no number any more."""
    texts = dict(_numbers(values))
    if texts:
        numbers = ",".join([_name(name) + ":" + text for name, text in texts.items()])
        _append("metric", f'"step":{step},"values":{{{numbers}}}')
    if nonfinite_losses is not None:
        nonfinite_losses.add(step, texts)


@_never_raises
def progress(done: Any, total: Any, phase: str) -> None:
    """`done` of `total` in the named phase; `total` 0 where the end is not known."""
    counts = f'"done":{_integer(done)},"total":{_integer(total)}'
    _append("progress", f'{counts},"phase":{_json(phase)}')


@_never_raises
def note(key: str, **args: Any) -> None:
    """Something worth saying; the catalogue of texts has the sentence of `key`."""
    _append("note", f'"key":{_json(key)},"args":{_json(_plain_args(args))}')


@_never_raises
def finding(rule: str, severity: str, path: Any = "", line: Any = 0, **args: Any) -> None:
    """Something to act on; `severity` is "info", "warning" or "error"."""
    kind = f'"rule":{_json(rule)},"severity":{_json(severity)}'
    location = f'"path":{_json(os.fspath(path))},"line":{_integer(line)}'
    _append("finding", f'{kind},{location},"args":{_json(_plain_args(args))}')


@_never_raises
def artifact(kind: str, path: Any) -> None:
    """A file that the training left; a path inside the run's folder is kept relative to it."""
    path, run = os.fspath(path), os.environ[RUN]
    if os.path.isabs(path) and path.startswith(run + os.sep):
        path = os.path.relpath(path, run)
    _append("artifact", f'"kind":{_json(kind)},"path":{_json(path)}')


# A program may close descriptors that it does not know, and the next file that it opens gets the lowest free number:
# from here on none does that has not hundreds of files open. Below, each record looks whether the file is still ours.
_HIGH = 900


def mode_in(folder: str) -> int:
    """For the owner alone, or also for a group that may read the run's folder."""
    return 0o600 | (os.stat(folder).st_mode & 0o040)


class _EventFile:
    """The event file of one process. Opened at the first record; one write per record. What cannot be written waits in
    a backlog."""

    def __init__(self, path: str) -> None:
        self.path = path
        # Reentrant: a signal handler may record while its own thread is recording.
        self.lock = threading.RLock()
        self.descriptor = -1
        self.identity: Optional[Tuple[int, int]] = None
        self.torn = False
        self.backlog: Optional[Backlog] = None
        self.is_writing = False
        # Records of signal handlers that came in the middle of another record.
        self.nested: List[bytes] = []

    def append(self, line: bytes) -> None:
        with self.lock:
            if self.is_writing:
                self.nested.append(line)
                return
            self.is_writing = True
            try:
                self._append(line)
                while self.nested:
                    self._append(self.nested.pop(0))
            finally:
                self.is_writing = False

    def _append(self, line: bytes) -> None:
        if self.backlog is not None and not self._catch_up(self.backlog):
            self.backlog.add(line)
            return
        written, reason = 0, errno.ENOSPC
        try:
            written = self._write(line)
        except OSError as error:
            reason = error.errno or 0
        if written != len(line):
            self._begin_backlog(line, written, reason)

    def finish(self) -> None:
        """Write what waits, or leave word of it: the process ends."""
        with self.lock:
            while self.nested:
                self._append(self.nested.pop(0))
            if self.backlog is not None:
                self.backlog.due = 0.0
                self._catch_up(self.backlog)

    def _begin_backlog(self, line: bytes, written: int, reason: int) -> None:
        self.backlog = Backlog(self.path, line[:written], reason)
        self.backlog.add(line[written:])
        self.backlog.leave_link()

    def _catch_up(self, backlog: Backlog) -> bool:
        """Return whether nothing waits any more. A signal handler that records meanwhile has to wait."""
        if backlog.is_writing or time.monotonic() < backlog.due or not backlog.write(self._write):
            return False
        backlog.remove_link()
        self.backlog = None
        return True

    def _write(self, data: bytes) -> int:
        """Return how many bytes were written, which may be none. Raises OSError."""
        if self.descriptor < _HIGH and not self._is_open():
            self._open()
        try:
            return self._write_once(data)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            self._open()
            return self._write_once(data)

    def _write_once(self, data: bytes) -> int:
        if not self.torn:
            return os.write(self.descriptor, data)
        written = os.write(self.descriptor, b"\n" + data)
        self.torn = False
        return written - 1

    def _is_open(self) -> bool:
        try:
            return self.descriptor >= 0 and self._identify() == self.identity
        except OSError:
            return False

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self.descriptor = -1
        self.descriptor = _moved_up(os.open(self.path, flags, mode_in(os.path.dirname(self.path))))
        self.identity = self._identify()
        # Left by an earlier process with this pid, or by ourselves before a close.
        self.torn = os.fstat(self.descriptor).st_size > 0

    def _identify(self) -> Tuple[int, int]:
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def close(self) -> None:
        if self._is_open():
            os.close(self.descriptor)


def _moved_up(descriptor: int) -> int:
    """The same file under a number that no other file gets, or as it is where so many are not allowed."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:
        return descriptor
    os.close(descriptor)
    return moved


_event_file: Optional[_EventFile] = None


def finish() -> None:
    """Write what could not be written yet, once more; it is for the end of a process, after its last record."""
    if _event_file is not None:
        _event_file.finish()


# The first to be registered is the last to be called.
atexit.register(finish)


def _append(kind: str, body: str) -> None:
    if not process_rank.is_final:
        _look_for_rank()
    file = _event_file or _file_of_this_process()
    if file is not None:
        line = f'{{"type":"{kind}","time":{time.time_ns()},{body}}}\n'
        # "replace": a name from the file system may hold bytes that are not UTF-8.
        file.append(line.encode("utf-8", "replace"))


nonfinite_losses: Optional[NonFiniteLosses] = NonFiniteLosses(finding)


def report_losses(reports: bool) -> None:
    """Whether losses that are NaN or infinite are told: a training that looks for them itself says no."""
    global nonfinite_losses
    nonfinite_losses = NonFiniteLosses(finding) if reports else None


def _file_of_this_process() -> Optional[_EventFile]:
    global _event_file
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        return None  # msrun starts the script once more, as a scheduler that trains nothing
    _event_file = _EventFile(_path())
    return _event_file


def _path() -> str:
    name = f"events.a{setting(ATTEMPT, 1)}.r{process_rank.rank()}.p{os.getpid()}.jsonl"
    return os.path.join(os.environ[RUN], name)


def _look_for_rank() -> None:
    """Go on in the file of the rank, once there is one: a process may record something before it joins the others."""
    global _event_file
    file = _event_file
    if file is not None and process_rank.of_framework() >= 0 and file.path != _path():
        _event_file = None
        file.finish()
        file.close()


def _forget_parent() -> None:
    """After a fork: a new file, and a lock that no thread of the parent holds."""
    global _event_file
    inherited, _event_file = _event_file, None
    process_rank.forget()
    if inherited is not None:
        inherited.close()


os.register_at_fork(after_in_child=_forget_parent)


_name_texts: Dict[str, str] = {}


def _name(name: str) -> str:
    """The name as a JSON string; the few names of a training are formatted once."""
    text = _name_texts.get(name)
    if text is None:
        text = _json(name)
        if len(_name_texts) < 1000:
            _name_texts[name] = text
    return text


_templates: Dict[Tuple[str, ...], str] = {}
_PLAIN = {float, int}


def _plain_numbers(values: Dict[str, Any]) -> str:
    """The same as `_numbers` for what nearly every step has, finite numbers of Python's own under the names of the
    step before, in two thirds of the time; '' for anything else."""
    numbers = values.values()
    try:
        if not (_PLAIN.issuperset(map(type, numbers)) and math.isfinite(sum(numbers))):
            return ""
    except OverflowError:  # an integer beyond the doubles
        return ""
    names = tuple(values)
    template = _templates.get(names)
    if template is None:
        template = ",".join([_name(name).replace("%", "%%") + ":%r" for name in names])
        if len(_templates) < 100:
            _templates[names] = template
    return template % tuple(numbers)


def _numbers(values: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    for name, value in values.items():
        try:
            yield name, _number(value)
        except Exception:
            continue


def _number(value: Any) -> str:
    """The shortest decimal that reads back as the same double."""
    if type(value) is not float:
        try:
            return f"{operator.index(value):d}"
        except TypeError:
            value = float(value)
    if math.isfinite(value):
        return float.__repr__(value)
    return f'"{_non_finite(value)}"'


def _non_finite(value: float) -> str:
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _integer(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        return int(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain_args(args: Dict[str, Any]) -> Dict[str, Any]:
    plain: Dict[str, Any] = {}
    for name, value in args.items():
        try:
            plain[name] = _plain(value)
        except Exception:
            continue
    return plain


def _plain(value: Any) -> Any:
    """The value in JSON's own types. Raises where there is none."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return _plain_number(value)


def _plain_number(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("bytes are not text")
    try:
        return operator.index(value)
    except TypeError:
        number = float(value)
    return number if math.isfinite(number) else _non_finite(number)
