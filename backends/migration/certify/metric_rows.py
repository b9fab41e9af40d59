"""Losses and gradients of the two rehearsals side by side, compared to the last bit."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

import msgspec

from studio.events import Metric
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backends.common.rehearsal import Step

T = TypeVar("T")
Number = float | str
_ALL = 1 << 26


class MetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """A number that both rehearsals had to compute. `process`: from 0, those of the first ranks first; `step`: from 1;
    `name`: loss, loss.1 for a second optimizer, or grad_norm. A value is None where that rehearsal did not get so far.
    `equal`: for gradients, whether all bits of the gradients and of the weights after the step agree."""

    process: int
    step: int
    name: str
    original: Number | None
    migrated: Number | None
    equal: bool


def compare_losses(original: Path, migrated: Path) -> tuple[MetricRow, ...]:
    """Compare the losses that two runs recorded in their folders."""
    before, after = _read_losses(original), _read_losses(migrated)
    keys = dict.fromkeys((*before, *after))
    return tuple(
        MetricRow(process=process, step=step, name=name, original=first, migrated=second, equal=first == second)
        for process, name in keys
        for step, (first, second) in _pairs(before.get((process, name), ()), after.get((process, name), ()), process)
    )


def _pairs(first: Sequence[T], second: Sequence[T], process: int) -> Iterator[tuple[int, tuple[T | None, T | None]]]:
    """Pair the values of each step. The first process counts in full; when it is done the others are stopped, perhaps
    a step earlier or later, so of those only the common steps count."""
    return enumerate(zip_longest(first, second) if process == 0 else zip(first, second, strict=False), 1)


def _read_losses(folder: Path) -> dict[tuple[int, str], list[Number]]:
    losses: dict[tuple[int, str], list[Number]] = {}
    processes = 0
    for _, _, events in sorted(RunTail(folder).read(_ALL), key=lambda batch: batch[1]):
        metrics = [event for event in events if isinstance(event, Metric)]
        for event in metrics:
            for name, value in event.values.items():
                if name.partition(".")[0] == "loss":
                    losses.setdefault((processes, name), []).append(value)
        processes += bool(metrics)
    return losses


def compare_gradients(original: Sequence[Sequence[Step]], migrated: Sequence[Sequence[Step]]) -> tuple[MetricRow, ...]:
    """Compare the gradient traces of two rehearsal reports."""
    nothing: Sequence[Step] = ()
    return tuple(
        MetricRow(
            process=process,
            step=step,
            name="grad_norm",
            original=_norm(first),
            migrated=_norm(second),
            equal=first == second,
        )
        for process, (trace, other) in enumerate(zip_longest(original, migrated, fillvalue=nothing))
        for step, (first, second) in _pairs(trace, other, process)
    )


def _norm(step: Step | None) -> Number | None:
    return None if step is None else step.norm


def first_difference(rows: Sequence[MetricRow]) -> MetricRow | None:
    """Return the earliest row whose values differ, None where all agree."""
    return min((row for row in rows if not row.equal), key=lambda row: (row.step, row.process), default=None)


def first_not_finite(rows: Sequence[MetricRow]) -> MetricRow | None:
    """Return the earliest row whose migrated value is NaN or infinite, None where there is none."""
    wrong = (row for row in rows if row.migrated is not None and not math.isfinite(float(row.migrated)))
    return min(wrong, key=lambda row: (row.step, row.process), default=None)


def relative_difference(row: MetricRow) -> float:
    """Return how far the migrated value is off, relative to the original one; infinite where either is not finite."""
    before, after = float(row.original or 0), float(row.migrated or 0)
    if not (math.isfinite(before) and math.isfinite(after)):
        return 0.0 if str(before) == str(after) else math.inf
    return abs(after - before) / max(abs(before), 1e-12)
