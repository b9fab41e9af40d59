"""Leaves a line for each Python process of a run: when it began and how it ended, in one file of the run's folder.

A process that a signal kills runs no function of its end, and its line says so by what it lacks. The line has its whole
length from the beginning: a full disk cannot take the end away. Python 3.7, standard library only.
"""

from __future__ import annotations

import atexit
import builtins
import functools
import os
import sys
import threading
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Optional, Tuple

FILE = "processes.a%d"
# pid, pid of the parent, begin and end in ns since the epoch, kind, way and code of the end.
LINE = "%010d %010d %019d %019d %s %s %03d\n"
SCRIPT, COMMAND = "s", "c"  # `python -c` only asks something, most of the time
CHILD = "p"  # the line of a child by its parent, of the module subprocess, which knows its code better than the child
MAX_CHILDREN = 100
NONE, REGULAR, AT_ONCE = "-", "r", "x"  # AT_ONCE: by os._exit(), past all that is to be done at the end
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")

# The process, where its line is, and its first words; None before the first line and after the end.
_line: Optional[Tuple[int, int, Tuple[Any, ...]]] = None
# What sys.exit() was given last, and the outermost frame that it left if nobody caught it.
_exit: Optional[Tuple[int, Any]] = None


def begin() -> None:
    begin_process()
    atexit.register(_end)
    _watch_exits()
    hooks.after_import("subprocess", _watch_children)


def begin_process() -> None:
    """Write the line of this process, unless it has one: a child that was forked begins here."""
    global _line, _exit
    run = os.environ.get(ascend_studio.RUN)
    if run is None or (_line is not None and _line[0] == os.getpid()):
        return
    kind = COMMAND if getattr(sys, "argv", [""])[:1] == ["-c"] else SCRIPT
    words = (os.getpid(), os.getppid(), time.time_ns())
    _line, _exit = (os.getpid(), _append(run, *words, 0, kind, NONE, 0), (*words, kind)), None


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
    pid, parent, begun, kind = line[2]
    descriptor = os.open(_path(run), os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        text = LINE % (pid, parent, begun, time.time_ns(), kind, exit_kind, code & 0xFF)
        os.pwrite(descriptor, text.encode(), line[1])
    finally:
        os.close(descriptor)


def _path(run: str) -> str:
    return os.path.join(run, FILE % process_rank.setting(ascend_studio.ATTEMPT, 1))


def _end() -> None:
    hooks.guarded("process_record")(lambda: end_process(REGULAR, exit_code()))()


def exit_code() -> int:
    """Return the exit code of this process at its end, as far as Python knows it: a SystemExit that was raised by hand
    leaves no trace."""
    error = getattr(sys, "last_value", None)
    if error is not None and not isinstance(error, KeyboardInterrupt):
        return 1
    return _exit[0] if _exit is not None and not _has_returned(_exit[1]) else 0


def _has_returned(frame: Any) -> bool:
    """Tell whether a frame that has ended went to its own end: somebody caught the exit then."""
    import opcode

    return frame.f_lasti >= 0 and opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _RETURNS


def _watch_exits() -> None:
    note, end_at_once = hooks.guarded("process_record")(_note_exit), hooks.guarded("process_record")(_end_at_once)
    exit_regularly, exit_at_once = sys.exit, os._exit

    @functools.wraps(exit_regularly)
    def exit(*status: Any) -> Any:
        note(*status)
        exit_regularly(*status)

    @functools.wraps(exit_at_once)
    def _exit(status: int) -> Any:
        end_at_once(status)
        exit_at_once(status)

    sys.exit, os._exit = exit, _exit
    quitter: Any = type(getattr(builtins, "exit", None))
    if quitter.__name__ == "Quitter":  # exit() and quit() of the module site
        quit_regularly = quitter.__call__

        @functools.wraps(quit_regularly)
        def __call__(self: Any, code: Any = None) -> Any:
            note(code)
            quit_regularly(self, code)

        quitter.__call__ = __call__


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
        code = code if code >= 0 else 128 - code
        _append(os.environ[ascend_studio.RUN], pid, os.getpid(), 0, time.time_ns(), CHILD, REGULAR, code & 0xFF)


def _end_at_once(status: int) -> None:
    end_process(AT_ONCE, int(status))


def _note_exit(status: Any = None) -> None:
    """Remember an exit of the main thread: another one ends alone."""
    global _exit
    if threading.current_thread() is threading.main_thread():
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
        _exit = 0 if status is None else status if isinstance(status, int) else 1, frame
