"""What a source lacks although it is readable to its end: ends of flows, kernels, steps, lanes that other ranks have.

The references hold in every trace of torch_npu that was looked at (facts/profiler.md): each flow has both ends, and a
flow to a device ends where its kernel begins. A capture cuts off some at its edges.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.build.columns import sort_keys
from backends.timeline.build.time_span import EARLIEST_EPOCH
from backends.timeline.gathering import BEGIN, END
from studio.errors import StudioError
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.build.lanes import Order
    from backends.timeline.gathering import Gathering

    Numbers = NDArray[np.int64]

PAIRED = ("async_npu", "async_mindspore", "HostToDevice", "async_task_queue", "fwdbwd")
TO_KERNELS = ("async_npu", "HostToDevice")
COMPARED = {
    "device": "timeline.gap.lanes_of.device", "host": "timeline.gap.lanes_of.host",
    "communication": "timeline.gap.lanes_of.communication",
}  # fmt: skip
EDGE_SHARE = 0.1
"""Of the flows of a kind that the edges of a capture may cut off."""
EDGE_COUNT = 4
OPEN_SHARE = 0.5
"""Of the flows of other kinds: what writes them may leave some open."""
OPEN_KINDS = ("ac2g",)
"""Kinds of which any share may be open: libkineto lets every call of the runtime begin one, also where it only waits or
is recorded into a graph. None is whole only where a side is gone."""
MAX_NAMES = 8  # steps
APART_NS = 60 * 10**9  # ns between recordings of two ranks; clocks of hosts differ by less
_RECORDING_END = "Record Window End"  # libkineto writes it behind all events, output_json.cpp
_MARK_PIDS = ("Spans", "Traces", "")  # of what libkineto writes about the recording itself


def note_gaps(gather: Gathering, order: Order, slices: list[NDArray[Any]], ends: list[NDArray[Any]]) -> None:
    """Add to each source what it lacks. `slices`: lane, start, end, name, event; `ends`: lane, time, key, kind, phase,
    as gathered."""
    for number, gap in (
        *_open_flows(gather, ends), *_lost_kernels(gather, slices, ends), *_lost_steps(gather),
        *_later_steps(gather), *_lost_lanes(gather, order), *_open_recordings(gather, slices),
        *_recordings_apart(gather, slices),
    ):  # fmt: skip
        source = gather.sources[number]
        source.gaps = (*source.gaps, gap)


def _open_flows(gather: Gathering, ends: list[NDArray[Any]]) -> Iterator[tuple[int, StudioError]]:
    """Yield, for each text and kind of flow, how many have one end alone."""
    lane, _, key, kind, phase = ends
    begins, arrives = np.zeros((2, gather.next_key), np.bool_)
    begins[key[phase < END]] = True
    arrives[key[phase > BEGIN]] = True
    group_of_key = np.full(gather.next_key, -1, np.int64)
    group_of_key[key] = _groups(gather, lane, kind)
    total = np.bincount(group_of_key[group_of_key >= 0])
    is_open = (begins ^ arrives) & (group_of_key >= 0)
    for number, name, count, whole in _counts(gather, np.bincount(group_of_key[is_open]), total):
        if count == whole or (name not in OPEN_KINDS and (name in PAIRED or count > OPEN_SHARE * whole)):
            args = {"kind": name, "n": count, "total": whole}
            yield number, StudioError("timeline.gap.flows", **args)


def _lost_kernels(
    gather: Gathering, slices: list[NDArray[Any]], ends: list[NDArray[Any]]
) -> Iterator[tuple[int, StudioError]]:
    """Yield, for each text, to how many kernels a flow leads that are not there."""
    to_kernels = [number for name, number in gather.flow_kinds.items() if name in TO_KERNELS]
    arriving = np.isin(ends[3], to_kernels) & (ends[4] == END)
    if not arriving.any():
        return
    lane, time, kind = ends[0][arriving], ends[1][arriving], ends[3][arriving]
    has_end = np.zeros(len(gather.lanes), np.bool_)
    has_end[lane] = True
    on_lanes = has_end[slices[0]]
    lanes, times = np.concatenate([lane, slices[0][on_lanes]]), np.concatenate([time, slices[1][on_lanes]])
    keys = sort_keys(lanes, times - times.min())[0]
    is_lost = ~np.isin(keys[: len(lane)], keys[len(lane) :])
    groups = _groups(gather, lane, kind)
    noted: set[int] = set()
    for number, _, count, whole in _counts(gather, np.bincount(groups[is_lost]), np.bincount(groups)):
        if number not in noted:
            noted.add(number)
            yield number, StudioError("timeline.gap.kernels", n=count, total=whole)


def _groups(gather: Gathering, lane: NDArray[Any], kind: NDArray[Any]) -> Numbers:
    """Return a number for the source and the kind of each flow."""
    source = np.array([each.source for each in gather.lanes], np.int64)
    groups: Numbers = source[lane] * max(1, len(gather.flow_kinds)) + kind
    return groups


def _counts(gather: Gathering, missing: Numbers, total: Numbers) -> Iterator[tuple[int, str, int, int]]:
    """Yield source, kind, missing and total of each group of a text that lacks more than edges explain."""
    kinds = list(gather.flow_kinds)
    for group in np.flatnonzero(missing > EDGE_COUNT).tolist():
        number, kind = divmod(group, len(kinds))
        count, whole = int(missing[group]), int(total[group])
        if count > EDGE_SHARE * whole and gather.sources[number].kind == "text":
            yield number, kinds[kind], count, whole


def _lost_steps(gather: Gathering) -> Iterator[tuple[int, StudioError]]:
    """Yield the steps that are missing between the first and the last one of a source."""
    numbers: defaultdict[int, set[int]] = defaultdict(set)
    for step, _, _, source in gather.steps:
        numbers[source].add(step)
    for source, steps in numbers.items():
        gaps = [(before + 1, after - 1) for before, after in pairwise(sorted(steps)) if after > before + 1]
        if gaps:
            names = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in gaps[:MAX_NAMES])
            args = {"steps": names + (" …" if len(gaps) > MAX_NAMES else "")}
            yield source, StudioError("timeline.gap.steps", **args)


def _later_steps(gather: Gathering) -> Iterator[tuple[int, StudioError]]:
    """Yield the last steps that a rank lacks, of those that began with the same step as others."""
    numbers: defaultdict[int, set[int]] = defaultdict(set)
    for step, _, _, source in gather.steps:
        numbers[source].add(step)
    for source, steps in numbers.items():
        rank = gather.sources[source].rank
        peers = [own for other, own in numbers.items() if gather.sources[other].rank != rank and min(own) == min(steps)]
        last = max(map(max, peers), default=0)
        if rank is not None and last > max(steps):
            args = {"rank": rank, "last": max(steps), "other": last}
            yield source, StudioError("timeline.gap.later_steps", **args)


def _open_recordings(gather: Gathering, slices: list[NDArray[Any]]) -> Iterator[tuple[int, StudioError]]:
    """Yield the traces of torch.profiler that lack the end of their recording, or all events of a step before it."""
    of_lane = np.array([lane.source for lane in gather.lanes], np.int64)
    works = np.array([gather.processes[lane.process].pid not in _MARK_PIDS for lane in gather.lanes], np.bool_)
    name = gather.names.get(_RECORDING_END, -1)
    for number, source in enumerate(gather.sources):
        if not source.is_kineto or source.truncated or source.problem:
            continue
        own = of_lane[slices[0]] == number
        ends = slices[2][own & (slices[3] == name)]
        lasting = slices[2][own & works[slices[0]] & (slices[3] != name)]
        longest = max((end - start for _, start, end, of in gather.steps if of == number), default=0)
        if not len(ends):
            yield number, StudioError("timeline.gap.no_end")
        elif longest and len(lasting) and (rest := int(ends.max() - lasting.max())) > longest:
            yield number, StudioError("timeline.gap.silent_end", seconds=f"{rest / 1e9:.3g}")


def _recordings_apart(gather: Gathering, slices: list[NDArray[Any]]) -> Iterator[tuple[int, StudioError]]:
    """Yield the ranks whose recording begins long after those of all before it have ended, by the clocks of hosts."""
    source = np.array([lane.source for lane in gather.lanes], np.int64)[slices[0]]
    spans = []
    for number, each in enumerate(gather.sources):
        own = source == number
        if each.rank is not None and own.any() and (start := int(slices[1][own].min())) > EARLIEST_EPOCH:
            spans.append((start, int(slices[2][own].max()), number))
    latest, before = 0, -1
    for start, end, number in sorted(spans):
        rank, other = gather.sources[number].rank, gather.sources[before].rank
        if before >= 0 and rank != other and start - latest > APART_NS:
            args = {"rank": rank, "other": other, "seconds": f"{(start - latest) / 1e9:.4g}"}
            yield number, StudioError("timeline.gap.apart", **args)
        latest, before = max((latest, before), (end, number))


def _lost_lanes(gather: Gathering, order: Order) -> Iterator[tuple[int, StudioError]]:
    """Yield the kinds of lanes that a rank lacks and another one has."""
    kinds: dict[int, set[str]] = {}
    for number, source in enumerate(gather.sources):
        if source.rank is not None and source.kind in ("text", "db") and source.problem is None:
            kinds[number] = set()
    for lane in order.lanes:
        if (number := gather.lanes[lane].source) in kinds:
            kinds[number].add(order.kinds[lane])
    for kind, title in COMPARED.items():
        of_rank = {gather.sources[number].rank for number, own in kinds.items() if kind in own}
        for number, own in kinds.items():
            if of_rank and kind not in own and gather.sources[number].rank not in of_rank:
                args = {"rank": gather.sources[number].rank, "lanes": t(title)}
                yield number, StudioError("timeline.gap.lanes", **args)
