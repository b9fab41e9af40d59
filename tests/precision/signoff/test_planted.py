"""Comparisons with a planted difference or gap, whose report is no pass, and healthy ones, whose report is one."""

from __future__ import annotations

import json
import math
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from studio.errors import StudioError
from studio.events import Ended, Journal
from tests.precision.dump.recorded import copy_of
from tests.precision.signoff.made import compared_dumps, reported_outcome, sides

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NORM, LINEAR, RELU = "Functional.layer_norm.0.forward", "Functional.linear.0.forward", "Torch.relu.0.forward"
FAIL, INCOMPLETE = "differs", "incomplete"


def edited(change: Callable[[dict[str, Any]], object], *, both: bool = False) -> Callable[[Path, Path], None]:
    """Change the calls of the target, or of both sides."""

    def edit(target: Path, golden: Path) -> None:
        for side in (target, golden) if both else (target,):
            path = next(side.rglob("dump.json"))
            dump = json.loads(path.read_text())
            change(dump["data"])
            path.write_text(json.dumps(dump))

    return edit


def scale(name: str, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        figures = data[name]["output"][0]
        figures.update({key: figures[key] * factor for key in ("Max", "Min", "Mean", "Norm")})

    return change


def set_figures(name: str, value: float | None, key: str = "output") -> Callable[[dict[str, Any]], None]:
    return lambda data: data[name][key][0].update(dict.fromkeys(("Max", "Min", "Mean", "Norm"), value))


def cut(target: Path, golden: Path) -> None:
    path = next(target.rglob("dump.json"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_golden(target: Path, golden: Path) -> None:
    cut(golden, target)


def copy_rank(side: Path, step: int = 0, rank: int = 1) -> None:
    shutil.copytree(side / "step0" / "rank0", side / f"step{step}" / f"rank{rank}")


def copy_to(target: Path, golden: Path, step: int, rank: int) -> None:
    for side in (target, golden):
        copy_rank(side, step, rank)


def empty_rank(target: Path, golden: Path) -> None:
    for side in (target, golden):
        (side / "step0" / "rank1").mkdir()


FAULTS: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "an output 5 % larger": (FAIL, edited(scale(NORM, 1.05))),
    "an output with the other sign": (FAIL, edited(scale(NORM, -1))),
    "a NaN of the target": (FAIL, edited(set_figures(RELU, math.nan))),
    "a call that is missing": (FAIL, edited(lambda data: data.pop(RELU))),
    "another shape": (FAIL, edited(lambda data: data[NORM]["output"][0].update(shape=[3]))),
    "a NaN on both sides": (INCOMPLETE, edited(set_figures(RELU, math.nan), both=True)),
    "half a dump of the target": (INCOMPLETE, cut),
    "half a dump of the golden side": (INCOMPLETE, cut_golden),
    "a rank that the target lacks": (INCOMPLETE, lambda target, golden: copy_rank(golden)),
    "a rank that the golden side lacks": (INCOMPLETE, lambda target, golden: copy_rank(target)),
    "a step that the target lacks": (INCOMPLETE, lambda target, golden: copy_rank(golden, 1, 0)),
    "a step that the golden side lacks": (INCOMPLETE, lambda target, golden: copy_rank(target, 1, 0)),
    "a rank without a dump on both sides": (INCOMPLETE, empty_rank),
    "a call of an unknown form": (FAIL, edited(lambda data: data.__setitem__(NORM, "gone"))),
    "call stacks that are damaged": (
        INCOMPLETE, lambda target, golden: (target / "step0" / "rank0" / "stack.json").write_text("{"),
    ),
    "figures that are missing on both sides": (INCOMPLETE, edited(set_figures(NORM, None), both=True)),
    "figures that are missing on one side": (INCOMPLETE, edited(set_figures(NORM, None))),
    "no call at all": (INCOMPLETE, edited(lambda data: data.clear(), both=True)),
}  # fmt: skip
HEALTHY: dict[str, Callable[[Path, Path], object]] = {
    "equal": lambda target, golden: None,
    "rounding": edited(scale(NORM, 1 + 1e-7)),
    "rounding on both sides": edited(scale(NORM, 1 - 1e-7), both=True),
    "two ranks": lambda target, golden: copy_to(target, golden, 0, 1),
    "two steps": lambda target, golden: copy_to(target, golden, 1, 0),
    "zeros": edited(scale(RELU, 0), both=True),
}  # fmt: skip


def outcome(folder: Path, target: Path, golden: Path) -> str:
    """What the report opens with; that the comparison failed, where there is none."""
    try:
        comparison = compared_dumps(folder, target, golden)
    except StudioError:
        return "failed"
    return reported_outcome(folder, comparison)


@pytest.mark.parametrize("fault", FAULTS)
def test_that_no_report_of_a_planted_fault_is_a_pass(tmp_path: Path, fault: str) -> None:
    expected, plant = FAULTS[fault]
    pair = sides(tmp_path)
    plant(*pair)
    assert outcome(tmp_path, *pair) in (expected, "failed")


@pytest.mark.parametrize("pair", HEALTHY)
def test_that_the_report_of_a_healthy_pair_is_a_pass(tmp_path: Path, pair: str) -> None:
    dumps = sides(tmp_path)
    HEALTHY[pair](*dumps)
    assert outcome(tmp_path, *dumps) == "pass"


@pytest.mark.parametrize("side", ["target", "golden"])
def test_that_a_report_of_a_dump_that_was_written_again_since_is_no_pass(tmp_path: Path, side: str) -> None:
    pair = dict(zip(("target", "golden"), sides(tmp_path), strict=True))
    comparison = compared_dumps(tmp_path, *pair.values())
    path = next(pair[side].rglob("dump.json"))
    path.write_bytes(path.read_bytes() + b" ")
    assert reported_outcome(tmp_path, comparison) == INCOMPLETE


@pytest.mark.parametrize("loss", [9.0, "NaN"])
def test_that_a_report_of_losses_that_differ_is_no_pass(tmp_path: Path, loss: float | str) -> None:
    pair = sides(tmp_path)
    comparison = compared_dumps(tmp_path, *pair)
    for path in pair[0].parents[2].glob("events*.jsonl"):
        lines = path.read_text().replace('"loss":0.5', f'"loss":{json.dumps(loss)}')
        path.write_text(lines)
    assert reported_outcome(tmp_path, comparison) in (FAIL, INCOMPLETE)


def test_that_a_report_of_a_step_that_was_added_since_is_no_pass(tmp_path: Path) -> None:
    target, golden = sides(tmp_path)
    comparison = compared_dumps(tmp_path, target, golden)
    assert reported_outcome(tmp_path, comparison) == "pass"
    copy_rank(target, 1, 0)
    for path in target.rglob("*"):
        os.utime(path, (0, 0))
    assert reported_outcome(tmp_path, comparison) == INCOMPLETE


def test_that_a_report_of_a_training_that_failed_is_no_pass(tmp_path: Path) -> None:
    target, golden = sides(tmp_path)
    comparison = compared_dumps(tmp_path, target, golden)
    Journal(target.parents[2], 1).write(Ended(code=1))
    assert reported_outcome(tmp_path, comparison) == INCOMPLETE


@pytest.mark.parametrize("is_gone", [True, False])
def test_that_a_report_of_tensors_that_changed_under_their_old_time_is_no_pass(tmp_path: Path, is_gone: bool) -> None:
    target, golden = (copy_of("mindspore_tensor", tmp_path / side) for side in ("target", "golden"))
    comparison = compared_dumps(tmp_path, target, golden)
    assert reported_outcome(tmp_path, comparison) == "pass"
    path = next(target.rglob("*.npy"))
    time = path.stat().st_mtime_ns
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 64
    path.write_bytes(content)
    os.utime(path, ns=(time, time))
    if is_gone:
        path.unlink()
    assert reported_outcome(tmp_path, comparison) == INCOMPLETE
