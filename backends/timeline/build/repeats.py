"""Events that stand twice in a text, as where a trace was appended to itself: each counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from studio.errors import StudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering

    Columns = list[NDArray[Any]]

SAMPLE = 256
SHARE = 0.1
"""Of the slices of a text that stand there before, from which on they are repeats: in times of whole microseconds a
call may begin and end with one of the same name that it makes."""
_BITS = 0xFFFF


def repeated_sources(gather: Gathering, slices: Columns) -> frozenset[int]:
    """Return the texts whose slices stand twice, and note that. `slices`: lane, start, end, name and more, as
    gathered. A sample tells whether it is worth looking at all."""
    if not _has_repeats(slices):
        return frozenset()
    source = np.array([lane.source for lane in gather.lanes], np.int64)[slices[0]]
    lasting = slices[2] > slices[1]
    total = np.bincount(source[lasting], minlength=len(gather.sources))
    count = np.bincount(source[lasting & is_repeat(slices[:4])], minlength=len(gather.sources))
    numbers = np.flatnonzero((count > SHARE * total) & (count > 1)).tolist()
    repeated = frozenset(number for number in numbers if gather.sources[number].kind == "text")
    for number in repeated:
        args = {"n": int(count[number]), "total": int(total[number])}
        gather.sources[number].gaps += (StudioError("timeline.gap.repeats", **args),)
    return repeated


def _has_repeats(slices: Columns) -> bool:
    lane, start, end, name = slices[:4]
    lasting = np.flatnonzero(end > start) if len(start) < SAMPLE else np.arange(0, len(start), len(start) // SAMPLE)
    chosen = lasting[end[lasting] > start[lasting]]
    if not len(chosen):
        return False
    is_sampled = np.zeros(_BITS + 1, np.bool_)
    is_sampled[start[chosen] & _BITS] = True
    candidates = np.flatnonzero(is_sampled[start & _BITS])
    rows = [
        tuple(row)
        for row in np.stack([lane[candidates], start[candidates], end[candidates], name[candidates]], axis=1).tolist()
    ]
    counts: dict[tuple[int, ...], int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    sample = np.stack([lane[chosen], start[chosen], end[chosen], name[chosen]], axis=1).tolist()
    return sum(counts[tuple(row)] > 1 for row in sample) > SHARE / 2 * len(chosen)


def is_repeat(columns: Columns) -> NDArray[np.bool_]:
    """Tell for each row whether the same row stands before it."""
    order = np.lexsort(columns)
    same = np.ones(max(0, len(order) - 1), np.bool_)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    repeat = np.zeros(len(order), np.bool_)
    repeat[order[1:][same]] = True
    return repeat
