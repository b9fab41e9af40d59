"""The parts of the engine that need no MindSpore."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launch.engine_config import config_of
from tests.launch.engine_sources import ROOT, SOURCES

# What an old interpreter reads before it can be told that it is one.
READ_FIRST = ("__init__.py", "__main__.py", "options.py", "failures.py", "stopping.py", "ranks.py")
# debugpy: only where a debugger was asked for.
ALLOWED = sys.stdlib_module_names | {"numpy", "ascend_studio", "ascend_engine", "debugpy"}

from ascend_engine import data, failures, nonfinite_values, prefetch, schedule  # noqa: E402
from ascend_engine.parallel import ranks  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ascend_engine.options import Config

Batch = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]
sizes = st.integers(1, 300)
seeds = st.integers(0, 2**31 - 1)


@given(size=sizes, seed=seeds, epoch=st.integers(0, 1000))
def test_that_every_epoch_sees_every_sample_once(size: int, seed: int, epoch: int) -> None:
    numbers = data.sample_numbers(size, size, seed, epoch * size, (epoch + 1) * size)
    assert sorted(numbers) == list(range(size))


def test_that_epochs_and_seeds_differ_in_order() -> None:
    orders = [tuple(data.epoch_order(50, seed, epoch)) for seed in (1, 2) for epoch in (0, 1)]
    assert len(set(orders)) == 4


@given(size=sizes, seed=seeds, cut=st.integers(0, 500))
def test_that_any_position_can_be_resumed(size: int, seed: int, cut: int) -> None:
    whole = data.sample_numbers(size, size, seed, 0, 500)
    parts = [data.sample_numbers(size, size, seed, 0, cut), data.sample_numbers(size, size, seed, cut, 500)]
    assert np.array_equal(np.concatenate(parts), whole)


def read(stream: data.Stream, begin: int, end: int) -> np.ndarray[Any, Any]:
    return np.concatenate([stream[number][0] for number in range(begin, end)])


@given(step=st.integers(0, 100), accumulate=st.sampled_from([1, 2, 4, 8]))
def test_that_a_step_sees_the_same_samples_however_it_is_split(step: int, accumulate: int) -> None:
    values = np.arange(100)
    stream = data.Stream(data.Arrays(values, values), 1, 32 // accumulate, 100, 0, 1)
    seen = read(stream, step * accumulate, (step + 1) * accumulate)
    assert np.array_equal(seen, data.sample_numbers(100, 100, 1, step * 32, step * 32 + 32))


@given(workers=st.integers(1, 8), batch=st.integers(1, 8), size=st.integers(64, 200), step=st.integers(0, 50))
def test_that_workers_see_together_what_one_process_sees(workers: int, batch: int, size: int, step: int) -> None:
    dataset = data.Arrays(np.arange(size), np.arange(size))
    parts = [data.Stream(dataset, 1, batch, size, rank, workers)[step][0] for rank in range(workers)]
    whole = data.Stream(dataset, 1, batch * workers, size, 0, 1)
    assert np.array_equal(np.concatenate(parts), whole[step][0])
    firsts = [data.Stream(dataset, 1, batch, size, rank, workers).first_sample(step) for rank in range(workers)]
    assert firsts == [whole.first_sample(step) + rank * batch for rank in range(workers)]


def parsed(line: str) -> Config:
    return config_of(f"--recipe linear --optimizer sgd --lr 1 --steps 9 {line}")


@given(size=st.integers(24, 200), seed=seeds)
def test_that_an_epoch_without_its_remainder_ends_with_its_last_whole_step(size: int, seed: int) -> None:
    config = parsed(f"--batch 4 --accumulate 3 --workers 2 --drop-remainder --seed {seed}")
    stream = data.stream(data.Arrays(np.arange(size), np.arange(size)), config, 0, 2)
    steps = size // 24
    assert stream.used == steps * 24
    one, other = (data.stream(stream.data, config, rank, 2) for rank in (0, 1))
    for epoch in range(3):
        micros = epoch * steps * 3, (epoch + 1) * steps * 3
        seen = np.concatenate([read(one, *micros), read(other, *micros)])
        assert set(seen) == set(data.epoch_order(size, seed, epoch)[: stream.used])
        assert len(seen) == stream.used


def test_that_an_epoch_without_a_whole_step_is_refused() -> None:
    with pytest.raises(failures.Failure, match=r"launch\.nothing_whole"):
        data.stream(data.Arrays(np.arange(7), np.arange(7)), parsed("--batch 8 --drop-remainder"))


class Numbered:
    """A stream that gives the numbers themselves, from several threads at once: each read waits for `together` - 1
    others."""

    def __init__(self, together: int = 1, bad: int = -1):
        self.gate = threading.Barrier(together)
        self.bad = bad
        self.highest = -1

    def __getitem__(self, number: int) -> Batch:
        self.gate.wait(10)
        self.highest = max(self.highest, number)
        if number == self.bad:
            raise KeyError(number)
        return np.array([number]), np.array([-number])


def number_of(batch: Batch) -> int:
    return int(batch[0][0])


@given(begin=st.integers(0, 20), count=st.integers(1, 30), workers=st.integers(1, 4), window=st.integers(1, 8))
def test_that_reading_ahead_gives_the_same_in_the_same_order(begin: int, count: int, workers: int, window: int) -> None:
    read = prefetch.Ahead(Numbered(), begin + count, workers, window)
    assert [number_of(read[number]) for number in range(begin, begin + count)] == list(range(begin, begin + count))
    for thread in read.threads:
        thread.join(10)
        assert not thread.is_alive()


def test_that_reading_ahead_is_parallel_and_ends_when_it_is_closed() -> None:
    stream = Numbered(together=3)
    read = prefetch.Ahead(stream, 1_000_000, 3, 3)
    assert number_of(read[0]) == 0  # which three have to be read for at once
    assert stream.highest <= 3
    stream.gate.abort()
    read.close()
    for thread in read.threads:
        thread.join(10)
        assert not thread.is_alive()
        assert thread.daemon
    with pytest.raises(IndexError):  # not a wait for ever
        read[1_000]


def test_that_what_cannot_be_read_is_raised_where_it_is_asked_for() -> None:
    read = prefetch.Ahead(Numbered(bad=2), 10, 2, 4)
    assert [number_of(read[number]) for number in (0, 1)] == [0, 1]
    with pytest.raises(KeyError) as raised:
        read[2]
    assert failures.location_of(raised.value)[0] == __file__
    read.close()


def test_that_each_thread_has_something_to_read() -> None:
    stream = data.stream(data.Arrays(np.arange(9), np.arange(9)), parsed("--batch 2"))
    assert isinstance(prefetch.reader(stream, parsed("--batch 2")), prefetch.Directly)
    read = prefetch.reader(stream, parsed("--batch 2 --data-workers 5 --prefetch 3 --accumulate 2"))
    assert isinstance(read, prefetch.Ahead)
    assert (read.window, read.end, len(read.threads)) == (5, 18, 5)


def test_that_the_order_stays_what_it_was_in_earlier_releases() -> None:
    assert list(data.epoch_order(8, 1, 0)) == [3, 5, 2, 7, 0, 6, 1, 4]


def test_that_the_digits_are_complete() -> None:
    folder = ROOT / "assets" / "digits"
    pixels = np.fromfile(folder / "digits.bin", np.uint8)
    labels = np.fromfile(folder / "labels.bin", np.uint8)
    assert pixels.size == 1797 * 64
    assert pixels.max() == 16
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert "CC BY 4.0" in (folder / "LICENSE.txt").read_text("utf-8")


def rates(options_of_schedule: str, steps: int) -> list[float]:
    line = f"--recipe linear --batch 1 --optimizer sgd --lr 1 --steps {steps} {options_of_schedule}"
    config = config_of(line)
    return [round(schedule.rate(config, step), 4) for step in range(1, steps + 1)]


def test_that_a_schedule_is_a_function_of_the_step_alone() -> None:
    assert rates("", 3) == [1, 1, 1]
    assert rates("--warmup 2", 4) == [0.5, 1, 1, 1]
    assert rates("--schedule step --decay-every 2 --decay-rate 0.1", 5) == [1, 1, 0.1, 0.1, 0.01]
    assert rates("--schedule step --decay-every 2 --decay-rate 0.5 --warmup 2", 5) == [0.5, 1, 1, 1, 0.5]
    assert rates("--schedule cosine", 4) == [1, 0.8536, 0.5, 0.1464]
    assert rates("--schedule cosine --warmup 4", 4) == [0.25, 0.5, 0.75, 1]


@dataclass(frozen=True)
class Outcome:
    loss: float = 1.0
    finite: bool = False
    norm: float = float("inf")
    sound: bool = True


@pytest.mark.parametrize(
    ("outcome", "scale", "dynamic", "what"),
    [
        (Outcome(finite=True), None, False, ""),
        (Outcome(), None, False, "gradient"),
        (Outcome(loss=float("nan")), None, False, "loss"),
        (Outcome(loss=float("nan"), sound=False), None, False, "weight"),
        (Outcome(), 2.0, True, ""),
        (Outcome(), 1.0, True, "gradient"),
        (Outcome(), 1.0, False, ""),
        (Outcome(loss=float("inf")), 1024.0, True, "loss"),
    ],
)
def test_that_the_first_cause_of_a_nan_is_named(
    outcome: Outcome, scale: float | None, dynamic: bool, what: str
) -> None:
    assert nonfinite_values.what_of(outcome, scale, dynamic) == what


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("Memory not enough: current free memory size 12 is smaller")],
)
def test_that_out_of_memory_is_recognised(error: Exception) -> None:
    rule, _, _ = failures.describe(error)
    assert rule == "launch.out_of_memory"


def test_that_a_message_in_frames_is_told_by_its_first_sentence() -> None:
    framed = RuntimeError("\n-----\n- Kernel select failed:\n-----\nUnsupported op [AdamW]")
    assert failures.first_line(framed) == "- Kernel select failed:"
    assert failures.first_line(RuntimeError()) == ""


def test_that_the_place_of_an_error_is_not_inside_a_library() -> None:
    try:
        np.concatenate([])
    except ValueError as error:
        path, line = failures.location_of(error)
    assert path == __file__
    assert line > 0


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_that_the_engine_is_python_39_and_its_start_37(path: Path) -> None:
    version = (3, 7) if path.name in READ_FIRST else (3, 9)
    ast.parse(path.read_text("utf-8"), feature_version=version)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_that_the_engine_imports_only_what_is_on_its_path(path: Path) -> None:
    """Each framework in its own part: an interpreter has one of the two."""
    frameworks = {"torch"} if "pytorch" in path.parts else {"mindspore"}
    assert set(imported(path)) <= ALLOWED | frameworks


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).split(".")[0]


@pytest.mark.parametrize(("launcher_kills", "first", "code"), [(True, 1, 1), (False, 0, 137)])
def test_that_of_ranks_that_ended_between_two_looks_the_one_that_the_other_followed_was_the_first(
    launcher_kills: bool, first: int, code: int, tmp_path: Path
) -> None:
    """msrun kills the others; those of torchrun lose their connection to one that was killed, and leave a code."""
    children = [subprocess.Popen(("sleep", "60")) for _ in range(2)]
    for rank, child in enumerate(children):
        (tmp_path / f"rank_{rank}.pid").write_text(str(child.pid))
    watch = ranks.Watch(tmp_path, 2, launcher_kills)
    watch.update()
    assert watch.first is None
    (tmp_path / "rank_1.code").write_text("1")
    for child in children:
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    watch.update()
    assert (watch.first.rank, watch.first.code) == (first, code)
    assert [child.wait() for child in children] == [-9, -9]
