"""Metrics in their order, each written when the last of its numbers has arrived from the device."""

from __future__ import annotations

import atexit
import collections
import multiprocessing.util
import os
import time

import ascend_studio
from ascend_studio import hooks, torch_numbers

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Deque, Dict, Tuple

_FLOAT = {float}
PATIENCE = 2.0  # seconds at the end of a process


class LateMetrics:
    """`finish` is called before the last are written, at the end of each process that wrote one."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self.finish = finish
        self.pid = 0
        self.waiting: Deque[Tuple[int, Dict[str, Any]]] = collections.deque()

    def write(self, step: int, values: Dict[str, Any]) -> None:
        """Values that are None are left out."""
        if self.pid != os.getpid():
            self._begin_process()
        if not self.waiting and _FLOAT.issuperset(map(type, values.values())):
            ascend_studio.metric(step, **values)
            return
        self.waiting.append((step, {name: value for name, value in values.items() if value is not None}))
        while self.waiting and all(map(torch_numbers.is_ready, self.waiting[0][1].values())):
            self._write_first()

    def _write_first(self) -> None:
        step, values = self.waiting.popleft()
        ascend_studio.metric(step, **{name: torch_numbers.value_of(value) for name, value in values.items()})

    def _begin_process(self) -> None:
        """Also in a child that was forked from a training: what waits there is its parent's."""
        self.waiting.clear()
        self.pid = os.getpid()
        end = hooks.guarded("curves")(self._end)
        atexit.register(end, self.pid)
        # Children of multiprocessing end without atexit.
        multiprocessing.util.Finalize(None, end, (self.pid,), exitpriority=0)

    def _end(self, pid: int) -> None:
        """A device that hangs must not keep the process from ending."""
        if pid == os.getpid():
            self.finish()
            until = time.monotonic() + PATIENCE
            while self.waiting and self._is_ready(until):
                self._write_first()

    def _is_ready(self, until: float) -> bool:
        numbers = self.waiting[0][1].values()
        while not all(map(torch_numbers.is_ready, numbers)):
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        return True
