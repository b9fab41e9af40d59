"""Work in several processes: all answers come, whatever becomes of the processes."""

from __future__ import annotations

import os
import signal
import time

import pytest

from backends.migration.scan.crew import Crew
from studio import processes


def doubled(item: int) -> bytes:
    return str(item * 2).encode()


def test_that_every_item_is_answered_once() -> None:
    with Crew(doubled, 3) as crew:
        found = dict(crew.answers(range(100)))
    assert found == {item: str(item * 2).encode() for item in range(100)}


def test_that_nothing_to_do_is_done() -> None:
    with Crew(doubled, 3) as crew:
        assert list(crew.answers([])) == []


def test_that_an_item_that_kills_its_process_takes_no_other_along() -> None:
    def work(item: int) -> bytes:
        if item % 10 == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return doubled(item)

    with Crew(work, 2) as crew:
        found = dict(crew.answers(range(40)))
    assert {item for item, answer in found.items() if answer == "crashed"} == {3, 13, 23, 33}
    assert {item for item, answer in found.items() if answer == doubled(item)} == set(range(40)) - {3, 13, 23, 33}


def test_that_an_item_that_never_ends_is_given_up() -> None:
    def work(item: int) -> bytes:
        while item == 1:
            time.sleep(1)
        return doubled(item)

    with Crew(work, 1, longest=0.3) as crew:
        found = dict(crew.answers(range(4)))
    assert found == {0: b"0", 1: "hung", 2: b"4", 3: b"6"}


def test_that_a_tick_can_end_it_while_nobody_answers() -> None:
    class Enough(Exception):
        pass

    begun = time.monotonic()

    def tick() -> None:
        if time.monotonic() - begun > 0.3:
            raise Enough

    before = _children()
    with pytest.raises(Enough), Crew(lambda _: time.sleep(60) or b"", 1, tick) as crew:
        list(crew.answers([0]))
    assert _children() <= before


def test_that_no_process_is_left_when_the_answers_are_not_wanted_any_more() -> None:
    before = _children()
    with Crew(lambda item: time.sleep(60 * item) or b"", 2) as crew:
        next(crew.answers([0, 0, 1, 1]))
        assert _children() > before
    assert _children() <= before


def _children() -> set[tuple[int, int]]:
    return {(one.pid, one.start) for one in processes.descendants([os.getpid()])}
