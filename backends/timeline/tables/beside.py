"""What the tables beside a trace say of one slice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from backends.timeline.tables.allocations import allocations
from backends.timeline.tables.caches import cache_rows
from backends.timeline.tables.communication import Communication, communications
from backends.timeline.tables.folders import files_of
from backends.timeline.tables.kernels import kernel_rows
from backends.timeline.tables.named import named_rows
from backends.timeline.tables.operators import operator_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backends.timeline.tables.allocations import Allocations
    from backends.timeline.tables.caches import Key
    from backends.timeline.tables.communication import Communications
    from backends.timeline.tables.kernels import Kernels
    from backends.timeline.tables.operators import Operators

STREAM, TASK = ("Physic Stream Id", "Stream Id", "stream id"), ("Task Id", "task id")


@dataclass(frozen=True, kw_only=True)
class Joined:
    """`table`: name of the file. `cells`: by the column names of the file, without those that say nothing."""

    table: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Beside:
    """The tables of one folder; each is read when it is first asked."""

    folder: Path

    @cached_property
    def kernels(self) -> tuple[Kernels, ...]:
        return kernel_rows(self.folder)

    @cached_property
    def operators(self) -> tuple[Operators, ...]:
        return operator_rows(self.folder)

    @cached_property
    def communications(self) -> tuple[Communications, ...]:
        return communications(self.folder)

    @cached_property
    def caches(self) -> Mapping[Key, dict[str, str]]:
        return cache_rows(self.folder)

    @cached_property
    def allocations(self) -> tuple[Allocations, ...]:
        return allocations(self.folder)

    @cached_property
    def named(self) -> tuple[tuple[str, Mapping[str, dict[str, str]]], ...]:
        return named_rows(self.folder)

    def of_device(self, name: str, start_ns: int, args: Mapping[str, object]) -> Iterator[Joined]:
        for kernels in self.kernels:
            if row := kernels.row(start_ns, name):
                yield Joined(table=kernels.table.path.name, cells=row)
        for found in self.communications:
            if one := found.find(name, start_ns):
                yield Joined(table=found.path.name, cells=_said(one))
        if rates := self.caches.get((_text(args, STREAM), _text(args, TASK), name)):
            yield Joined(table="l2_cache.csv", cells=rates)

    def of_host(self, name: str, start_ns: int, duration_ns: int, turn: int | None) -> Iterator[Joined]:
        for operators in self.operators:
            if row := operators.row(name, duration_ns, turn):
                yield Joined(table=operators.table.path.name, cells=row)
        for taken in self.allocations:
            for row in taken.rows(name, start_ns, duration_ns):
                yield Joined(table=taken.table.path.name, cells=row)
        for file, rows in self.named:
            if name in rows:
                yield Joined(table=file, cells=rows[name])


def rows_beside(
    folder: Path, *, name: str, start_ns: int, duration_ns: int, args: Mapping[str, object], turn: int | None = None
) -> tuple[Joined, ...]:
    """`folder`: of the trace. `start_ns`: as the source says it, not since the origin. `turn`: see Operators.row.
    The first call of a folder reads its tables: not for the UI thread."""
    beside = _beside(folder, _state(folder))
    return (*beside.of_device(name, start_ns, args), *beside.of_host(name, start_ns, duration_ns, turn))


@lru_cache(maxsize=8)
def _beside(folder: Path, state: object) -> Beside:
    del state  # only part of the key: a table that changed is read anew
    return Beside(folder)


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (path.name, status.st_size, status.st_mtime_ns)
        for path in files_of(folder, "*.csv", "communication.json")
        for status in _status(path)
    )


def _status(path: Path) -> tuple[os.stat_result, ...]:
    try:
        return (path.stat(),)
    except OSError:
        return ()


def _text(args: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((str(args[name]) for name in names if name in args), "")


def _said(one: Communication) -> dict[str, str]:
    cells = {"Group": one.group} | {name: f"{value:.6g}" for name, value in one.figures.items()}
    for link in one.links:
        cells[f"{link.kind} Transit Size(MB)"] = f"{link.size:.6g}"
        cells[f"{link.kind} Transit Time(ms)"] = f"{link.time:.6g}"
        cells[f"{link.kind} Bandwidth(GB/s)"] = f"{link.bandwidth:.6g}"
        cells[f"{link.kind} Large Packet Ratio"] = f"{link.large:.6g}"
    return cells
