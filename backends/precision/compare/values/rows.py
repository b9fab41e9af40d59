"""The rows of two dumps side by side: the same role and item of the same call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import NOTHING

if TYPE_CHECKING:
    from backends.precision.compare.alignment.calls import Alignment
    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump

MAX_ROLES = 8
"""More than there are roles."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Columns, one entry for each row of a comparison: `call`, int32, index into the alignment, ascending; `target` and
    `golden`, int64, the rows of each dump, -1 without; `item`, int32, index into `items`; `role`, uint8."""

    call: Array
    target: Array
    golden: Array
    role: Array
    item: Array
    items: tuple[str, ...]


def join_rows(target: Dump, golden: Dump, alignment: Alignment) -> Rows:
    """Return the target's rows in their order, and what only the golden side has after those of its call. What is None
    on both sides is left out."""
    numbers: dict[str, int] = {}
    items = [[numbers.setdefault(item, len(numbers)) for item in side.item] for side in (target, golden)]
    target_keys = _keys(target, alignment.target, items[0], len(numbers))
    golden_keys = _keys(golden, alignment.golden, items[1], len(numbers))
    golden_rows = _match(target_keys, golden_keys)
    target_rows = np.concatenate([np.arange(len(target_keys)), np.full(len(golden_rows) - len(target_keys), -1)])
    keys = np.concatenate([target_keys, golden_keys[golden_rows[len(target_keys) :]]])
    is_something = ~(_is_nothing(target, target_rows) & _is_nothing(golden, golden_rows))
    order = np.argsort(keys // (MAX_ROLES * len(numbers) or 1) * 2 + (target_rows < 0), kind="stable")
    order = order[is_something[order]]
    keys = keys[order]
    return Rows(
        call=(keys // max(MAX_ROLES * len(numbers), 1)).astype(np.int32), target=target_rows[order],
        golden=golden_rows[order], role=(keys // max(len(numbers), 1) % MAX_ROLES).astype(np.uint8),
        item=(keys % max(len(numbers), 1)).astype(np.int32), items=tuple(numbers),
    )  # fmt: skip


def _keys(side: Dump, calls: Array, items: list[int], size: int) -> Array:
    """Return one number for each row: of its call's index in the alignment, its role, and its item."""
    indices = np.zeros(len(side.calls), np.int64)
    aligned = np.flatnonzero(calls >= 0)
    indices[calls[aligned]] = aligned
    return np.asarray((indices[side.call] * MAX_ROLES + side.role) * size + np.array(items, np.int64))


def _match(target_keys: Array, golden_keys: Array) -> Array:
    """Return the golden side's row for each of the target's, -1 without, then its rows that the target lacks."""
    _, target_rows, golden_rows = np.intersect1d(target_keys, golden_keys, return_indices=True)
    matched = np.full(len(target_keys), -1, np.int64)
    matched[target_rows] = golden_rows
    is_alone = np.ones(len(golden_keys), bool)
    is_alone[golden_rows] = False
    return np.concatenate([matched, np.flatnonzero(is_alone)])


def _is_nothing(side: Dump, rows: Array) -> Array:
    """Whether a row is None, or there is no row at all."""
    kinds = np.append(side.kind, NOTHING)
    return np.asarray(kinds[rows] == NOTHING)
