"""The rows of two dumps beside each other: the same role and place of the same call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import NOTHING

if TYPE_CHECKING:
    from backends.precision.compare.align import Alignment
    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump

ROLES = 8
"""More than there are roles."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Of each row of a comparison: `call`, int32, index into the alignment, ascending; `target` and `golden`, int64,
    the rows of each dump, -1 without; `item`, int32, index into `items`; `role`, uint8."""

    call: Array
    target: Array
    golden: Array
    role: Array
    item: Array
    items: tuple[str, ...]


def join(target: Dump, golden: Dump, alignment: Alignment) -> Rows:
    """The target's rows in their order, and what only the golden side has behind those of its call. What is None on
    both sides is left out."""
    numbers: dict[str, int] = {}
    items = [[numbers.setdefault(item, len(numbers)) for item in side.item] for side in (target, golden)]
    mine = _keys(target, alignment.target, items[0], len(numbers))
    theirs = _keys(golden, alignment.golden, items[1], len(numbers))
    here = np.concatenate([np.arange(len(mine)), np.full(len(theirs), -1)])
    there = _there(mine, theirs)
    known = np.concatenate([mine, theirs[there[len(mine) :]]])
    here = here[: len(known)]
    kept = ~(_is_nothing(target, here) & _is_nothing(golden, there))
    order = np.argsort(known // (ROLES * len(numbers) or 1) * 2 + (here < 0), kind="stable")
    order = order[kept[order]]
    known = known[order]
    return Rows(
        call=(known // max(ROLES * len(numbers), 1)).astype(np.int32), target=here[order], golden=there[order],
        role=(known // max(len(numbers), 1) % ROLES).astype(np.uint8),
        item=(known % max(len(numbers), 1)).astype(np.int32), items=tuple(numbers),
    )  # fmt: skip


def _keys(side: Dump, calls: Array, items: list[int], size: int) -> Array:
    """One number for the call's place in the alignment, role, and item."""
    places = np.zeros(len(side.calls), np.int64)
    there = np.flatnonzero(calls >= 0)
    places[calls[there]] = there
    return np.asarray((places[side.call] * ROLES + side.role) * size + np.array(items, np.int64))


def _there(mine: Array, theirs: Array) -> Array:
    """The golden side's row for each of the target's, -1 without, then its rows that the target lacks."""
    _, here, there = np.intersect1d(mine, theirs, return_indices=True)
    found = np.full(len(mine), -1, np.int64)
    found[here] = there
    alone = np.ones(len(theirs), bool)
    alone[there] = False
    return np.concatenate([found, np.flatnonzero(alone)])


def _is_nothing(side: Dump, rows: Array) -> Array:
    """None, or no row at all."""
    kinds = np.append(side.kind, NOTHING)
    return np.asarray(kinds[rows] == NOTHING)
