"""Gathers by hand, as readers make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.build.assembly import assemble
from backends.timeline.gathering import Gathering
from backends.timeline.trace import Trace, open_trace

if TYPE_CHECKING:
    from pathlib import Path

EPOCH = 1_736_412_474_714_258_990
I32, I64 = np.int32, np.int64


def gather_of(folder: Path, rank: int | None = 0) -> Gathering:
    gather = Gathering()
    gather.source(folder / "trace_view.json", "text", rank)
    return gather


def columns(rows: list[tuple[object, ...]], *types: type) -> tuple[np.ndarray, ...]:
    return tuple(np.array([row[number] for row in rows], kind) for number, kind in enumerate(types))


def lane_of(gather: Gathering, process: str, lane: str, *, label: str = "", sort: float | None = None) -> int:
    """Return lanes by their names, which are their ids too."""
    number = gather.lane(0, process, lane)
    gather.lanes[number].name = lane
    of_it = gather.processes[gather.process(0, process)]
    of_it.name, of_it.label, of_it.sort = process, label, sort
    return number


def add_slices(gather: Gathering, lane: int, slices: list[tuple[int, int, str]]) -> None:
    """(start, end, name) in ns."""
    rows = [(lane, start, end, gather.names[name], gather.events + n) for n, (start, end, name) in enumerate(slices)]
    gather.events += len(rows)
    gather.slices.append(columns(rows, I32, I64, I64, I32, I64))


def add_instants(gather: Gathering, lane: int, instants: list[tuple[int, str]]) -> None:
    rows = [(lane, time, gather.names[name], gather.events + n) for n, (time, name) in enumerate(instants)]
    gather.events += len(rows)
    gather.instants.append(columns(rows, I32, I64, I32, I64))


def add_ends(gather: Gathering, ends: list[tuple[int, int, int, int]], kind: str = "HostToDevice") -> None:
    """(lane, time, key, phase)."""
    rows = [(lane, time, key, gather.flow_kinds[kind], phase) for lane, time, key, phase in ends]
    gather.events += len(rows)
    gather.ends.append(columns(rows, I32, I64, I64, I32, np.uint8))


def add_samples(gather: Gathering, name: str, samples: list[tuple[int, float]], process: str = "HBM") -> None:
    series = gather.series_of(0, process, name, "MB/s")
    gather.processes[gather.process(0, process)].name = process
    gather.events += len(samples)
    gather.counter_events += len(samples)
    gather.samples.append(columns([(series, *sample) for sample in samples], I32, I64, np.float64))


def assembled(gather: Gathering, folder: Path, partial: float | None = None) -> Trace:
    assemble(gather, folder / "cache", folder, partial)
    return open_trace(folder / "cache", folder)


def written_slices(trace: Trace) -> list[tuple[str, int, int, int, str]]:
    """(lane, row inside it, start, end, name) of all slices in their order; times in ns since the epoch."""
    slices = []
    for index in range(len(trace.start)):
        row = trace.row_of(index)
        lane = trace.meta.lanes[int(trace.row_lane[row])]
        times = int(trace.start[index]) + trace.meta.origin_ns, int(trace.end[index]) + trace.meta.origin_ns
        slices.append((lane.name, row - lane.first_row, *times, trace.name_text(int(trace.name[index]))))
    return slices
