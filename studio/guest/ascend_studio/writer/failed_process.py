"""Leaves, at the end of a process that failed, what it failed with: one file in the run's folder.

Its exit code may reach nobody: a pipe in a shell script (`python train.py | tee log`) has the code of its last program,
and a script that joins its processes need not look at theirs. Python 3.7, standard library only.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import sys
import threading
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import process_rank, process_record

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, List

FILE = "failed.a%d.r%d.p%d.json"
LONGEST = 500
_training_thread = [0]
_thread_errors: List[BaseException] = []
"""What ended the thread that did the last step; empty where another one went on."""


def begin() -> None:
    atexit.register(_end, os.getpid())
    hooks.after_import("multiprocessing.process", _watch_children)
    hooks.on_step("failed_thread", _stepped)
    if hasattr(threading, "excepthook"):  # from Python 3.8 on
        threading.excepthook = _noting_thread(threading.excepthook)


def _end(pid: int) -> None:
    """Python keeps the exception that ended it, whoever prints it."""
    error = getattr(sys, "last_value", None) or next(iter(_thread_errors), None)
    if os.getpid() == pid and error is not None and not isinstance(error, KeyboardInterrupt):
        _leave("%s: %s" % (type(error).__name__, error))


def _stepped(_step: int) -> None:
    _training_thread[0] = threading.get_ident()
    del _thread_errors[:]


def _noting_thread(report: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what Python calls with an exception that ended a thread: a training in a thread ends by it unheard."""

    @functools.wraps(report)
    def note_and_report(args: Any) -> Any:
        if threading.get_ident() == _training_thread[0] and args.exc_value is not None:
            _thread_errors[:] = [args.exc_value]
        return report(args)

    return note_and_report


def _watch_children(process: ModuleType) -> None:
    """Wrap what runs a child of multiprocessing: it returns the exit code, forked or spawned."""
    kind: Any = process.BaseProcess
    original = kind._bootstrap
    begin_child, end_child = (
        hooks.guarded("process_record")(process_record.begin_process),
        hooks.guarded("failed_process")(_end_child),
    )

    @functools.wraps(original)
    def bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        begin_child()
        code = original(self, *args, **kwargs)
        end_child(code)
        return code

    kind._bootstrap = bootstrap
    for name in ("terminate", "kill"):
        setattr(kind, name, _noting(getattr(kind, name)))


def _noting(end: Any) -> Any:
    """Return what ends a child on purpose, and says so: that is no failure."""
    note = hooks.guarded("process_record")(process_record.note_child)

    @functools.wraps(end)
    def end_child(self: Any) -> None:
        note(self.pid, 0)
        end(self)

    return end_child


def _end_child(code: Any) -> None:
    if code:
        _leave("exit code %s" % code)
    process_record.end_process(process_record.REGULAR, int(code or 0))


def _leave(error: str) -> None:
    run = os.environ.get(ascend_studio.RUN)
    if run is None:
        return
    name = FILE % (process_rank.setting(ascend_studio.ATTEMPT, 1), process_rank.rank(), os.getpid())
    text = json.dumps({"time": time.time_ns(), "error": error[:LONGEST]}).encode("utf-8", "replace")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(os.path.join(run, name), flags, ascend_studio.mode_in(run))
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)
