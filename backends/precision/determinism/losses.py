"""The losses of three runs, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.determinism.result import Row
from studio.events import Metric
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.precision.determinism.result import Number

LOSS = "loss"
_ALL = 1 << 26


def losses_of(folder: Path) -> dict[int, Number]:
    """Of the lowest rank, by step; what is not finite is a text."""
    found: dict[int, dict[int, Number]] = {}
    for _, rank, events in RunTail(folder).read(_ALL):
        for event in events:
            if isinstance(event, Metric) and LOSS in event.values:
                found.setdefault(rank, {})[event.step] = event.values[LOSS]
    return found[min(found)] if found else {}


def rows(folders: Sequence[Path], steps: int) -> tuple[Row, ...]:
    """Of the first so many steps that any of the three has."""
    first, second, without = (losses_of(folder) for folder in folders)
    known = sorted({*first, *second, *without})[:steps]
    return tuple(
        Row(step=step, first=first.get(step), second=second.get(step), without=without.get(step)) for step in known
    )


def differs_at(found: Sequence[Row]) -> int | None:
    """The first step in which the two runs with digests differ; one that ended earlier differs where it ended."""
    return next((row.step for row in found if row.first != row.second), None)


def is_changed(found: Sequence[Row]) -> bool | None:
    """Whether losses without a capture are others, None where the two with one differ, or there are none."""
    if not found or differs_at(found) is not None:
        return None
    return any(row.without != row.first for row in found)
