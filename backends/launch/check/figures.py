"""From what a few steps took to what the whole training will take: pure. All times in seconds."""

from __future__ import annotations

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


def step_of(steps: Sequence[float]) -> Estimate:
    """Median of the steps without the first, which compiles or loads kernels. Error: half of what the middle half of
    them spans (of few steps all), or by how much the later half differs from the earlier, whichever is more."""
    measured = list(steps[1:])
    half = len(measured) // 2
    drift = abs(statistics.median(measured[half:]) - statistics.median(measured[:half])) if half else 0.0
    return Estimate(value=statistics.median(measured), error=max(_spread(measured), drift) if half else None)


def _spread(values: Sequence[float]) -> float:
    if len(values) < FEW:
        return (max(values) - min(values)) / 2
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of one figure in several trials; error: half of their span, None for a single trial."""
    error = (max(values) - min(values)) / 2 if len(values) > 1 else None
    return Estimate(value=statistics.fmean(values), error=error)


def highest_of(values: Sequence[float]) -> Estimate:
    error = max(values) - min(values) if len(values) > 1 else None
    return Estimate(value=max(values), error=error)


def pace_of(trial: Trial) -> float:
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
    """Until the training has written its results, from its start. `trials`: the last one measured most."""
    last = trials[-1]
    firsts, others = [trial.steps[0] for trial in trials], [around(trial) for trial in trials]
    step, first, other = step_of(last.steps), mean_of(firsts), mean_of(others)
    pauses = max(0, checkpoints - 1) * last.pause  # one is in what is around the steps
    total = other.value + first.value + (steps - 1) * pace_of(last) + evaluation_seconds(last, steps) + pauses
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
