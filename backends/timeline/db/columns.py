"""Requests for columns of a table, and the blocks of rows that answer them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.database import DbTable

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ColumnBlock:
    """`rowid` int64 [n]; `wholes`: column -> int64 [n], ABSENT where a cell is not a whole number or the column is
    missing; `figures`: column -> float64 [n], NaN likewise."""

    rowid: Numbers
    wholes: dict[str, Numbers]
    figures: dict[str, Reals]

    def __len__(self) -> int:
        return len(self.rowid)

    def __getitem__(self, column: str) -> Numbers:
        return self.wholes[column]

    def where(self, mask: NDArray[np.bool_]) -> ColumnBlock:
        if mask.all():
            return self
        return ColumnBlock(
            rowid=self.rowid[mask],
            wholes={name: column[mask] for name, column in self.wholes.items()},
            figures={name: column[mask] for name, column in self.figures.items()},
        )


@dataclass(frozen=True, kw_only=True)
class ColumnRequest:
    table: DbTable
    wholes: tuple[str, ...]
    figures: tuple[str, ...]

    def places(self) -> list[tuple[int, str, bool]]:
        """Return (position in the record, column, whether it is a real number) of the columns that exist, in order of
        position."""
        both = [(column, False) for column in self.wholes] + [(column, True) for column in self.figures]
        available = [
            (column_at[0], name, real) for name, real in both if (column_at := self.table.locate(name)) is not None
        ]
        return sorted(available)

    def rows(self, rowid: Numbers, columns: dict[str, Numbers | Reals]) -> ColumnBlock:
        """Return a block that also has the columns the table lacks, filled with absent values."""
        nothing = np.full(len(rowid), ABSENT, np.int64)
        none = np.full(len(rowid), math.nan)
        return ColumnBlock(
            rowid=rowid,
            wholes={name: columns.get(name, nothing) for name in self.wholes},  # type: ignore[misc]
            figures={name: columns.get(name, none) for name in self.figures},  # type: ignore[misc]
        )


def join_blocks(parts: Sequence[ColumnBlock]) -> ColumnBlock:
    """Join blocks of one table, of which there is at least one."""
    first = parts[0]
    return ColumnBlock(
        rowid=np.concatenate([rows.rowid for rows in parts]),
        wholes={name: np.concatenate([rows.wholes[name] for rows in parts]) for name in first.wholes},
        figures={name: np.concatenate([rows.figures[name] for rows in parts]) for name in first.figures},
    )
