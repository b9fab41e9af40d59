"""Our own tensor operations, kept out of a dump that msprobe makes meanwhile: the studio's, or the user's own.

msprobe wraps the framework's functions for the whole process, so that whatever the studio computes of a tensor while a
debugger runs would stand in the dump as if the training had called it. Its hooks ask first whether the debugger runs:
`Runtime` of msprobe 8 and 26, for torch, torch_npu and MindSpore alike, and the service's own switch of msprobe 1.
"""

from __future__ import annotations

import sys

from ascend_studio import own_work

if False:  # typing costs more at the start than all the rest
    from typing import Any, Iterator, List, Tuple

RUNTIME = "msprobe.core.common.runtime"
DEBUGGERS = ("msprobe.pytorch", "msprobe.mindspore")


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
        own_work.begin()
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        own_work.end()
        super().__exit__(*error)


def _switches() -> Iterator[Tuple[Any, str]]:
    runtime = sys.modules.get(RUNTIME)
    if runtime is not None:
        yield getattr(runtime, "Runtime", None), "is_running"
        return
    for name in DEBUGGERS:
        debugger = getattr(sys.modules.get(name), "PrecisionDebugger", None)
        yield getattr(getattr(debugger, "_instance", None), "service", None), "switch"
