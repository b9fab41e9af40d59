"""Memory that an operator took on the device, of operator_memory: rows of its name that lie in its time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.cells import nanoseconds
from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import Table, said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PATTERN = "operator_memory*.csv"
MOST = 4
"""Rows that are shown of one operator."""


@dataclass(frozen=True)
class Allocations:
    """`of_name`: (time in ns, byte at which the row begins), in order of time."""

    table: Table
    of_name: Mapping[str, Sequence[tuple[int, int]]]

    def rows(self, name: str, start_ns: int, duration_ns: int) -> list[dict[str, str]]:
        """The first MOST of them, without the cells that say nothing."""
        all_of_it = self.of_name.get(name, ())
        begin = bisect_left(all_of_it, (start_ns, 0))
        end = bisect_right(all_of_it, (start_ns + duration_ns + 1, 0))
        found = (self.table.row_at(place) for _, place in all_of_it[begin:end][:MOST])
        return [said(row) for row in found if row is not None]


def allocations(folder: Path) -> tuple[Allocations, ...]:
    """One of each file that has names and times; reads them all once. What cannot be read is left out."""
    found = []
    for path in files_of(folder, PATTERN):
        try:
            one = _allocations(Table(path))
        except OSError:
            continue
        found += [one] if one is not None else []
    return tuple(found)


def _allocations(table: Table) -> Allocations | None:
    name, time = table.place("Name"), table.place("Allocation Time(us)")
    if name is None or time is None:
        return None
    of_name: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, record in table.records():
        cells = table.cells(record)
        when = nanoseconds(cells[time]) if cells is not None else None
        if cells is not None and when is not None:
            of_name[cells[name]].append((when, place))
    return Allocations(table, {name: sorted(rows) for name, rows in of_name.items()})
