"""Memory over time, from the csv beside a trace, as series of a process of its own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.tables.cells import NS, US, figures_of, times_of
from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import NOTHING, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.gather import Gather

    Columns = Sequence[Sequence[str]]

MOST = 2000  # components of a file, about 60 in real ones
SORT = 24.0  # below Overlap Analysis (23)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """`figures`: column -> what the series is called behind its component. `digits`: unit of the time."""

    pattern: str
    process: str
    time: str
    digits: int
    figures: tuple[tuple[str, str], ...]
    unit: str


_TOTALS = ("Allocated", "Reserved", "Active")

LAYOUTS = (
    Layout(
        pattern="memory_record*.csv", process="Memory", time="Timestamp(us)", digits=US, unit="MB",
        figures=tuple((f"Total {name}(MB)", name) for name in _TOTALS),
    ),
    Layout(
        pattern="npu_module_mem*.csv", process="Module memory", time="Timestamp(us)", digits=US, unit="MB",
        figures=(("Total Reserved(MB)", "Reserved"),),
    ),
    Layout(
        pattern="cpu_ms_memory_record_*.txt", process="Memory", time="Timestamp(ns)", digits=NS, unit="Byte",
        figures=tuple((f"Total {name}(Byte)", name) for name in _TOTALS),
    ),
)  # fmt: skip


def layout_of(path: Path) -> Layout | None:
    return next((layout for layout in LAYOUTS if path.match(layout.pattern)), None)


def counter_files(folder: Path) -> tuple[Path, ...]:
    """The files beside a trace that hold figures over time, in a stable order."""
    return files_of(folder, *(layout.pattern for layout in LAYOUTS))


def read_counters(path: Path, source: int, gather: Gather) -> None:
    """Adds the samples of one file, as the trace writes its own. Rows are no events of a trace: only those that cannot
    be used are counted, as events that were set aside."""
    layout = layout_of(path)
    if layout is None:
        return
    try:
        _Reader(layout, Table(path), source, gather).read()
    except OSError:
        gather.sources[source].truncated = True


class _Reader:
    """One file on its way into the gathering; `series`: (device, component, figure) -> number.
    `owners`: (device, component) -> a number of our own."""

    def __init__(self, layout: Layout, table: Table, source: int, gather: Gather) -> None:
        self.layout, self.table, self.source, self.gather = layout, table, source, gather
        self.series: dict[tuple[str, str, str], int] = {}
        self.owners: defaultdict[tuple[str, str], int] = defaultdict(count().__next__)

    def read(self) -> None:
        time = self.table.place(self.layout.time)
        figures = [(at, name) for column, name in self.layout.figures if (at := self.table.place(column)) is not None]
        if time is None or not figures:
            return
        for columns, bad in self.table.blocks():
            self._set_aside(bad)
            if len(columns[time]):
                self._take(columns, time, figures)

    def _take(self, columns: Columns, time: int, figures: list[tuple[int, str]]) -> None:
        times = times_of(columns[time], self.layout.digits)
        owners = zip(self._column(columns, "Device Type"), self._column(columns, "Component"), strict=True)
        owner = np.fromiter(map(self.owners.__getitem__, owners), np.int32)
        times[owner >= MOST] = 0
        self._set_aside(int((times == 0).sum()))
        for at, name in figures:
            self._add(columns[at], times, owner, name)

    def _column(self, columns: Columns, name: str) -> Sequence[str]:
        at = self.table.place(name)
        return columns[at] if at is not None else [""] * len(columns[0])

    def _add(self, cells: Sequence[str], times: NDArray[np.int64], owner: NDArray[np.int32], name: str) -> None:
        """One figure of some rows; where nothing stands there is no sample."""
        said = np.array([cell not in NOTHING for cell in cells], np.bool_) & (times > 0)
        values = figures_of(cells)
        good = said & ~np.isnan(values)
        self._set_aside(int((said & ~good).sum()))
        if good.any():
            series = np.zeros(len(self.owners), np.int32)
            each = list(self.owners)
            for number in np.unique(owner[good]).tolist():
                device, component = each[number]
                series[number] = self._series(device, component, name)
            found: tuple[Any, ...] = (series[owner[good]], times[good], values[good])
            self.gather.samples.append(found)

    def _series(self, device: str, component: str, name: str) -> int:
        known = self.series.get((device, component, name))
        if known is None:
            pid = f"{self.layout.process.lower()} {device}".strip()
            process = self.gather.processes[self.gather.process(self.source, pid)]
            process.name, process.label, process.sort = self.layout.process, device.replace(":", " "), SORT
            text = f"{component.strip()} {name}".strip()
            known = self.gather.series_of(self.source, pid, text, self.layout.unit)
            self.series[device, component, name] = known
        return known

    def _set_aside(self, rows: int) -> None:
        if rows:
            self.gather.set_aside["timeline.aside.table_row"] += rows
            self.gather.events += rows
