"""What the steps leave to be told, told by a thread of its own: after some milliseconds of computing, a record finds
nothing of what it needs in the processor's caches. Several at once, on another core, cost the training a fraction."""

from __future__ import annotations

import atexit
import collections
import threading
import time
from typing import Any

EVERY = 0.1  # seconds: what a kill takes with it, and what a curve is late


class DeferredCalls:
    """Calls in their order. An error of one is raised where the next is left, or in `flush`."""

    def __init__(self) -> None:
        self.waiting: collections.deque[tuple[Any, ...]] = collections.deque()
        self.error: BaseException | None = None
        # Reentrant: what is told may itself want all before it told.
        self.lock = threading.RLock()
        self.thread: threading.Thread | None = None

    def do(self, call: Any, *args: Any) -> None:
        self.waiting.append((call, args))
        if self.thread is None:
            self._start()
        elif self.error is not None:
            self.flush()

    def flush(self) -> None:
        """All that was left is told when this returns."""
        with self.lock:
            if self.error is not None:
                error, self.error = self.error, None
                raise error
            while self.waiting:
                call, args = self.waiting.popleft()
                call(*args)

    def _start(self) -> None:
        self.thread = threading.Thread(target=self._run, name="later", daemon=True)
        self.thread.start()
        atexit.register(self.flush)

    def _run(self) -> None:
        while self.error is None:
            time.sleep(EVERY)
            try:
                self.flush()
            except BaseException as error:
                self.error = error
