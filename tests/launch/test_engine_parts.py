"""The parts of the engine that need no MindSpore."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "backends" / "launch" / "engine"
SOURCES = sorted((ENGINE / "ascend_engine").rglob("*.py"))
# What an old interpreter reads before it can be told that it is one.
READ_FIRST = ("__init__.py", "__main__.py", "options.py", "failures.py", "stopping.py")
ALLOWED = sys.stdlib_module_names | {"mindspore", "numpy", "ascend_studio", "ascend_engine"}

sys.path += [str(ROOT / "studio" / "guest"), str(ENGINE)]
from ascend_engine import data, failures, nonfinite, options, schedule  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

sizes = st.integers(1, 300)
seeds = st.integers(0, 2**31 - 1)


@given(size=sizes, seed=seeds, epoch=st.integers(0, 1000))
def test_that_every_epoch_sees_every_sample_once(size: int, seed: int, epoch: int) -> None:
    numbers = data.sample_numbers(size, seed, epoch * size, (epoch + 1) * size)
    assert sorted(numbers) == list(range(size))


def test_that_epochs_and_seeds_differ_in_order() -> None:
    orders = [tuple(data.epoch_order(50, seed, epoch)) for seed in (1, 2) for epoch in (0, 1)]
    assert len(set(orders)) == 4


@given(size=sizes, seed=seeds, cut=st.integers(0, 500))
def test_that_any_position_can_be_resumed(size: int, seed: int, cut: int) -> None:
    whole = data.sample_numbers(size, seed, 0, 500)
    parts = [data.sample_numbers(size, seed, 0, cut), data.sample_numbers(size, seed, cut, 500)]
    assert np.array_equal(np.concatenate(parts), whole)


@given(step=st.integers(0, 100), accumulate=st.sampled_from([1, 2, 4, 8]))
def test_that_a_step_sees_the_same_samples_however_it_is_split(step: int, accumulate: int) -> None:
    values = np.arange(100)
    batches = data.micro_batches(data.Arrays(values, values), 1, step, 32 // accumulate, accumulate)
    seen = np.concatenate([inputs for inputs, _ in batches])
    assert np.array_equal(seen, data.sample_numbers(100, 1, step * 32, step * 32 + 32))


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
    config = options.parse(line.split())
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
    assert nonfinite.what_of(outcome, scale, dynamic) == what


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
        path, line = failures.place_of(error)
    assert path == __file__
    assert line > 0


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_that_the_engine_is_python_39_and_its_start_37(path: Path) -> None:
    version = (3, 7) if path.name in READ_FIRST else (3, 9)
    ast.parse(path.read_text("utf-8"), feature_version=version)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_that_the_engine_imports_only_what_is_on_its_path(path: Path) -> None:
    assert set(imported(path)) <= ALLOWED


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).split(".")[0]
