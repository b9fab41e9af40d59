"""Ends of flows matched into arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.build.columns import sort_keys, write_column
from backends.timeline.gather import BEGIN, END

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def write_arrows(
    folder: Path, lane: Numbers, time: Numbers, key: Numbers, kind: Numbers, phase: Numbers
) -> tuple[int, int, int]:
    """How many arrows there are, how many flows they belong to, and how many ends belong to none. One launch may lead
    to several tasks: one flow of several arrows."""
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
    """Numbers of the ends that an arrow goes from and to: each step and end of a flow comes from the begin or step that
    is the last before it. Clocks of host and device differ by some µs: where a flow has one begin only, what is before
    it comes from it too."""
    order = np.argsort(phase, kind="stable")
    order = order[np.argsort(sort_keys(key[order], time[order])[0], kind="stable")]
    key, phase = key[order], phase[order]
    place = np.arange(len(order))
    first = np.ones(len(order), bool)
    first[1:] = key[1:] != key[:-1]
    group = np.maximum.accumulate(np.where(first, place, 0))
    giving = np.maximum.accumulate(np.where(phase < END, place, -1))
    before = np.concatenate([[-1], giving[:-1]])[: len(order)]
    before = np.where(before >= group, before, _only_begin(group, phase, place))
    arrives = (phase > BEGIN) & (before >= 0) & (before != place)
    return order[before[arrives]], order[arrives]


def _only_begin(group: Numbers, phase: Numbers, place: Numbers) -> Numbers:
    """Place of the begin of each one's flow, -1 where it has none or several."""
    begins = np.flatnonzero(phase == BEGIN)
    count = np.bincount(group[begins], minlength=len(place))
    where = np.full(len(place), -1, np.int64)
    where[group[begins]] = place[begins]
    only: Numbers = np.where(count == 1, where, -1)[group] if len(place) else where
    return only
