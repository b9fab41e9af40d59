"""Many items of work in a few processes, where one that kills or blocks its process takes nothing else along.

Each child is a fork of a process that has one thread: it has the work and all that it needs, and only indices and
answers travel. It ends when its pool ends it, or when its parent is gone.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.context import ForkProcess

BATCH = 8
"""Items that a child is given at once: it does not wait for its parent between them."""
LONGEST = 60.0
"""Seconds that one item may take."""

Failure = Literal["crashed", "hung"]


@dataclass(kw_only=True)
class _Worker:
    """A child, and the items that it was given and has not answered yet, in order; `since` when it began the first."""

    process: ForkProcess
    pipe: Connection
    unanswered: list[int] = field(default_factory=list)
    started: float = 0.0


class WorkerPool:
    """`work`: from an index to bytes. `tick` is called a few times a second, and may raise to end it all. Used as a
    context: nothing of it is left behind."""

    def __init__(
        self,
        work: Callable[[int], bytes],
        max_workers: int,
        tick: Callable[[], object] = bool,
        longest: float = LONGEST,
    ) -> None:
        self._work = work
        self._max_workers = max_workers
        self._tick = tick
        self._longest = longest
        self._workers: list[_Worker] = []

    def __enter__(self) -> WorkerPool:
        gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _stop_worker(worker)
        self._workers.clear()
        gc.unfreeze()

    def run(self, items: Sequence[int]) -> Iterator[tuple[int, bytes | Failure]]:
        """(item, answer) as they come, in no order."""
        pending = list(reversed(items))
        self._workers = [self._start_worker() for _ in range(min(self._max_workers, len(pending)))]
        for worker in self._workers:
            _send_items(worker, pending)
        while busy := [worker for worker in self._workers if worker.unanswered]:
            self._tick()
            for worker in self._ready(busy):
                item, answer = self._answer_of(worker)
                yield item, answer
                if len(worker.unanswered) < BATCH // 2:
                    _send_items(worker, pending)

    def _ready(self, busy: list[_Worker]) -> list[_Worker]:
        """Those with an answer, those that died, and those that take too long."""
        now = time.monotonic()
        overdue = [worker for worker in busy if now - worker.started > self._longest]
        if overdue:
            return overdue
        ready = wait([worker.pipe for worker in busy], timeout=0.2)
        return [worker for worker in busy if worker.pipe in ready]

    def _answer_of(self, worker: _Worker) -> tuple[int, bytes | Failure]:
        item = worker.unanswered.pop(0)
        failure: Failure = "hung"
        if worker.pipe.poll():
            try:
                answer = worker.pipe.recv_bytes()
                worker.started = time.monotonic()
                return item, answer
            except (EOFError, OSError):
                failure = "crashed"
        self._replace(worker)
        return item, failure

    def _replace(self, worker: _Worker) -> None:
        """Another child does what this one was still to do."""
        _stop_worker(worker)
        replacement = self._start_worker()
        worker.process, worker.pipe = replacement.process, replacement.pipe
        unanswered, worker.unanswered = worker.unanswered, []
        _send_items(worker, unanswered[::-1])

    def _start_worker(self) -> _Worker:
        parent_end, child_end = multiprocessing.Pipe()
        other_pipes = [worker.pipe for worker in self._workers]
        context = multiprocessing.get_context("fork")
        process = context.Process(
            target=_answer_until_closed, args=(self._work, child_end, [parent_end, *other_pipes]), daemon=True
        )
        process.start()
        child_end.close()
        return _Worker(process=process, pipe=parent_end)


def _send_items(worker: _Worker, pending: list[int]) -> None:
    """Takes from the end of `left`."""
    if not worker.unanswered:
        worker.started = time.monotonic()
    with suppress(OSError):  # a child that died: its pipe tells
        while pending and len(worker.unanswered) < BATCH:
            worker.unanswered.append(pending.pop())
            worker.pipe.send_bytes(str(worker.unanswered[-1]).encode())


def _stop_worker(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _answer_until_closed(work: Callable[[int], bytes], pipe: Connection, inherited: list[Connection]) -> None:
    """In the child. Signals to the group are the parent's business; a pipe that is closed is the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for other in inherited:
        other.close()
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(work(int(pipe.recv_bytes())))
    os._exit(0)
