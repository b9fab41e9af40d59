"""Conversion of rows with a start and an end into slices; unusable rows are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.db.columns import ColumnBlock
    from backends.timeline.gathering import Gathering

    Numbers = NDArray[np.int64]

BAD_TIME = "timeline.aside.row_time"
DAMAGED = "timeline.aside.row_damaged"
NO_TASK = "timeline.aside.row_without_task"
LATEST = 1 << 62  # a century from now, in ns; sums of two times still fit


def timed(gather: Gathering, rows: ColumnBlock) -> ColumnBlock:
    """Return the rows with valid times and set the others aside. All of them count as events."""
    gather.events += len(rows)
    start, end = rows["startNs"], rows["endNs"]
    sound = rows.where((start > 0) & (start <= end) & (end < LATEST))
    set_aside(gather, BAD_TIME, len(rows) - len(sound))
    return sound


def set_aside(gather: Gathering, reason: str, count: int) -> None:
    if count:
        gather.set_aside[reason] += count


def add(gather: Gathering, lane: NDArray[np.int32], rows: ColumnBlock, name: NDArray[np.int32]) -> None:
    if len(rows):
        gather.slices.append((lane, rows["startNs"], rows["endNs"], name, rows.rowid))  # type: ignore[arg-type]
