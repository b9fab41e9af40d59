"""What was going on while the device was idle, as far as it was measured: a hint, since coincidence is no proof."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.devices import slices_of
from backends.timeline.tables.intervals import NO_INTERVALS, Intervals, intersection, union, union_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.tables.devices import Device
    from backends.timeline.tables.summary import StepTimes
    from backends.timeline.trace import Trace

COPIES = "timeline.cause.copies"

# Names of slices on the host: torch (DataLoader), MindSpore (GetNext), CANN's and CUDA's runtimes.
ON_HOST = (
    ("timeline.cause.loading", r"DataLoader.*__next__|GetNext|get_next"),
    ("timeline.cause.waiting", r"(?:aclrt|acl\.rt|rt|cuda|hip)\w*Synchronize"),
    ("timeline.cause.collecting", r"(?:Python )?GC(?: gen\d| \d|$)|gc\.collect"),
    ("timeline.cause.compiling", r"aclopCompile|aclGenGraph|OpCompile|op_compile"),
    ("timeline.cause.allocating", r"aclrtMalloc|aclrtFree|aclMallocMemInner|cudaMalloc|cudaFree|hipMalloc|hipFree"),
)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """`key`: the sentence, with {time}. `ns`: idle device time during which it went on; causes may overlap."""

    key: str
    ns: int


def causes(trace: Trace, devices: Sequence[Device], steps: Sequence[StepTimes]) -> tuple[Cause, ...]:
    """Return the measured causes, the longest first."""
    total = dict.fromkeys((COPIES, *(key for key, _ in ON_HOST)), 0)
    matching = {key: _names(trace, pattern) for key, pattern in ON_HOST}
    for device in devices:
        free = intersection(device.free, _windows(device, steps))
        total[COPIES] += intersection(free, device.copies).length
        for key, names in matching.items():
            total[key] += intersection(free, _on_host(trace, device.rank, names)).length
    return tuple(Cause(key=key, ns=ns) for key, ns in sorted(total.items(), key=lambda cause: -cause[1]) if ns)


def _windows(device: Device, steps: Sequence[StepTimes]) -> Intervals:
    own = [step for step in steps if (step.rank, step.label) == (device.rank, device.label)]
    return union(np.array([step.start for step in own], np.int64), np.array([step.end for step in own], np.int64))


def _names(trace: Trace, pattern: str) -> NDArray[np.bool_]:
    expression = re.compile(pattern)
    return np.array([expression.search(text) is not None for text in trace.name_texts], np.bool_)


def _on_host(trace: Trace, rank: int | None, matching: NDArray[np.bool_]) -> Intervals:
    if not matching.any():
        return NO_INTERVALS
    pieces = []
    for number, lane in enumerate(trace.meta.lanes):
        if lane.kind in ("host", "api") and rank in (None, trace.meta.processes[lane.process].rank):
            where = slices_of(trace, number)
            chosen = np.flatnonzero(matching[trace.name[where]])
            pieces.append(union(trace.start[where][chosen], trace.end[where][chosen]))
    return union_of(pieces)
