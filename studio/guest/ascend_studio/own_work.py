"""Tells what the studio computes inside a training from what the training computes: a rehearsal counts the training's
operators and its questions about devices alone.
"""

from __future__ import annotations

import contextlib
import sys
import threading

if False:
    from typing import Any, Iterator

STAND_IN = "torch_npu"
_thread = threading.local()


def is_running() -> bool:
    """Return whether this thread works for the studio at the moment."""
    return bool(getattr(_thread, "depth", 0))


def begin() -> None:
    """Mark what this thread does until `end` as the studio's; may be nested."""
    _thread.depth = getattr(_thread, "depth", 0) + 1


def end() -> None:
    _thread.depth -= 1


@contextlib.contextmanager
def running() -> Iterator[None]:
    begin()
    try:
        yield
    finally:
        end()


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
