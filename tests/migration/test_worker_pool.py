"""Work in several processes: all answers come, whatever becomes of the processes."""

from __future__ import annotations

import os
import signal
import time

import pytest

from backends.migration.scan.worker_pool import WorkerPool
from studio import processes


def doubled(item: int) -> bytes:
    return str(item * 2).encode()


def test_that_every_item_is_answered_once() -> None:
    with WorkerPool(doubled, 3) as pool:
        answers = dict(pool.run(range(100)))
    assert answers == {item: str(item * 2).encode() for item in range(100)}


def test_that_nothing_to_do_is_done() -> None:
    with WorkerPool(doubled, 3) as pool:
        assert list(pool.run([])) == []


def test_that_an_item_that_kills_its_process_takes_no_other_along() -> None:
    def work(item: int) -> bytes:
        if item % 10 == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return doubled(item)

    with WorkerPool(work, 2) as pool:
        answers = dict(pool.run(range(40)))
    assert {item for item, answer in answers.items() if answer == "crashed"} == {3, 13, 23, 33}
    assert {item for item, answer in answers.items() if answer == doubled(item)} == set(range(40)) - {3, 13, 23, 33}


def test_that_an_item_that_never_ends_is_given_up() -> None:
    def work(item: int) -> bytes:
        while item == 1:
            time.sleep(1)
        return doubled(item)

    with WorkerPool(work, 1, longest=0.3) as pool:
        answers = dict(pool.run(range(4)))
    assert answers == {0: b"0", 1: "hung", 2: b"4", 3: b"6"}


def test_that_a_tick_can_end_it_while_nobody_answers() -> None:
    class Enough(Exception):
        pass

    begun = time.monotonic()

    def tick() -> None:
        if time.monotonic() - begun > 0.3:
            raise Enough

    before = _children()
    with pytest.raises(Enough), WorkerPool(lambda _: time.sleep(60) or b"", 1, tick) as pool:
        list(pool.run([0]))
    assert _children() <= before


def test_that_no_process_is_left_when_the_answers_are_not_wanted_any_more() -> None:
    before = _children()
    with WorkerPool(lambda item: time.sleep(60 * item) or b"", 2) as pool:
        next(pool.run([0, 0, 1, 1]))
        assert _children() > before
    assert _children() <= before


def _children() -> set[tuple[int, int]]:
    return {(child.pid, child.start) for child in processes.descendants([os.getpid()])}
