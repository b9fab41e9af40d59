"""The losses of three runs, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.determinism.result import LossRow
from studio.events import Metric
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.precision.determinism.result import LossNumber

LOSS = "loss"
_ALL = 1 << 26


def losses_of(folder: Path) -> dict[int, LossNumber]:
    """Return the losses of the lowest rank, by step; what is not finite is a text."""
    losses = losses_by_rank(folder)
    return losses[min(losses)] if losses else {}


def losses_by_rank(folder: Path) -> dict[int, dict[int, LossNumber]]:
    losses: dict[int, dict[int, LossNumber]] = {}
    for _, rank, events in RunTail(folder).read(_ALL):
        for event in events:
            if isinstance(event, Metric) and LOSS in event.values:
                losses.setdefault(rank, {})[event.step] = event.values[LOSS]
    return losses


def loss_rows(folders: Sequence[Path], steps: int) -> tuple[LossRow, ...]:
    """Return the losses of the first so many steps that any of the three runs has."""
    first, second, without = (losses_of(folder) for folder in folders)
    recorded_steps = sorted({*first, *second, *without})[:steps]
    return tuple(
        LossRow(step=step, first=first.get(step), second=second.get(step), without=without.get(step))
        for step in recorded_steps
    )


def first_difference(rows: Sequence[LossRow]) -> int | None:
    """The first step in which the two runs with digests differ; one that ended earlier differs where it ended."""
    return next((row.step for row in rows if row.first != row.second), None)


def rank_difference(first_run: Path, second_run: Path, steps: int, *, are_over: bool) -> tuple[int, int] | None:
    """Return the first step, of the first so many, and the rank whose losses differ. `are_over`: both ended by
    themselves, so that a loss of one alone differs; a rank may be stopped before its loss is written."""
    first, second = losses_by_rank(first_run), losses_by_rank(second_run)
    differences = []
    for rank in sorted(first.keys() | second.keys()):
        target, golden = first.get(rank, {}), second.get(rank, {})
        recorded = sorted(target.keys() | golden.keys() if are_over else target.keys() & golden.keys())[:steps]
        differences += [(step, rank) for step in recorded if target.get(step) != golden.get(step)][:1]
    return min(differences, default=None)


def is_changed(rows: Sequence[LossRow]) -> bool | None:
    """Whether losses without a capture are others, None where the two with one differ, or there are none."""
    if not rows or first_difference(rows) is not None:
        return None
    return any(row.without != row.first for row in rows)
