"""Losses and gradients of the two rehearsals, side by side, to the last bit."""

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


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A number that both had to compute. `process`: from 0, those of the first ranks first. `step`: from 1. `name`:
    loss, loss.1 of a second optimizer; grad_norm. None where one of them has not got so far. `equal`: of gradients,
    whether all bits of the gradients and of the weights after the step are."""

    process: int
    step: int
    name: str
    original: Number | None
    migrated: Number | None
    equal: bool


def losses(original: Path, migrated: Path) -> tuple[Row, ...]:
    """From the folders of the two runs."""
    found, other = _losses(original), _losses(migrated)
    keys = dict.fromkeys((*found, *other))
    return tuple(
        Row(process=process, step=step, name=name, original=one, migrated=two, equal=one == two)
        for process, name in keys
        for step, (one, two) in _pairs(found.get((process, name), ()), other.get((process, name), ()), process)
    )


def _pairs(one: Sequence[T], two: Sequence[T], process: int) -> Iterator[tuple[int, tuple[T | None, T | None]]]:
    """Of the first process all steps. When that is done the others end, one of them a step earlier or later."""
    return enumerate(zip_longest(one, two) if process == 0 else zip(one, two, strict=False), 1)


def _losses(folder: Path) -> dict[tuple[int, str], list[Number]]:
    found: dict[tuple[int, str], list[Number]] = {}
    processes = 0
    for _, _, events in sorted(RunTail(folder).read(_ALL), key=lambda one: one[1]):
        metrics = [event for event in events if isinstance(event, Metric)]
        for event in metrics:
            for name, value in event.values.items():
                if name.partition(".")[0] == "loss":
                    found.setdefault((processes, name), []).append(value)
        processes += bool(metrics)
    return found


def gradients(original: Sequence[Sequence[Step]], migrated: Sequence[Sequence[Step]]) -> tuple[Row, ...]:
    """From the traces of the two reports."""
    nothing: Sequence[Step] = ()
    return tuple(
        Row(process=process, step=step, name="grad_norm", original=_norm(one), migrated=_norm(two), equal=one == two)
        for process, (trace, other) in enumerate(zip_longest(original, migrated, fillvalue=nothing))
        for step, (one, two) in _pairs(trace, other, process)
    )


def _norm(step: Step | None) -> Number | None:
    return None if step is None else step.norm


def first_difference(rows: Sequence[Row]) -> Row | None:
    return min((row for row in rows if not row.equal), key=lambda row: (row.step, row.process), default=None)


def first_not_finite(rows: Sequence[Row]) -> Row | None:
    """The first step whose loss is no number in what was migrated."""
    wrong = (row for row in rows if row.migrated is not None and not math.isfinite(float(row.migrated)))
    return min(wrong, key=lambda row: (row.step, row.process), default=None)
