"""Counter series: the samples of each series lie side by side, in order of time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.build.columns import sort_keys, write_column
from backends.timeline.build.lanes import displayable
from backends.timeline.trace import Series

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.build.lanes import Order
    from backends.timeline.gathering import Gathering


def write_series(folder: Path, gather: Gathering, order: Order, samples: list[NDArray[Any]]) -> tuple[Series, ...]:
    """`samples`: series as gathered, time since the origin, value; the list is emptied on the way."""
    series, time, value = samples
    samples.clear()
    position = order.series_at[series]
    by_time = np.argsort(sort_keys(position, time - time.min(initial=0))[0], kind="stable")
    value = value[by_time]
    write_column(folder, "sample_time", time[by_time])
    write_column(folder, "sample_value", value)
    bounds = np.searchsorted(position[by_time], np.arange(len(order.series) + 1)).tolist()
    return tuple(
        _series(gather, order, number, begin, value[begin:end])
        for number, (begin, end) in zip(order.series, pairwise(bounds), strict=True)
    )


def _series(gather: Gathering, order: Order, number: int, begin: int, value: NDArray[np.float64]) -> Series:
    series = gather.series[number]
    finite = value[np.isfinite(value)]
    return Series(
        process=order.process_at[series.process],
        name=displayable(series.name),
        unit=displayable(series.unit),
        begin=begin,
        end=begin + len(value),
        low=float(finite.min()) if len(finite) else 0.0,
        high=float(finite.max()) if len(finite) else 0.0,
    )
