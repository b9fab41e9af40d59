"""What was going on while the device was idle, as far as it was measured: a hint, since coincidence is no proof."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.devices import slices_of
from backends.timeline.tables.intervals import NO_INTERVALS, Intervals, union, union_of

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
    """`key`: the sentence, with {time}. `ns`: free time of a device during which it went on, the mean over the same
    steps as the times of a step; causes may overlap."""

    key: str
    ns: int


def causes(trace: Trace, devices: Sequence[Device], steps: Sequence[StepTimes]) -> tuple[Cause, ...]:
    """Return the measured causes, the longest first. `steps`: those that the mean is taken over."""
    total = dict.fromkeys((COPIES, *(key for key, _ in ON_HOST)), 0)
    matching = {key: _names(trace, pattern) for key, pattern in ON_HOST}
    for device in devices:
        own = [step for step in steps if step.is_of(device)]
        total[COPIES] += _during(device.copies, device, own)
        for key, names in matching.items():
            total[key] += _during(_on_host(trace, device, names), device, own)
    means = {key: ns // len(steps) for key, ns in total.items() if steps}
    return tuple(Cause(key=key, ns=ns) for key, ns in sorted(means.items(), key=lambda cause: -cause[1]) if ns)


def _during(activity: Intervals, device: Device, steps: Sequence[StepTimes]) -> int:
    """Return for how long something went on in the free time of the steps, in ns. Free time belongs to the step in
    which it begins, as in the times of a step."""
    if not len(activity) or not steps:
        return 0
    before = np.concatenate(([0], np.cumsum(device.free.covered_by(activity))))
    bounds = np.searchsorted(device.free.start, [(step.start, max(step.start, step.end)) for step in steps])
    return int((before[bounds[:, 1]] - before[bounds[:, 0]]).sum())


def _names(trace: Trace, pattern: str) -> NDArray[np.bool_]:
    expression = re.compile(pattern)
    return np.array([expression.search(text) is not None for text in trace.name_texts], np.bool_)


def _on_host(trace: Trace, device: Device, matching: NDArray[np.bool_]) -> Intervals:
    """Return when a name ran on the host of a device: that of its rank, or of its own file where that is unknown."""
    if not matching.any():
        return NO_INTERVALS
    pieces = []
    for number, lane in enumerate(trace.meta.lanes):
        process = trace.meta.processes[lane.process]
        is_own = process.source == device.source if device.rank is None else process.rank == device.rank
        if lane.kind in ("host", "api") and is_own:
            where = slices_of(trace, number)
            chosen = np.flatnonzero(matching[trace.name[where]])
            pieces.append(union(trace.start[where][chosen], trace.end[where][chosen]))
    return union_of(pieces)
