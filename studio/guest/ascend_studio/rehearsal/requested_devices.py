"""The devices that a script asks for where the CPU takes their place, with the index that a card would have."""

from __future__ import annotations

import threading

if False:
    from typing import Any, Callable, List

listeners: List[Callable[[Any, str], None]] = []
"""Called with what was put on a device, or None, and the device as "cuda:0"."""
_local = threading.local()


def select(device: str) -> None:
    """Make a card the current one of this thread."""
    _local.index = int(device.rpartition(":")[2])


def current() -> int:
    return int(getattr(_local, "index", 0))


def resolved(device: Any) -> str:
    """Return "cuda:0" for a device, its name, an index or None, which is the current card; "" for the CPU."""
    from ascend_studio.rehearsal import redirect

    if device is None or (redirect.is_index(device) and device < 0):
        return "%s:%d" % (redirect.main_type(), current())
    if redirect.is_index(device):
        return "%s:%d" % (redirect.main_type(), device)
    kind, _, index = str(device).partition(":")
    if kind not in ("cuda", "npu"):
        return ""
    return "%s:%d" % (kind, int(index) if index.isdigit() else current())


def note(owner: Any, device: Any) -> None:
    """Tell the listeners that a device was asked for."""
    if listeners:
        text = resolved(device)
        for listener in listeners if text else ():
            listener(owner, text)
