"""Whether columns fit together: compiled code indexes unchecked, so no number may lead beyond another column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.kinds import FAMILIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Meta, Trace

_TYPES = {
    "start": np.int64, "end": np.int64, "name": np.int32, "event": np.int64, "row_begin": np.int64,
    "row_lane": np.int32, "cover": np.int64, "arrow": np.int64, "arrow_kind": np.int32, "arrow_by_to": np.int32,
    "sample_time": np.int64, "sample_value": np.float64, "name_family": np.uint8, "name_begin": np.int64,
}  # fmt: skip


def check_columns(trace: Trace) -> None:
    """Check lengths, types, and every number that is an index; 3 ms per million slices. Raises ValueError or
    OSError."""
    _check_lengths(trace)
    _check_meta(trace.meta, len(trace.row_lane), len(trace.sample_time))
    lanes, names, arrows = len(trace.meta.lanes), len(trace.name_family), len(trace.arrow)
    _check_borders("row_begin", trace.row_begin, len(trace.start))
    _check_borders("name_begin", trace.name_begin, (trace.folder / "names.bin").stat().st_size)
    for column, values, limit in (
        ("row_lane", trace.row_lane, lanes),
        ("name", trace.name, names),
        ("name_family", trace.name_family, len(FAMILIES)),
        ("arrow", trace.arrow[:, 0], lanes),
        ("arrow", trace.arrow[:, 2], lanes),
        ("arrow_kind", trace.arrow_kind, len(trace.meta.flow_kinds)),
        ("arrow_by_to", trace.arrow_by_to, arrows),
    ):
        _check_range(column, values, limit)


def _check_lengths(trace: Trace) -> None:
    meta = trace.meta
    slices, rows = meta.slices + meta.instants, sum(lane.rows for lane in meta.lanes)
    samples = max((series.end for series in meta.series), default=0)
    names = len(trace.name_family)
    shapes: dict[str, tuple[int, ...]] = {
        "start": (slices,), "end": (slices,), "name": (slices,), "event": (slices,), "cover": (slices + 1,),
        "row_begin": (rows + 1,), "row_lane": (rows,), "arrow": (meta.arrows, 4), "arrow_kind": (meta.arrows,),
        "arrow_by_to": (meta.arrows,), "sample_time": (samples,), "sample_value": (samples,),
        "name_family": (names,), "name_begin": (names + 1,),
    }  # fmt: skip
    for column, shape in shapes.items():
        array = getattr(trace, column)
        if array.shape != shape or array.dtype != _TYPES[column]:
            raise ValueError(column)


def _check_meta(meta: Meta, rows: int, samples: int) -> None:
    """Check the numbers of sources, processes, rows and samples in the description."""
    sources, processes = range(len(meta.sources)), range(len(meta.processes))
    is_sound = (
        all(process.source in sources for process in meta.processes)
        and all(step.source in sources for step in meta.steps)
        and all(lane.process in processes for lane in meta.lanes)
        and all(lane.first_row >= 0 and lane.rows >= 0 and lane.first_row + lane.rows <= rows for lane in meta.lanes)
        and all(series.process in processes for series in meta.series)
        and all(0 <= series.begin <= series.end <= samples for series in meta.series)
    )
    if not is_sound:
        raise ValueError("meta")


def _check_borders(column: str, borders: NDArray[np.int64], last: int) -> None:
    """Check that borders ascend from 0 to `last`."""
    if int(borders[0]) != 0 or int(borders[-1]) != last or bool((borders[1:] < borders[:-1]).any()):
        raise ValueError(column)


def _check_range(column: str, values: NDArray[Any], limit: int) -> None:
    if len(values) and not (int(values.min()) >= 0 and int(values.max()) < limit):
        raise ValueError(column)
