"""Many items of work in a few processes, where one that kills or blocks its process takes nothing else along.

Each child is a fork of a process that has one thread: it has the work and all that it needs, and only indices and
answers travel. It ends when it is told to, or when its parent is gone.
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
class _Hand:
    """A child, and the items that it was given and has not answered yet, in order; `since` when it began the first."""

    process: ForkProcess
    pipe: Connection
    waiting: list[int] = field(default_factory=list)
    since: float = 0.0


class Crew:
    """`work`: from an index to bytes. `tick` is called a few times a second, and may raise to end it all. Used as a
    context: nothing of it is left behind."""

    def __init__(
        self,
        work: Callable[[int], bytes],
        hands: int,
        tick: Callable[[], object] = bool,
        longest: float = LONGEST,
    ) -> None:
        self._work = work
        self._most = hands
        self._tick = tick
        self._longest = longest
        self._hands: list[_Hand] = []

    def __enter__(self) -> Crew:
        gc.freeze()
        return self

    def __exit__(self, *_: object) -> None:
        for hand in self._hands:
            _end(hand)
        self._hands.clear()
        gc.unfreeze()

    def answers(self, items: Sequence[int]) -> Iterator[tuple[int, bytes | Failure]]:
        """(item, answer) as they come, in no order."""
        left = list(reversed(items))
        self._hands = [self._hire() for _ in range(min(self._most, len(left)))]
        for hand in self._hands:
            _give(hand, left)
        while busy := [hand for hand in self._hands if hand.waiting]:
            self._tick()
            for hand in self._ready(busy):
                item, answer = self._answer_of(hand)
                yield item, answer
                if len(hand.waiting) < BATCH // 2:
                    _give(hand, left)

    def _ready(self, busy: list[_Hand]) -> list[_Hand]:
        """Those with an answer, those that died, and those that take too long."""
        now = time.monotonic()
        late = [hand for hand in busy if now - hand.since > self._longest]
        if late:
            return late
        ready = wait([hand.pipe for hand in busy], timeout=0.2)
        return [hand for hand in busy if hand.pipe in ready]

    def _answer_of(self, hand: _Hand) -> tuple[int, bytes | Failure]:
        item = hand.waiting.pop(0)
        failure: Failure = "hung"
        if hand.pipe.poll():
            try:
                answer = hand.pipe.recv_bytes()
                hand.since = time.monotonic()
                return item, answer
            except (EOFError, OSError):
                failure = "crashed"
        self._replace(hand)
        return item, failure

    def _replace(self, hand: _Hand) -> None:
        """Another child does what this one was still to do."""
        _end(hand)
        fresh = self._hire()
        hand.process, hand.pipe = fresh.process, fresh.pipe
        again, hand.waiting = hand.waiting, []
        _give(hand, again[::-1])

    def _hire(self) -> _Hand:
        ours, theirs = multiprocessing.Pipe()
        others = [hand.pipe for hand in self._hands]
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_work_off, args=(self._work, theirs, [ours, *others]), daemon=True)
        process.start()
        theirs.close()
        return _Hand(process=process, pipe=ours)


def _give(hand: _Hand, left: list[int]) -> None:
    """Takes from the end of `left`."""
    if not hand.waiting:
        hand.since = time.monotonic()
    with suppress(OSError):  # a child that died: its pipe tells
        while left and len(hand.waiting) < BATCH:
            hand.waiting.append(left.pop())
            hand.pipe.send_bytes(str(hand.waiting[-1]).encode())


def _end(hand: _Hand) -> None:
    hand.pipe.close()
    hand.process.kill()
    hand.process.join()


def _work_off(work: Callable[[int], bytes], pipe: Connection, foreign: list[Connection]) -> None:
    """In the child. Signals to the group are the parent's business; a pipe that is closed is the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for one in foreign:
        one.close()
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(work(int(pipe.recv_bytes())))
    os._exit(0)
