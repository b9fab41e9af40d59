"""Translation of numbers: by dense tables where the numbers lie close together, as ids do, else by searching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

SPARE = 1 << 16  # entries of a dense table that may stay empty, besides four times as many as are used


def _is_dense(low: int, high: int, count: int) -> bool:
    return high - low < 4 * count + SPARE


def coded(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct values, ascending, and for each value its position among them."""
    if not len(values):
        return values, np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if low == high:
        return values[:1], np.zeros(len(values), np.int64)
    if not _is_dense(low, high, len(values)):
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.astype(np.int64)
    is_present = np.zeros(high - low + 1, bool)
    moved = values - low
    is_present[moved] = True
    return np.flatnonzero(is_present) + low, (np.cumsum(is_present) - 1)[moved]


def translated(values: Numbers, number_of: Callable[[int], int]) -> NDArray[np.int32]:
    """Apply `number_of` to each value, calling it once per distinct value."""
    distinct, codes = coded(values)
    return np.array([number_of(value) for value in distinct.tolist()], np.int32)[codes]


def paired(first: Numbers, second: Numbers, number_of: Callable[[int, int], int]) -> NDArray[np.int32]:
    """Apply `number_of` to each pair of values, calling it once per distinct pair."""
    left, left_codes = coded(first)
    right, right_codes = coded(second)
    count = max(1, len(right))
    return translated(
        left_codes * count + right_codes, lambda pair: number_of(int(left[pair // count]), int(right[pair % count]))
    )


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """Map from key to position in the array of keys; of equal keys one counts, always the same."""

    low: int
    table: Numbers | None
    keys: Numbers
    places: Numbers

    @classmethod
    def of(cls, keys: Numbers) -> Lookup:
        low, high = (int(keys.min()), int(keys.max())) if len(keys) else (0, SPARE)
        if not _is_dense(low, high, len(keys)):
            places = np.argsort(keys, kind="stable")
            return cls(low=low, table=None, keys=keys[places], places=places)
        table = np.full(high - low + 1, -1, np.int64)
        table[keys - low] = np.arange(len(keys))
        return cls(low=low, table=table, keys=keys[:0], places=keys[:0])

    def find(self, values: Numbers) -> Numbers:
        """Return positions in the array of keys, -1 where a key is missing."""
        if self.table is None and not len(self.keys):
            return np.full(len(values), -1, np.int64)
        if self.table is None:
            at = np.minimum(np.searchsorted(self.keys, values), len(self.keys) - 1)
            return np.where(self.keys[at] == values, self.places[at], -1)
        inside = (values >= self.low) & (values < self.low + len(self.table))
        if inside.all():
            positions: Numbers = self.table[values - self.low]
            return positions
        return np.where(inside, self.table[np.where(inside, values - self.low, 0)], -1)
