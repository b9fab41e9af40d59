"""Figures over time: each series' samples side by side, in order of time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.build.columns import sort_keys, write_column
from backends.timeline.build.lanes import shown
from backends.timeline.trace import Series

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.build.lanes import Order
    from backends.timeline.gather import Gather


def write_series(folder: Path, gather: Gather, order: Order, samples: list[NDArray[Any]]) -> tuple[Series, ...]:
    """`samples`: series as gathered, time since the origin, value; emptied on the way."""
    series, time, value = samples
    samples.clear()
    place = order.series_at[series]
    by_time = np.argsort(sort_keys(place, time - time.min(initial=0))[0], kind="stable")
    value = value[by_time]
    write_column(folder, "sample_time", time[by_time])
    write_column(folder, "sample_value", value)
    bounds = np.searchsorted(place[by_time], np.arange(len(order.series) + 1)).tolist()
    return tuple(
        _one(gather, order, number, begin, value[begin:end])
        for number, (begin, end) in zip(order.series, pairwise(bounds), strict=True)
    )


def _one(gather: Gather, order: Order, number: int, begin: int, value: NDArray[np.float64]) -> Series:
    series = gather.series[number]
    known = value[np.isfinite(value)]
    return Series(
        process=order.process_at[series.process],
        name=shown(series.name),
        unit=shown(series.unit),
        begin=begin,
        end=begin + len(value),
        low=float(known.min()) if len(known) else 0.0,
        high=float(known.max()) if len(known) else 0.0,
    )
