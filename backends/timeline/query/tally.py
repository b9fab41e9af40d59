"""Figures per name, added up slice by slice, in whole nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

COUNT, TOTAL, WALL, OWN, SHORTEST, LONGEST = range(6)
NO_SLICE = np.iinfo(np.int64).max  # the least of no slice


class Tally:
    """`table` int64 [6, names], in the order above. `ufunc.at` adds int64, where `bincount` would add float64."""

    def __init__(self, names: int) -> None:
        self.table = np.zeros((6, names), np.int64)
        self.table[SHORTEST] = NO_SLICE

    def add(self, name: NDArray[np.int32], length: Numbers, wall: Numbers, own: Numbers) -> None:
        key = name.astype(np.intp)
        self.table[COUNT] += np.bincount(key, minlength=self.table.shape[1])
        for row, values in ((TOTAL, length), (WALL, wall), (OWN, own)):
            np.add.at(self.table[row], key, values)
        np.minimum.at(self.table[SHORTEST], key, length)
        np.maximum.at(self.table[LONGEST], key, length)

    def merge(self, table: Numbers) -> None:
        self.table[:SHORTEST] += table[:SHORTEST]
        np.minimum(self.table[SHORTEST], table[SHORTEST], out=self.table[SHORTEST])
        np.maximum(self.table[LONGEST], table[LONGEST], out=self.table[LONGEST])
