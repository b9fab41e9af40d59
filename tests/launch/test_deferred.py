"""What the engine's steps leave to be told."""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.script.modules import ENGINE

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module alone: the package beside it imports MindSpore."""
    monkeypatch.syspath_prepend(str(Path(ENGINE, "ascend_engine")))
    yield importlib.import_module("deferred").DeferredCalls()
    sys.modules.pop("deferred", None)


def test_that_calls_are_made_in_their_order(later: Any) -> None:
    told: list[int] = []
    for number in range(1000):
        later.do(told.append, number)
    later.flush()
    assert told == list(range(1000))


def test_that_a_call_is_made_without_anyone_asking(later: Any) -> None:
    told = threading.Event()
    later.do(told.set)
    assert told.wait(10)


def test_that_a_call_is_made_off_the_thread_that_left_it(later: Any) -> None:
    told = threading.Event()
    threads: list[int] = []

    def tell() -> None:
        threads.append(threading.get_ident())
        told.set()

    later.do(tell)
    assert told.wait(10)
    assert threads != [threading.get_ident()]


def test_that_an_error_comes_to_the_training(later: Any) -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise OSError("disk full")

    later.do(fail)
    assert failed.wait(10)
    later.thread.join(10)
    with pytest.raises(OSError, match="disk full"):
        later.do(print)
