"""Memory over time, from the csv files next to a trace, as series of a separate process."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.tables.cell_values import (
    NS,
    US,
    cell_figures,
    cell_times,
)
from backends.timeline.tables.csv_table import EMPTY_CELLS, CsvTable
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering

    Columns = Sequence[Sequence[str]]

MAX_COMPONENTS = 2000  # components of a file, about 60 in real ones
SORT = 24.0  # below Overlap Analysis (23)


@dataclass(frozen=True, kw_only=True)
class CounterFile:
    """`figures`: column -> name of the series after its component. `digits`: unit of the time."""

    pattern: str
    process: str
    time: str
    digits: int
    figures: tuple[tuple[str, str], ...]
    unit: str


_TOTALS = ("Allocated", "Reserved", "Active")

COUNTER_FILES = (
    CounterFile(
        pattern="memory_record*.csv", process="Memory", time="Timestamp(us)", digits=US, unit="MB",
        figures=tuple((f"Total {name}(MB)", name) for name in _TOTALS),
    ),
    CounterFile(
        pattern="npu_module_mem*.csv", process="Module memory", time="Timestamp(us)", digits=US, unit="MB",
        figures=(("Total Reserved(MB)", "Reserved"),),
    ),
    CounterFile(
        pattern="cpu_ms_memory_record_*.txt", process="Memory", time="Timestamp(ns)", digits=NS, unit="Byte",
        figures=tuple((f"Total {name}(Byte)", name) for name in _TOTALS),
    ),
)  # fmt: skip


def layout_of(path: Path) -> CounterFile | None:
    return next((layout for layout in COUNTER_FILES if path.match(layout.pattern)), None)


def counter_files(folder: Path) -> tuple[Path, ...]:
    """Return the files next to a trace that hold counters, in a stable order."""
    return files_of(folder, *(layout.pattern for layout in COUNTER_FILES))


def read_counter_file(path: Path, source: int, gather: Gathering) -> None:
    """Add the samples of one file, as the trace writes its own. Rows are not events of the trace: only unusable rows
    are counted, as events set aside."""
    layout = layout_of(path)
    if layout is None:
        return
    try:
        _Reader(layout, CsvTable(path), source, gather).read()
    except OSError:
        gather.sources[source].truncated = True


class _Reader:
    """One file on its way into the gathering. `series`: (device, component, figure) -> number. `owners`: (device,
    component) -> number."""

    def __init__(self, layout: CounterFile, table: CsvTable, source: int, gather: Gathering) -> None:
        self.layout, self.table, self.source, self.gather = layout, table, source, gather
        self.series: dict[tuple[str, str, str], int] = {}
        self.owners: defaultdict[tuple[str, str], int] = defaultdict(count().__next__)

    def read(self) -> None:
        time = self.table.column(self.layout.time)
        figures = [(at, name) for column, name in self.layout.figures if (at := self.table.column(column)) is not None]
        if time is None or not figures:
            return
        for columns, bad in self.table.blocks():
            self._set_aside(bad)
            if len(columns[time]):
                self._take(columns, time, figures)

    def _take(self, columns: Columns, time: int, figures: list[tuple[int, str]]) -> None:
        times = cell_times(columns[time], self.layout.digits)
        owners = zip(self._column(columns, "Device Type"), self._column(columns, "Component"), strict=True)
        owner = np.fromiter(map(self.owners.__getitem__, owners), np.int32)
        times[owner >= MAX_COMPONENTS] = 0
        self._set_aside(int((times == 0).sum()))
        for at, name in figures:
            self._add(columns[at], times, owner, name)

    def _column(self, columns: Columns, name: str) -> Sequence[str]:
        at = self.table.column(name)
        return columns[at] if at is not None else [""] * len(columns[0])

    def _add(self, cells: Sequence[str], times: NDArray[np.int64], owner: NDArray[np.int32], name: str) -> None:
        """Add one figure of some rows; an empty cell gives no sample."""
        is_filled = np.array([cell not in EMPTY_CELLS for cell in cells], np.bool_) & (times > 0)
        values = cell_figures(cells)
        good = is_filled & ~np.isnan(values)
        self._set_aside(int((is_filled & ~good).sum()))
        if good.any():
            series = np.zeros(len(self.owners), np.int32)
            each = list(self.owners)
            for number in np.unique(owner[good]).tolist():
                device, component = each[number]
                series[number] = self._series(device, component, name)
            samples: tuple[Any, ...] = (series[owner[good]], times[good], values[good])
            self.gather.samples.append(samples)

    def _series(self, device: str, component: str, name: str) -> int:
        number = self.series.get((device, component, name))
        if number is None:
            pid = f"{self.layout.process.lower()} {device}".strip()
            process = self.gather.processes[self.gather.process(self.source, pid)]
            process.name, process.label, process.sort = self.layout.process, device.replace(":", " "), SORT
            text = f"{component.strip()} {name}".strip()
            number = self.gather.series_of(self.source, pid, text, self.layout.unit)
            self.series[device, component, name] = number
        return number

    def _set_aside(self, rows: int) -> None:
        if rows:
            self.gather.set_aside["timeline.aside.table_row"] += rows
            self.gather.events += rows
