"""From what a few steps took to what the whole training will take: pure. All times in seconds."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.recipes import resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.launch.check.trial import Trial
    from backends.launch.spec import LaunchSpec

FEW = 8
"""Measured steps under which their whole range is their error, not the range of the middle half."""
STUDENT = (
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
    1.740, 1.734, 1.729,
)  # fmt: skip
"""Student's t by degrees of freedom, from one on: nine of ten values lie within so many standard errors."""
NORMAL = 1.645
DISK_PART = 0.01
"""Part of its bytes that a later checkpoint may differ by: 0.4 % was measured of the smallest there is."""
PEAK_GROWTH = 0.04
"""Part of its peak that a longer training may hold more than one of a few steps: 3.2 % was measured (digits, O2)."""

RUN_NOISE = 0.2
"""Part of its time by which a step differs between two processes of one training. The medians of six runs of 300 steps
had a standard deviation of 22 % (linear, jit, 1.3 ms a step) and 13 % (PyNative, 19 ms) on a shared host."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and what it may be off by, in the same unit; None where nothing measured tells."""

    value: float
    error: float | None = None


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Bytes of one checkpoint, how many stay, bytes of all that stay; while one is written there is one more."""

    one: int
    kept: int

    @property
    def all(self) -> int:
        return self.one * self.kept

    @property
    def error(self) -> float:
        """A checkpoint also holds its step and the data's position as text, which have more digits later."""
        return DISK_PART * self.all


def student(count: int) -> float:
    """The factor of `count` values, at least two."""
    return STUDENT[count - 2] if count - 2 < len(STUDENT) else NORMAL


def step_of(*trial_steps: Sequence[float]) -> Estimate:
    """Median of the steps of all trials without the first of each, which compiles or loads kernels. Error, the most of
    three: half of what the middle half of them spans (of few steps all), by how much the later half differs from the
    earlier, and what their mean is known to in nine of ten cases: of two steps that is six times more than of ten. What
    another process differs by comes on top, see RUN_NOISE."""
    measured = [step for steps in trial_steps for step in steps[1:]]
    half = len(measured) // 2
    drift = abs(statistics.median(measured[half:]) - statistics.median(measured[:half])) if half else 0.0
    errors = (_spread(measured), drift, _error_of_mean(measured)) if half else ()
    value = statistics.median(measured)
    return Estimate(value=value, error=math.hypot(max(errors), RUN_NOISE * value) if errors else None)


def _error_of_mean(values: Sequence[float]) -> float:
    return float(student(len(values)) * statistics.stdev(values) / len(values) ** 0.5)


def _spread(values: Sequence[float]) -> float:
    if len(values) < FEW:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of one figure in several trials; error: what another trial is off by in nine of ten cases, None
    for a single trial."""
    return Estimate(value=statistics.fmean(values), error=_error_of_next(values) if len(values) > 1 else None)


def _error_of_next(values: Sequence[float]) -> float:
    chance = student(len(values)) * statistics.stdev(values) * (1 + 1 / len(values)) ** 0.5
    return math.hypot(chance, RUN_NOISE * statistics.fmean(values))


def highest_of(values: Sequence[float]) -> Estimate:
    """Return the highest of one peak in several trials; error: what they differ by, and what more steps may add."""
    highest = max(values)
    return Estimate(value=highest, error=max(highest - min(values), PEAK_GROWTH * highest))


def pace_of(*trials: Trial) -> float:
    """The mean pace of trials, each with the weight of its steps. 0 where it was not measured."""
    paces = [(_pace(trial), len(trial.steps) - 1) for trial in trials if trial.summary and len(trial.steps) > 1]
    return sum(pace * count for pace, count in paces) / max(1, sum(count for _, count in paces))


def _pace(trial: Trial) -> float:
    """From one step to the next, with the recording of both, without evaluations. 0 where it was not measured."""
    summary = trial.summary
    if summary is None or len(trial.steps) < 2:
        return 0.0
    between = summary.evaluations.all - summary.evaluations.last
    lasted = summary.train_seconds + summary.compile_seconds - summary.first_seconds - between
    return max(lasted, sum(trial.steps[1:])) / (len(trial.steps) - 1)


def around(trial: Trial) -> float:
    """What is no step and no evaluation: the start, the data, and writing the results."""
    summary = trial.summary
    assert summary is not None
    return summary.run_seconds - sum(trial.steps) - summary.evaluations.all


def steps_left(spec: LaunchSpec, done: int) -> int:
    return max(1, resolved(spec).steps - done)


def evaluation_seconds(trial: Trial, steps: int) -> float:
    """Return the seconds of all evaluations in so many steps; later ones cost what later ones did, if measured."""
    summary = trial.summary
    assert summary is not None
    measured = summary.evaluations
    if not measured.count:
        return 0.0
    count = 1 + ((steps - 1) // measured.every if measured.every else 0)
    later_seconds = (measured.all - measured.first) / (measured.count - 1) if measured.count > 1 else measured.first
    return measured.first + (count - 1) * later_seconds


def total_of(trials: Sequence[Trial], steps: int, checkpoints: int) -> Estimate:
    """Until the training has written its results, from its start. Each part has its own error; all may be off in one
    direction, as a busier machine would have it, so they add up."""
    last = max(trials, key=lambda trial: len(trial.steps))
    firsts, others = [trial.steps[0] for trial in trials], [around(trial) for trial in trials]
    step = step_of(*(trial.steps for trial in trials))
    first, other = mean_of(firsts), mean_of(others)
    pauses = max(0, checkpoints - 1) * last.pause  # one is in what is around the steps
    total = other.value + first.value + (steps - 1) * pace_of(*trials) + evaluation_seconds(last, steps) + pauses
    errors = ((steps - 1) * (step.error or 0.0), first.error or 0.0, other.error or 0.0)
    return Estimate(value=total, error=sum(errors) if step.error is not None else None)


def checkpoints_written(spec: LaunchSpec, steps: int, seconds: float) -> int:
    """The one at the end, and those before it by steps or by time."""
    keep = spec.keep
    by_steps = (steps - 1) // keep.checkpoint_every if keep.checkpoint_every else 0
    by_time = int(seconds / (60 * keep.checkpoint_minutes)) if keep.checkpoint_minutes else 0
    return 1 + by_steps + by_time


def disk_of(spec: LaunchSpec, checkpoint_bytes: int, written: int) -> Disk:
    """Those that are kept: the newest, and the best where one is asked for and it is not among them."""
    return Disk(one=checkpoint_bytes, kept=min(written, spec.keep.keep + (spec.keep.best != "none")))
