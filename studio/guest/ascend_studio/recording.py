"""Our own tensor operations, kept out of a dump that msprobe makes meanwhile: the studio's, or the user's own.

msprobe wraps the framework's functions for the whole process, so that whatever the studio computes of a tensor while a
debugger runs would stand in the dump as if the training had called it. Its hooks ask first whether the debugger runs:
`Runtime` of msprobe 8 and 26, for torch, torch_npu and MindSpore alike, and the service's own switch of msprobe 1.
"""

from __future__ import annotations

import contextlib
import sys
import threading

if False:  # typing costs more at the start than all the rest
    from typing import Any, Iterator, List, Tuple

RUNTIME = "msprobe.core.common.runtime"
STAND_IN = "torch_npu"
DEBUGGERS = ("msprobe.pytorch", "msprobe.mindspore")
_thread = threading.local()


def is_own_work() -> bool:
    """Return whether this thread works for the studio at the moment."""
    return bool(getattr(_thread, "depth", 0))


def begin_own_work() -> None:
    """Mark what this thread does until `end_own_work` as the studio's; may be nested."""
    _thread.depth = getattr(_thread, "depth", 0) + 1


def end_own_work() -> None:
    _thread.depth -= 1


@contextlib.contextmanager
def own_work() -> Iterator[None]:
    begin_own_work()
    try:
        yield
    finally:
        end_own_work()


@contextlib.contextmanager
def without_stand_in() -> Iterator[None]:
    """Hide a rehearsal's stand-in for torch_npu, unless the training has imported it, from a tool that is imported
    meanwhile: msprobe tells by the import alone whether it is on an NPU.
    """
    modules: Any = sys.modules
    is_hidden = STAND_IN not in modules
    if is_hidden:
        modules[STAND_IN] = None  # an import of it raises ModuleNotFoundError
    try:
        yield
    finally:
        if is_hidden:
            del modules[STAND_IN]


class Undumped:
    """A context in which msprobe records nothing. Costs two look-ups where it is not loaded."""

    def __init__(self) -> None:
        self.paused: List[Tuple[Any, str]] = []

    def __enter__(self) -> None:
        for owner, switch in _switches():
            if getattr(owner, switch, False) is True:
                setattr(owner, switch, False)
                self.paused.append((owner, switch))

    def __exit__(self, *error: object) -> None:
        while self.paused:
            owner, switch = self.paused.pop()
            setattr(owner, switch, True)


class Unrecorded(Undumped):
    """A context in which msprobe records nothing, and a rehearsal counts nothing."""

    def __enter__(self) -> None:
        begin_own_work()
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        end_own_work()
        super().__exit__(*error)


def _switches() -> Iterator[Tuple[Any, str]]:
    runtime = sys.modules.get(RUNTIME)
    if runtime is not None:
        yield getattr(runtime, "Runtime", None), "is_running"
        return
    for name in DEBUGGERS:
        debugger = getattr(sys.modules.get(name), "PrecisionDebugger", None)
        yield getattr(getattr(debugger, "_instance", None), "service", None), "switch"
