"""Columns of a table as arrays, block by block: from its pages where they are plain, else through sqlite3."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.db.base import quoted
from backends.timeline.db.cells import (
    ABSENT,
    NULL,
    SIZES,
    figure_column,
    figures,
    only,
    whole_column,
    wholes,
)
from backends.timeline.db.pages import MARGIN, records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.base import Base, Table
    from backends.timeline.db.pages import Bytes, Numbers, Records

    Reals = NDArray[np.float64]

FETCHED = 20_000  # rows at a time


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
class _Wanted:
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


def blocks(base: Base, name: str, wanted: Sequence[str], real: Sequence[str] = ()) -> Iterator[Rows]:
    """All rows of a table, those columns; nothing where there is no such table. Records that cannot be read are counted
    in `base.damaged`, pages that are missing in `base.lost`."""
    table = base.table(name)
    if table is None:
        return
    columns = _Wanted(table=table, wholes=tuple(wanted), figures=tuple(real))
    if not table.plain:
        yield from _selected(base, columns, "")
        return
    for block in records(base, table):
        rows, odd = _decoded(base, columns, block)
        if len(rows):
            yield rows
        for rowid in odd.tolist():
            yield from _looked_up(base, columns, rowid)


def column_of(base: Base, name: str, *wanted: str) -> tuple[Numbers, ...]:
    """Whole columns of a table, its rowid first."""
    found = list(blocks(base, name, wanted))
    if not found:
        return tuple(np.empty(0, np.int64) for _ in range(len(wanted) + 1))
    return (
        np.concatenate([rows.rowid for rows in found]),
        *(np.concatenate([rows[column] for rows in found]) for column in wanted),
    )


def _decoded(base: Base, wanted: _Wanted, block: Records) -> tuple[Rows, Numbers]:
    """The rows, and the rowids of those whose header or end is not as expected."""
    todo = wanted.places()
    size = block.data[block.header].astype(np.int64)
    # No record has more fields than its table has columns: it is another table's.
    own = size <= len(wanted.table.columns) + 1
    base.damaged += int(len(own) - own.sum())
    good = own & (size > 0) & (size < 128) & (block.header + size <= block.end)
    fewest = int(size[good].min()) - 1 if good.any() else 0
    end, words = block.header + size, block.words
    found: dict[str, Numbers | Reals] = {}
    heads = _heads(block, todo[-1][0] + 1 if todo else 0)
    for place in range(heads.shape[1]):
        kinds = np.ascontiguousarray(heads[:, place])
        if place >= fewest:  # records that were written before the table got this column
            kinds = np.where(place < size - 1, kinds, np.uint8(NULL))
        if (same := only(kinds)) >= 0:
            end = end + SIZES[same]
        else:
            good &= kinds < 128
            end = end + SIZES[kinds]
        while todo and todo[0][0] == place:
            _, name, real = todo.pop(0)
            inside = np.minimum(end, block.end)
            if real:
                found[name] = figure_column(block, words, kinds, inside)
            else:
                found[name] = _whole(wanted.table, block, place, whole_column(block, words, kinds, inside), kinds)
    good &= end <= block.end
    return wanted.rows(block.rowid, found).where(good), np.concatenate([block.odd, block.rowid[own & ~good]])


def _heads(block: Records, width: int) -> Bytes:
    """Serial types of the first columns: uint8 [records, width]. What lies behind a header means nothing."""
    parts = []
    for first in range(0, width, MARGIN):
        size = min(MARGIN, width - first)
        at = np.minimum(block.header + 1 + first, len(block.data) - MARGIN)
        every: NDArray[Any] = np.ndarray(len(block.data) - MARGIN + 1, f"V{size}", block.data, strides=(1,))
        parts.append(every[at].view(np.uint8).reshape(len(at), size))
    return np.concatenate(parts, axis=1) if parts else np.empty((len(block.header), 0), np.uint8)


def _whole(table: Table, block: Records, place: int, column: Numbers, kinds: Bytes) -> Numbers:
    """The column that stands for the rowid is stored as NULL."""
    return np.where(kinds == NULL, block.rowid, column) if place == table.identity else column


def _looked_up(base: Base, wanted: _Wanted, rowid: int) -> Iterator[Rows]:
    """A row whose record is spread over pages, or is too strange: sqlite3 knows all of its format."""
    found = list(_selected(base, wanted, f" WHERE rowid = {rowid}"))
    base.damaged += not found
    yield from found


def _selected(base: Base, wanted: _Wanted, condition: str) -> Iterator[Rows]:
    """Through sqlite3; what comes before a damaged page counts."""
    places = wanted.places()
    names = [quoted(wanted.table.place(name)[1]) for _, name, _ in places]  # type: ignore[index]
    columns = ", ".join(["rowid" if wanted.table.rowid else "0", *names])
    try:
        cursor = base.connection.execute(f"SELECT {columns} FROM {quoted(wanted.table.name)}{condition}")
        done = 0
        while cells := cursor.fetchmany(FETCHED):
            rowid, *found = zip(*cells, strict=True)
            numbers = wholes(rowid) if wanted.table.rowid else np.arange(done, done + len(cells))
            done += len(cells)
            named = zip(places, found, strict=True)
            parts = {name: figures(part) if real else wholes(part) for (_, name, real), part in named}
            yield wanted.rows(numbers, parts)
    except (sqlite3.Error, OverflowError):
        base.lost += not condition
