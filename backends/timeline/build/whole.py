"""Whether the columns of a profile fit together: what a crash of the machine or a full disk cut is built anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from backends.timeline.trace import Trace

_TYPES = {
    "start": np.int64, "end": np.int64, "name": np.int32, "event": np.int64, "row_begin": np.int64,
    "row_lane": np.int32, "cover": np.int64, "arrow": np.int64, "arrow_kind": np.int32, "arrow_by_to": np.int32,
    "sample_time": np.int64, "sample_value": np.float64, "name_family": np.uint8, "name_begin": np.int64,
}  # fmt: skip


def check(trace: Trace) -> None:
    """Raises ValueError or OSError. Looks at no more than the ends of the columns, whatever their size."""
    meta = trace.meta
    slices, rows = meta.slices + meta.instants, sum(lane.rows for lane in meta.lanes)
    samples = max((series.end for series in meta.series), default=0)
    names = len(trace.name_family)
    lengths = {
        "start": slices, "end": slices, "name": slices, "event": slices, "cover": slices + 1, "row_begin": rows + 1,
        "row_lane": rows, "arrow": meta.arrows, "arrow_kind": meta.arrows, "arrow_by_to": meta.arrows,
        "sample_time": samples, "sample_value": samples, "name_family": names, "name_begin": names + 1,
    }  # fmt: skip
    for column, length in lengths.items():
        array = getattr(trace, column)
        if len(array) != length or array.dtype != _TYPES[column]:
            raise ValueError(column)
    if int(trace.row_begin[-1]) != slices or (trace.folder / "names.bin").stat().st_size != int(trace.name_begin[-1]):
        raise ValueError("borders")
