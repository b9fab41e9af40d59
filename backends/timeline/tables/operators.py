"""What operator_details says of an operator on the host: shapes, call stack, time on the device.

Its rows have no times of their own: a slice is found by its name and its exact duration, and among equals by its turn.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.cells import nanoseconds
from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import Table, said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PATTERN = "operator_details*.csv"
DURATION = "Host Total Duration(us)"


@dataclass(frozen=True)
class Operators:
    """`places`: (name, duration in ns) -> the bytes at which the rows begin, in the order of the file."""

    table: Table
    places: Mapping[tuple[str, int], Sequence[int]]

    def row(self, name: str, duration_ns: int, turn: int | None = None) -> dict[str, str] | None:
        """`turn`: the number of this slice among those of the same name and duration, by start. Without it, None is
        said where several rows could be meant."""
        places = self.places.get((name, duration_ns), ())
        if turn is None:
            turn = 0 if len(places) == 1 else -1
        if not 0 <= turn < len(places):
            return None
        row = self.table.row_at(places[turn])
        return said(row) if row is not None else None


def operator_rows(folder: Path) -> tuple[Operators, ...]:
    """One of each file that has names and durations; reads them all once. What cannot be read is left out."""
    found = []
    for path in files_of(folder, PATTERN):
        try:
            operators = _operators(Table(path))
        except OSError:
            continue
        found += [operators] if operators is not None else []
    return tuple(found)


def _operators(table: Table) -> Operators | None:
    name, duration = table.place("Name"), table.place(DURATION)
    if name is None or duration is None:
        return None
    places: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for place, record in table.records():
        cells = table.cells(record)
        took = nanoseconds(cells[duration]) if cells is not None else None
        if cells is not None and took is not None:
            places[cells[name], took].append(place)
    return Operators(table, dict(places))
