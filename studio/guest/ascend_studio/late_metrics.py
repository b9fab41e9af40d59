"""Metrics in their order, each written when the last of its numbers has arrived from the device.

Those of short steps are written several at a time: after some milliseconds of computing the first record finds nothing
of what it needs in the processor's caches, and takes ten times as long as one right behind it. A process that is killed
loses what it would have written within the next tenth of a second.
"""

from __future__ import annotations

import atexit
import collections
import functools
import multiprocessing.util
import os
import time

import ascend_studio
from ascend_studio import hooks, torch_numbers

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Deque, Dict

_FLOAT = {float}
EVERY = 0.1  # seconds
LEAVING = ("_exit", "execv", "execve")
PATIENCE = 2.0  # seconds at the end of a process


class LateMetrics:
    """The queue of metrics. `finish` is called before the last are written, at the end of each process that has begun
    here."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self.finish = finish
        self.pid = 0
        self.due = 0.0
        self.waiting: Deque[Waiting] = collections.deque()

    def write(self, step: int, find: Callable[[], Dict[str, Any]]) -> None:
        """`find` gives the values, without any that is None, when they are about to be written."""
        self.begin_process()
        self.waiting.append(Waiting(step, find))
        if time.monotonic() >= self.due:
            self.write_out()

    def write_out(self) -> None:
        """Write those that are ready; call it where no further step is near."""
        while self.waiting and self.waiting[0].is_ready():
            self.waiting.popleft().write()
        self.due = time.monotonic() + EVERY

    def begin_process(self) -> None:
        """Start in this process, also in a child that was forked from a training: what waits there is its parent's."""
        if self.pid == os.getpid():
            return
        self.waiting.clear()
        if not self.pid:
            for name in LEAVING:
                self._watch_leaving(name)
        self.pid = os.getpid()
        # Also where an error has switched the curves off: what waits is from before it.
        end = hooks.guarded("last curves")(self._end)
        atexit.register(end, self.pid)
        # Children of multiprocessing end without atexit.
        multiprocessing.util.Finalize(None, end, (self.pid,), exitpriority=0)

    def _watch_leaving(self, name: str) -> None:
        """Wrap the functions that end the program without atexit; all ways to start another program in its place call
        the last two.
        """
        original, end = getattr(os, name), hooks.guarded("last curves")(self._end)

        @functools.wraps(original)
        def leave(*args: Any, **kwargs: Any) -> Any:
            end(os.getpid())
            return original(*args, **kwargs)

        setattr(os, name, leave)

    def _end(self, pid: int) -> None:
        """Write the rest; a device that hangs must not keep the process from ending."""
        if pid == self.pid == os.getpid():
            if not hooks.is_off("curves"):
                self.finish()
            until = time.monotonic() + PATIENCE
            while self.waiting and self._is_ready(until):
                self.waiting.popleft().write()
            ascend_studio.finish()

    def _is_ready(self, until: float) -> bool:
        while not self.waiting[0].is_ready():
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        return True


class Waiting:
    def __init__(self, step: int, find: Callable[[], Dict[str, Any]]) -> None:
        self.step = step
        self.find = find
        self.values: Dict[str, Any] = {}
        self.is_plain = False

    def is_ready(self) -> bool:
        if not self.values:
            self.values = self.find()
            self.is_plain = _FLOAT.issuperset(map(type, self.values.values()))
        return self.is_plain or all(map(torch_numbers.is_ready, self.values.values()))

    def write(self) -> None:
        values = self.values
        if not self.is_plain:
            values = {name: torch_numbers.value_of(value) for name, value in values.items()}
        ascend_studio.metric(self.step, **values)
