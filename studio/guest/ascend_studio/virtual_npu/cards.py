"""The cards of the host: how many a process sees, and which one is current in a thread."""

from __future__ import annotations

import os
import threading

if False:
    from typing import Any

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
CARDS = "ASCEND_STUDIO_REHEARSAL_DEVICES"
INVALID = (
    "NPU function error: aclrtSetDevice, error code is 107001\n[Error]: Invalid device ID.\n"
    "        Check whether the device ID is valid: npu:%s is asked for and this process sees %d NPU%s."
)
FORKED = (
    "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the 'spawn' start "
    "method"
)
_local = threading.local()
_used_in = 0
_initialized_in = 0
_is_forked = False
"""Whether this process was forked from one that had begun to use its cards."""


def on_host() -> int:
    """Return how many cards the host pretends to have: at least one for each process of a launcher."""
    return max(1, *(_number(os.environ.get(name)) for name in (CARDS, "LOCAL_WORLD_SIZE")))


def _number(text: Any) -> int:
    try:
        return int(text or 1)
    except ValueError:
        return 1


def count() -> int:
    """Return how many cards this process sees. As with CUDA, the list ends before the first index that is none."""
    text = os.environ.get(VISIBLE)
    if text is None:
        return on_host()
    seen = 0
    for word in text.split(","):
        if not word.strip().isdigit() or int(word) >= on_host():
            break
        seen += 1
    return seen


def current() -> int:
    return getattr(_local, "index", 0)


def select(index: int) -> None:
    """Make a card the current one of this thread. Raises RuntimeError beyond the cards, as aclrtSetDevice does."""
    _local.index = checked(index)
    initialize()


def checked(index: int) -> int:
    """Return the index of a card that exists. Raises RuntimeError for any other."""
    seen = count()
    if not 0 <= index < seen:
        raise RuntimeError(INVALID % (index, seen, "" if seen == 1 else "s"))
    return index


def index_of(device: Any) -> int:
    """Return the index that a device, its name, an index or None (the current one) stands for. Raises RuntimeError
    beyond the cards, and ValueError for a device of another type.
    """
    if device is None:
        return current()
    if isinstance(device, int):
        return current() if device < 0 else checked(device)
    kind, _, number = str(device).partition(":")
    if kind != "npu":
        raise ValueError("Expected a npu device, but got: %s" % device)
    return checked(int(number)) if number else current()


def mark_used() -> None:
    """Remember that this process used a card: a child forked from it cannot, as with any accelerator."""
    global _used_in
    _used_in = os.getpid()


def initialize() -> None:
    """Remember that this process has begun to use its cards, as torch_npu's _lazy_init does: until then a DeviceMesh
    makes the card of LOCAL_RANK the current one."""
    global _initialized_in
    _initialized_in = os.getpid()


def is_initialized() -> bool:
    return _initialized_in == os.getpid()


def follow_forks() -> None:
    """Know of a process that is forked from this one whether the cards were in use."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_fork)


def _begin_fork() -> None:
    global _is_forked
    _is_forked = bool(_initialized_in)


def refuse_fork() -> None:
    """Raise RuntimeError in a process that was forked from one with cards in use, as torch_npu does."""
    if _is_forked:
        raise RuntimeError(FORKED)


def is_in_bad_fork() -> bool:
    return bool(_used_in) and _used_in != os.getpid()


class Selected:
    """`with torch.npu.device(…)`: a card that is the current one inside."""

    def __init__(self, device: Any) -> None:
        self.index = None if device is None else index_of(device)
        self.idx = -1 if self.index is None else self.index
        self._before = 0

    def __enter__(self) -> Selected:
        self._before = current()
        if self.index is not None:
            select(self.index)
        return self

    def __exit__(self, *_error: Any) -> None:
        select(self._before)
