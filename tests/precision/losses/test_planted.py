"""Planted faults of losses, none of which is a pass, and healthy pairs, each of which is one."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from backends.precision.losses.spec import Judging, LossesSpec, Runs
from backends.precision.losses.work import compare_losses
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Ended, Journal, name_of
from studio.exit_codes import NO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Run

STEPS = 200
GOLDEN = 3 * np.exp(-np.arange(STEPS) / 40) + 0.5
PLACES = np.arange(STEPS)
WAVE = np.sin(PLACES / 15)
FALLING = np.exp(-PLACES / 8)
LONG_PLACES = np.arange(2000)
LONG = np.interp(LONG_PLACES / 10, PLACES, GOLDEN)
FAILED = -1
"""Stands for a comparison that refused, as exit code 1 or 2 does."""


def noisy(seed: int, share: float = 0.003) -> Any:
    return GOLDEN * (1 + share * np.random.default_rng(seed).standard_normal(STEPS))


def remembered(seed: int) -> Any:
    """Return relative errors of 1 % that are correlated from step to step with 0.9."""
    errors = np.zeros(STEPS)
    for step, chance in enumerate(np.random.default_rng(seed).standard_normal(STEPS - 1), 1):
        errors[step] = 0.9 * errors[step - 1] + 0.0044 * chance
    return errors


def changed(place: Any, values: Any) -> Any:
    losses = GOLDEN.copy()
    losses[place] = values
    return losses


def record(run: Run, losses: Any, name: str = "loss", *, first: int = 1, rank: int = 0) -> None:
    texts = [value if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity"}[str(value)] for value in losses]
    lines = [
        json.dumps({"type": "metric", "time": step, "step": step, "values": {name: value}})
        for step, value in enumerate(texts, first)
    ]
    with (run.folder / name_of(1, rank, 100 + rank)).open("a") as file:
        file.writelines(line + "\n" for line in lines)


def trained(folder: Path, losses: Any, name: str = "loss", *, first: int = 1, code: int | None = 0) -> Run:
    """A run with such losses; `code` None: it still works."""
    run = runs.create(folder / "trained", "launch", {})
    record(run, map(float, losses), name, first=first)
    if code is not None:
        Journal(run.folder, 1).write(Ended(code=code))
    return run


def of_ranks(folder: Path, *losses: Any) -> Run:
    run = trained(folder, losses[0])
    for rank, values in enumerate(losses[1:], 1):
        record(run, map(float, values), rank=rank)
    return run


def of_one_step(folder: Path, steps: Any) -> Run:
    """A run that logged only these steps."""
    run = trained(folder, [])
    for step in steps:
        record(run, [float(GOLDEN[step - 1])], first=step)
    return run


def copy_of(run: Run) -> Run:
    folder = run.folder.with_name(f"{run.folder.name}-copy")
    shutil.copytree(run.folder, folder)
    return runs.open_run(folder)


Pair = tuple["Run", ...]


def against_golden(make: Callable[[Path], Run]) -> Callable[[Path], Pair]:
    return lambda folder: (make(folder), trained(folder, GOLDEN))


def with_losses(losses: Any, **more: Any) -> Callable[[Path], Pair]:
    return against_golden(lambda folder: trained(folder, losses, **more))


def with_again(target: Any, again: Any) -> Callable[[Path], Pair]:
    return lambda folder: tuple(trained(folder, losses) for losses in (target, GOLDEN, again))


def with_copy_of_target(folder: Path) -> Pair:
    target = trained(folder, GOLDEN * 1.2)
    return target, trained(folder, GOLDEN), copy_of(target)


def both(losses: Any, **more: Any) -> Callable[[Path], Pair]:
    return lambda folder: (trained(folder, losses, **more), trained(folder, losses, **more))


FAULTS: dict[str, Callable[[Path], Pair]] = {
    "a drift to 8 % in the last tenth": with_losses(
        np.where(PLACES < 180, GOLDEN, GOLDEN * (1 + 0.004 * (PLACES - 179)))
    ),
    "a drift that has only begun": with_losses(GOLDEN * (1 + 0.03 * np.clip((PLACES - 150) / 50, 0, 1))),
    "spikes of 4.9 % at every tenth step": with_losses(GOLDEN * (1 + 0.049 * (PLACES % 10 == 0))),
    "spikes of 3 % at every fifteenth step under noise": with_losses(
        noisy(40, 0.002) + 0.03 * GOLDEN * (PLACES % 15 == 0)
    ),
    "spikes of 4 % at every fiftieth step": with_losses(GOLDEN * (1 - 0.04 * (PLACES % 50 == 7))),
    "spikes of 4 % at 5 % of the steps": with_losses(
        GOLDEN * (1 + 0.04 * (np.random.default_rng(42).random(STEPS) < 0.05))
    ),
    "spikes that the golden runs do not have": with_again(
        noisy(42, 0.001) + 0.008 * GOLDEN * (PLACES % 10 == 0), noisy(43, 0.001)
    ),
    "one spike": with_losses(changed(120, GOLDEN[120] * 1.08)),
    "a burst of 4.9 % over six steps": with_losses(GOLDEN * np.where((PLACES >= 90) & (PLACES < 96), 1.049, 1)),
    "the last two of 24 steps 4.5 % too high": lambda folder: (
        trained(folder, GOLDEN[:24] * np.where(PLACES[:24] >= 22, 1.045, 1)), trained(folder, GOLDEN[:24]),
    ),
    "30 of 2000 steps 4.9 % too high": lambda folder: (
        trained(folder, LONG * np.where((LONG_PLACES >= 1000) & (LONG_PLACES < 1030), 1.049, 1)), trained(folder, LONG),
    ),
    "the last 40 of 2000 steps 4.9 % too high": lambda folder: (
        trained(folder, LONG * np.where(LONG_PLACES >= 1960, 1.049, 1)), trained(folder, LONG),
    ),
    "a burst of 9 % under noise of 3 %": with_again(
        noisy(70, 0.03) * np.where((PLACES >= 90) & (PLACES < 106), 1.12, 1), noisy(71, 0.03)
    ),
    "a target that was killed at the step at which the golden run ended": lambda folder: (
        trained(folder, GOLDEN[:20], code=137), trained(folder, GOLDEN[:20]),
    ),
    "a NaN at the end": with_losses(changed(199, math.nan)),
    "a NaN of the golden run": lambda folder: (trained(folder, GOLDEN), trained(folder, changed(60, math.nan))),
    "an Inf in the middle": with_losses(changed(100, math.inf)),
    "NaN in both": both(changed(slice(150, None), math.nan)),
    "Inf in both at one step": both(changed(3, math.inf)),
    "a NaN beside an Inf": lambda folder: (
        trained(folder, changed(9, math.nan)), trained(folder, changed(9, math.inf)),
    ),
    "steps that are missing in the middle": against_golden(
        lambda folder: of_one_step(folder, [*range(1, 90), *range(95, 201)])
    ),
    "every tenth step alone": against_golden(lambda folder: of_one_step(folder, range(1, 201, 10))),
    "a short run": with_losses(GOLDEN[:150]),
    "a run that crashed": with_losses(GOLDEN[:199], code=1),
    "both crashed at the same step": both(GOLDEN[:50], code=1),
    "a golden run that crashed": lambda folder: (trained(folder, GOLDEN[:50]), trained(folder, GOLDEN[:50], code=1)),
    "a run that still works": with_losses(GOLDEN[:80], code=None),
    "another metric": with_losses(GOLDEN, name="accuracy"),
    "no loss at all": with_losses([]),
    "shifted by one step": with_losses(np.concatenate((GOLDEN[:1], GOLDEN[:-1]))),
    "counted from another step": with_losses(GOLDEN, first=11),
    "a bias of 2 %": with_losses(GOLDEN * 1.02),
    "the other sign": with_losses(-GOLDEN),
    "half of it, as of a mean over twice the batch": with_losses(GOLDEN / 2),
    "a constant": with_losses(np.full(STEPS, GOLDEN.mean())),
    "zeros": with_losses(np.zeros(STEPS)),
    "golden zeros": lambda folder: (trained(folder, GOLDEN), trained(folder, np.zeros(STEPS))),
    "noise twenty times that of the golden runs": with_again(noisy(1, 0.06), noisy(2)),
    "a second golden run that is another network": with_again(GOLDEN * 2, GOLDEN * 4),
    "a second golden run that became NaN": with_again(
        np.where(PLACES < 100, GOLDEN, GOLDEN * 1.3), np.where(PLACES < 150, GOLDEN * 1.2, math.nan)
    ),
    "a second golden run that is a copy of the target": with_copy_of_target,
    "the second golden run of one step": with_again(GOLDEN * 1.5, GOLDEN[:1] * 1.4),
    "another rank alone": lambda folder: (
        of_ranks(folder, GOLDEN, GOLDEN * 1.5), of_ranks(folder, GOLDEN, GOLDEN),
    ),
    "15 % too high under noise of 10 %": with_again(noisy(21, 0.1) * 1.15, noisy(22, 0.1)),
    "15 % too high at the end under noise of 5 %": with_again(
        noisy(23, 0.05) * np.where(np.arange(len(GOLDEN)) >= 0.9 * len(GOLDEN), 1.15, 1.0), noisy(24, 0.05)
    ),
    "NaN of a rank that the golden run does not have": lambda folder: (
        of_ranks(folder, GOLDEN, changed(70, math.nan)), trained(folder, GOLDEN),
    ),
    "infinity of a rank that the target does not have": lambda folder: (
        trained(folder, GOLDEN), of_ranks(folder, GOLDEN, changed(70, math.inf)),
    ),
    "NaN of another rank alone": lambda folder: (
        of_ranks(folder, GOLDEN, changed(70, math.nan)), of_ranks(folder, GOLDEN, GOLDEN),
    ),
    "a rank of the target alone that is twice as high": lambda folder: (
        of_ranks(folder, GOLDEN, GOLDEN * 2), trained(folder, GOLDEN),
    ),
    "a rank of the target alone that ended early": lambda folder: (
        of_ranks(folder, GOLDEN, GOLDEN[:100]), trained(folder, GOLDEN),
    ),
    "a constant close to a golden loss that hardly falls": lambda folder: (
        trained(folder, np.full(STEPS, 2.3)), trained(folder, 2.3 * (1 - 0.009 * PLACES / STEPS)),
    ),
    "a bias of a loss that changes its sign": lambda folder: (trained(folder, WAVE + 0.05), trained(folder, WAVE)),
    "a loss that stays at 1e-4 where the golden one falls to 1e-6": lambda folder: (
        trained(folder, np.maximum(FALLING, 1e-4)), trained(folder, np.maximum(FALLING, 1e-6)),
    ),
}  # fmt: skip
HEALTHY: dict[str, Callable[[Path], Pair]] = {
    "equal": with_losses(GOLDEN),
    "rounding": with_losses(noisy(3, 1e-6)),
    "noise within the default": with_losses(noisy(3)),
    "noise of 3 % as between the golden runs": with_again(noisy(4, 0.03), noisy(5, 0.03)),
    **{
        f"noise of 10 % as between the golden runs, seed {seed}": with_again(noisy(seed, 0.1), noisy(seed + 50, 0.1))
        for seed in range(100, 108)
    },
    "a second golden run with the same bits": with_again(GOLDEN, GOLDEN),
    "a target that is deterministic beside noise": with_again(GOLDEN, noisy(6)),
    "spikes as between the golden runs": with_again(
        noisy(44) * (1 + 0.04 * (PLACES % 10 == 0)), noisy(45) * (1 + 0.04 * (PLACES % 10 == 5))
    ),
    "two steps that are off by 4 %": with_losses(GOLDEN * (1 + 0.04 * np.isin(PLACES, (60, 130)))),
    **{
        f"heavy tails, seed {seed}": with_losses(GOLDEN * (1 + 0.003 * np.random.default_rng(seed).laplace(size=STEPS)))
        for seed in range(46, 52)
    },
    "a difference that grows with the steps": with_losses(
        GOLDEN * (1 + 0.018 * np.exp((PLACES - STEPS) / 12) * np.random.default_rng(52).standard_normal(STEPS))
    ),
    **{
        f"noise that a step takes over from the step before, seed {seed}": lambda folder, seed=seed: (
            *(trained(folder, GOLDEN * (1 + remembered(seed + run))) for run in (0, 100, 200)),
        )
        for seed in range(63, 69)
    },
    "equal on two ranks": lambda folder: (of_ranks(folder, GOLDEN, GOLDEN * 1.1),) * 2,
    "two ranks with noise": lambda folder: (
        of_ranks(folder, noisy(7), noisy(8) * 1.1), of_ranks(folder, GOLDEN, GOLDEN * 1.1),
    ),
    "negative losses": lambda folder: (trained(folder, -noisy(9)), trained(folder, -GOLDEN)),
    "losses of 1e-8": lambda folder: (trained(folder, 1e-8 * noisy(10)), trained(folder, 1e-8 * GOLDEN)),
    "one rank against two": lambda folder: (trained(folder, noisy(11)), of_ranks(folder, GOLDEN, GOLDEN)),
    "two ranks whose mean is the loss of one": lambda folder: (
        of_ranks(folder, noisy(14, 0.1), 2 * GOLDEN - noisy(14, 0.1)), trained(folder, GOLDEN),
    ),
    "one rank beside two whose mean its loss is": lambda folder: (
        trained(folder, GOLDEN), of_ranks(folder, noisy(15, 0.1), 2 * GOLDEN - noisy(15, 0.1)),
    ),
    "noise of a loss that changes its sign": lambda folder: (
        trained(folder, WAVE + 1e-3 * (noisy(16, 1) / GOLDEN - 1)), trained(folder, WAVE),
    ),
    "rounding of a loss that falls to nothing": lambda folder: (
        trained(folder, FALLING + 1e-9 * (noisy(17, 1) / GOLDEN - 1)), trained(folder, FALLING),
    ),
    "a loss that is the same constant on both sides": both(np.full(STEPS, 0.5)),
    "a second golden run that ended after half of the steps": with_again(noisy(12), noisy(13)[:120]),
}  # fmt: skip


def code_of(folder: Path, runs_of: Pair) -> int:
    """The exit code; FAILED where the comparison refused."""
    again = {"noise_run": runs_of[2].folder} if len(runs_of) == 3 else {}
    sides = Runs(target_run=runs_of[0].folder, golden_run=runs_of[1].folder, **again)
    spec = LossesSpec(runs=sides, judging=Judging())
    run = runs.create(folder / "runs", "compare-losses", schema.to_json(spec))
    try:
        return compare_losses(spec, run).code
    except StudioError:
        return FAILED


@pytest.mark.parametrize("fault", FAULTS)
def test_that_no_planted_fault_of_losses_is_a_pass(tmp_path: Path, fault: str) -> None:
    assert code_of(tmp_path, FAULTS[fault](tmp_path)) in (NO, FAILED)


@pytest.mark.parametrize("pair", HEALTHY)
def test_that_no_healthy_pair_of_losses_is_a_fault(tmp_path: Path, pair: str) -> None:
    assert code_of(tmp_path, HEALTHY[pair](tmp_path)) == 0
