"""Matching of flow ends into arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.build.columns import sort_keys, write_column
from backends.timeline.gathering import BEGIN, END

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def write_arrows(
    folder: Path, lane: Numbers, time: Numbers, key: Numbers, kind: Numbers, phase: Numbers
) -> tuple[int, int, int]:
    """Write the arrows; return the number of arrows, of flows they belong to, and of ends that belong to none. One
    launch may lead to several tasks: then one flow has several arrows."""
    begin, end = _pairs(time, key, phase)
    touched = np.zeros(len(time), bool)
    touched[begin] = touched[end] = True
    flows = int(np.count_nonzero(touched & (phase == BEGIN)))
    order = np.argsort(sort_keys(lane[begin], time[begin])[0], kind="stable")
    begin, end = begin[order], end[order]
    arrow = np.stack([lane[begin], time[begin], lane[end], time[end]], axis=1).astype(np.int64)
    write_column(folder, "arrow", arrow)
    write_column(folder, "arrow_kind", kind[begin].astype(np.int32))
    by_to = np.argsort(sort_keys(lane[end], time[end])[0], kind="stable")
    write_column(folder, "arrow_by_to", by_to.astype(np.int32))
    return len(begin), flows, len(time) - int(np.count_nonzero(touched))


def _pairs(time: Numbers, key: Numbers, phase: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ends that each arrow leaves from and arrives at. Each step and end of a flow comes from the last begin
    or step before it. Clocks of host and device differ by some µs: where a flow has a single begin, ends before it come
    from it too."""
    order = np.argsort(phase, kind="stable")
    order = order[np.argsort(sort_keys(key[order], time[order])[0], kind="stable")]
    key, phase = key[order], phase[order]
    position = np.arange(len(order))
    first = np.ones(len(order), bool)
    first[1:] = key[1:] != key[:-1]
    group = np.maximum.accumulate(np.where(first, position, 0))
    giving = np.maximum.accumulate(np.where(phase < END, position, -1))
    before = np.concatenate([[-1], giving[:-1]])[: len(order)]
    before = np.where(before >= group, before, _only_begin(group, phase, position))
    arrives = (phase > BEGIN) & (before >= 0) & (before != position)
    return order[before[arrives]], order[arrives]


def _only_begin(group: Numbers, phase: Numbers, position: Numbers) -> Numbers:
    """Return the position of the single begin of each end's flow, -1 where it has none or several."""
    begins = np.flatnonzero(phase == BEGIN)
    count = np.bincount(group[begins], minlength=len(position))
    where = np.full(len(position), -1, np.int64)
    where[group[begins]] = position[begins]
    only: Numbers = np.where(count == 1, where, -1)[group] if len(position) else where
    return only
