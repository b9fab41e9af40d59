"""Columns of a table that somebody wants, and those of some of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.base import Table

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """`rowid` int64 [n]; `wholes`: column -> int64 [n], ABSENT where a cell is no whole number or there is no such
    column; `figures`: column -> float64 [n], NaN likewise."""

    rowid: Numbers
    wholes: dict[str, Numbers]
    figures: dict[str, Reals]

    def __len__(self) -> int:
        return len(self.rowid)

    def __getitem__(self, column: str) -> Numbers:
        return self.wholes[column]

    def where(self, mask: NDArray[np.bool_]) -> Rows:
        if mask.all():
            return self
        return Rows(
            rowid=self.rowid[mask],
            wholes={name: column[mask] for name, column in self.wholes.items()},
            figures={name: column[mask] for name, column in self.figures.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Wanted:
    table: Table
    wholes: tuple[str, ...]
    figures: tuple[str, ...]

    def places(self) -> list[tuple[int, str, bool]]:
        """(place in the record, column, whether it is a figure), in order of place; columns that there are."""
        both = [(column, False) for column in self.wholes] + [(column, True) for column in self.figures]
        found = [(place[0], name, real) for name, real in both if (place := self.table.place(name)) is not None]
        return sorted(found)

    def rows(self, rowid: Numbers, found: dict[str, Numbers | Reals]) -> Rows:
        """With the columns that the table has not got."""
        nothing = np.full(len(rowid), ABSENT, np.int64)
        none = np.full(len(rowid), math.nan)
        return Rows(
            rowid=rowid,
            wholes={name: found.get(name, nothing) for name in self.wholes},  # type: ignore[misc]
            figures={name: found.get(name, none) for name in self.figures},  # type: ignore[misc]
        )


def together(parts: Sequence[Rows]) -> Rows:
    """Rows of one table, of which there is at least one part."""
    first = parts[0]
    return Rows(
        rowid=np.concatenate([rows.rowid for rows in parts]),
        wholes={name: np.concatenate([rows.wholes[name] for rows in parts]) for name in first.wholes},
        figures={name: np.concatenate([rows.figures[name] for rows in parts]) for name in first.figures},
    )
