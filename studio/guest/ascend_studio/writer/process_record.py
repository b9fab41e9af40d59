"""Leaves a line for each Python process of a run: when it began and how it ended, in one file of the run's folder.

A process that a signal kills runs no function of its end, and its line says so by what it lacks. The line has its whole
length from the beginning: a full disk cannot take the end away. Python 3.7, standard library only.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import exit_status, process_rank

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Optional, Tuple

FILE = "processes.a%d"
# pid, pid of the parent, begin and end in ns since the epoch, kind, way and code of the end.
LINE = "%010d %010d %019d %019d %s %s %s\n"
SCRIPT, COMMAND = "s", "c"  # `python -c` only asks something, most of the time
CHILD = "p"  # the line of a child by its parent, of the module subprocess, which knows its code better than the child
MAX_CHILDREN = 100
NONE, REGULAR, AT_ONCE = "-", "r", "x"  # AT_ONCE: by os._exit(), past all that is to be done at the end
BY_LIBC, UNKNOWN = "l", "-" * exit_status.SIZE  # the C library writes the status over UNKNOWN, as an int

# The process, where its line is, and its first words; None before the first line and after the end.
_line: Optional[Tuple[int, int, Tuple[Any, ...]]] = None
_is_past_end = False


def begin() -> None:
    begin_process()
    atexit.register(hooks.guarded("process_record")(_end))
    _watch_exits()
    hooks.after_import("subprocess", _watch_children)


def begin_process() -> None:
    """Write the line of this process, unless it has one: a child that was forked begins here."""
    global _line
    run = os.environ.get(ascend_studio.RUN)
    if run is None or (_line is not None and _line[0] == os.getpid()):
        return
    kind = COMMAND if getattr(sys, "argv", [""])[:1] == ["-c"] else SCRIPT
    words = (os.getpid(), os.getppid(), time.time_ns())
    _line = os.getpid(), _append(run, *words, 0, kind, NONE, "0000"), (*words, kind)


def _append(run: str, *words: Any) -> int:
    """Return where the line begins in the file."""
    text = (LINE % words).encode()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(_path(run), flags, ascend_studio.mode_in(run))
    try:
        os.write(descriptor, text)
        return os.lseek(descriptor, 0, os.SEEK_CUR) - len(text)
    finally:
        os.close(descriptor)


def end_process(exit_kind: str, code: int) -> None:
    """Say how this process ends, the first time that it does."""
    global _line
    line, run = _line, os.environ.get(ascend_studio.RUN)
    if run is None or line is None or line[0] != os.getpid():
        return
    _line = None
    os.close(_rewrite(run, line, exit_kind, "%04d" % (code & 0xFF)))


def _rewrite(run: str, line: Tuple[int, int, Tuple[Any, ...]], exit_kind: str, code: str) -> int:
    """Return a descriptor that stands where the code is."""
    descriptor = os.open(_path(run), os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    pid, parent, begun, kind = line[2]
    text = (LINE % (pid, parent, begun, time.time_ns(), kind, exit_kind, code)).encode()
    os.pwrite(descriptor, text, line[1])
    os.lseek(descriptor, line[1] + len(text) - len(code) - 1, os.SEEK_SET)
    return descriptor


def _path(run: str) -> str:
    return os.path.join(run, FILE % process_rank.setting(ascend_studio.ATTEMPT, 1))


def _end() -> None:
    """The last function that Python runs before it ends. An end by Ctrl-C is somebody's wish."""
    error = getattr(sys, "last_value", None)
    if isinstance(error, KeyboardInterrupt):
        end_process(REGULAR, 0)
        return
    try:
        _leave_code_to_libc()
    except (ImportError, AttributeError):  # a Python without ctypes: an uncaught error is all that is known
        end_process(REGULAR, int(error is not None))


def _leave_code_to_libc() -> None:
    """The line is kept: os._exit() may come yet, of what Python takes down."""
    global _is_past_end
    _is_past_end = True
    line, run = _line, os.environ.get(ascend_studio.RUN)
    if run is not None and line is not None and line[0] == os.getpid():
        exit_status.write_at_exit(_rewrite(run, line, BY_LIBC, UNKNOWN))


def _watch_exits() -> None:
    end_at_once, exit_at_once = hooks.guarded("process_record")(_end_at_once), os._exit

    @functools.wraps(exit_at_once)
    def _exit(status: int) -> Any:
        end_at_once(status)
        exit_at_once(status)

    os._exit = _exit


def _watch_children(subprocess: ModuleType) -> None:
    """Wrap what takes the exit status of a child, and what ends one on purpose: such an end is no failure."""
    kind: Any = subprocess.Popen
    note, left = hooks.guarded("process_record")(note_child), [MAX_CHILDREN]
    take_status, send_signal = kind._handle_exitstatus, kind.send_signal

    @functools.wraps(take_status)
    def handle(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = take_status(self, *args, **kwargs)
        if self.returncode and left[0] > 0:
            left[0] -= 1
            note(self.pid, 0 if getattr(self, "_is_signalled", False) else self.returncode)
        return result

    @functools.wraps(send_signal)
    def send(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._is_signalled = True
        return send_signal(self, *args, **kwargs)

    kind._handle_exitstatus, kind.send_signal = handle, send


def note_child(pid: int, code: int) -> None:
    """`code`: below 0 the signal that ended it."""
    if ascend_studio.RUN in os.environ:
        text = "%04d" % ((code if code >= 0 else 128 - code) & 0xFF)
        _append(os.environ[ascend_studio.RUN], pid, os.getpid(), 0, time.time_ns(), CHILD, REGULAR, text)


def _end_at_once(status: int) -> None:
    end_process(REGULAR if _is_past_end else AT_ONCE, int(status))
