"""Losses and gradients side by side, read from files of two runs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backends.common.rehearsal import Step
from backends.migration.certify import metric_rows, rehearsals
from backends.migration.certify.metric_rows import MetricRow

if TYPE_CHECKING:
    from pathlib import Path


def record(folder: Path, losses: list[float | str], rank: int = 0, pid: int = 1, name: str = "loss") -> Path:
    folder.mkdir(exist_ok=True)
    lines = (
        json.dumps({"type": "metric", "time": at, "step": at, "values": {name: loss, "lr": 0.1}})
        for at, loss in enumerate(losses, 1)
    )
    with (folder / f"events.a1.r{rank}.p{pid}.jsonl").open("a") as file:
        file.writelines(line + "\n" for line in lines)
    return folder


def test_that_losses_are_compared_to_the_last_bit(tmp_path: Path) -> None:
    original = record(tmp_path / "one", [0.1, 0.30000000000000004, "NaN"])
    two = record(tmp_path / "two", [0.1, 0.3, "NaN"])
    rows = metric_rows.compare_losses(original, two)
    assert [row.equal for row in rows] == [True, False, True]
    first = metric_rows.first_difference(rows)
    assert first is not None
    assert (first.step, first.original, first.migrated) == (2, 0.30000000000000004, 0.3)
    wrong = metric_rows.first_not_finite(rows)
    assert wrong is not None
    assert wrong.step == 3


def test_that_each_process_is_compared_with_its_like_whatever_its_pid(tmp_path: Path) -> None:
    for name, pids in (("one", (71, 99)), ("two", (8, 100))):
        record(tmp_path / name, [0.5, 0.4], rank=0, pid=pids[0])
        record(tmp_path / name, [1.5, 1.4], rank=1, pid=pids[1])
    rows = metric_rows.compare_losses(tmp_path / "one", tmp_path / "two")
    assert [(row.process, row.step, row.original) for row in rows] == [
        (0, 1, 0.5), (0, 2, 0.4), (1, 1, 1.5), (1, 2, 1.4),
    ]  # fmt: skip
    assert all(row.equal for row in rows)


def test_that_a_step_that_only_one_has_done_differs_in_the_first_process_alone(tmp_path: Path) -> None:
    for name, losses in (("one", [0.5, 0.4]), ("two", [0.5])):
        record(tmp_path / name, list(losses), rank=0, pid=1)
        record(tmp_path / name, list(losses), rank=1, pid=2)
    rows = metric_rows.compare_losses(tmp_path / "one", tmp_path / "two")
    assert [(row.process, row.step, row.migrated, row.equal) for row in rows] == [
        (0, 1, 0.5, True), (0, 2, None, False), (1, 1, 0.5, True),
    ]  # fmt: skip


def test_that_losses_of_two_optimizers_stand_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        record(tmp_path / name, [0.5])
        record(tmp_path / name, [0.7], name="loss.1")
    assert [(row.name, row.original) for row in metric_rows.compare_losses(tmp_path / "one", tmp_path / "two")] == [
        ("loss", 0.5), ("loss.1", 0.7),
    ]  # fmt: skip


def test_that_gradients_differ_where_their_bits_do_though_the_norms_agree() -> None:
    step = Step(gradients="a", norm=1.0, weights="w")
    rows = metric_rows.compare_gradients([[step, step]], [[step, Step(gradients="b", norm=1.0, weights="w")]])
    assert [(row.original, row.migrated, row.equal) for row in rows] == [(1.0, 1.0, True), (1.0, 1.0, False)]
    assert metric_rows.compare_gradients([], []) == ()
    assert [row.migrated for row in metric_rows.compare_gradients([[step]], [])] == [None]


VALUES = some.lists(some.floats(width=64) | some.sampled_from(["NaN", "Infinity"]), max_size=5)


@given(values=VALUES, junk=some.binary(max_size=40))
def test_that_no_event_file_raises_and_equal_ones_are_equal(
    values: list[float | str], junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("events")
    finite = [value if isinstance(value, str) or math.isfinite(value) else "NaN" for value in values]
    for name in ("one", "two"):
        record(folder / name, list(finite))
        with (folder / name / "events.a1.r0.p1.jsonl").open("ab") as file:
            file.write(junk + b"\n")
    rows = metric_rows.compare_losses(folder / "one", folder / "two")
    assert len(rows) == len(finite)
    assert metric_rows.first_difference(rows) is None


def test_that_the_first_difference_is_the_earliest_step_of_any_process() -> None:
    def row(process: int, step: int) -> MetricRow:
        return MetricRow(process=process, step=step, name="loss", original=1.0, migrated=2.0, equal=False)

    assert metric_rows.first_difference([row(0, 3), row(1, 2), row(2, 2)]) == row(1, 2)


def test_that_a_log_that_misses_cuda_is_told_from_one_that_speaks_of_it(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.write_text("using cuda:0\nDEVICE_TYPE npu\nCUDA is not needed\nloss 0.5\n")
    assert rehearsals.first_cuda_error(log) == ""
    log.write_text("loss\nAssertionError: Torch not compiled with CUDA enabled\nmore\n")
    assert rehearsals.first_cuda_error(log) == "AssertionError: Torch not compiled with CUDA enabled"
    assert rehearsals.last_log_line(log) == "more"
    assert rehearsals.first_cuda_error(tmp_path / "missing") == rehearsals.last_log_line(tmp_path / "missing") == ""


TORCHRUN = """\
{errors}Traceback (most recent call last):
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 11)  (SIGTERM)
  traceback : Signal 15 (SIGTERM) received by PID 11
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-26_17:45:30
  rank      : 1 (local_rank: 1)
  exitcode  : {code} (pid: 12)
  error_file: <N/A>
  traceback : {trace}
============================================================
"""


@pytest.mark.parametrize(
    ("errors", "code", "trace", "line"),
    [
        ("[rank1]: ValueError: first\n[rank0]: RuntimeError: reset\n", "1", "To enable", "[rank1]: ValueError: first"),
        ("torch.OutOfMemoryError: all\n", "1", "To enable", "torch.OutOfMemoryError: all"),
        ("", "-9", "Signal 9 (SIGKILL) received by PID 12", "Signal 9 (SIGKILL) received by PID 12"),
        ("", "3", "To enable", "exitcode: 3 (pid: 12)"),
    ],
)
def test_that_a_report_of_torchrun_tells_its_root_cause(
    tmp_path: Path, errors: str, code: str, trace: str, line: str
) -> None:
    log = tmp_path / "output.log"
    log.write_text(TORCHRUN.format(errors=errors, code=code, trace=trace))
    assert rehearsals.last_log_line(log) == line


def test_that_a_rule_below_other_words_is_not_what_a_log_says_last(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.write_text("no data in /data\n========\n")
    assert rehearsals.last_log_line(log) == "no data in /data"


@given(data=some.binary(max_size=200))
def test_that_no_log_raises(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    log = tmp_path_factory.mktemp("log") / "output.log"
    log.write_bytes(data)
    assert isinstance(rehearsals.first_cuda_error(log) + rehearsals.last_log_line(log), str)
