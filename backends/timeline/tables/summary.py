"""Where the time of the steps went: computing, exposed communication, idle; on a host alone, in which operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.devices import Device, devices
from backends.timeline.tables.host_operators import HostOperator, host_operators
from backends.timeline.tables.idle_causes import Cause, causes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.trace import Step, Trace

    Numbers = NDArray[np.int64]

# Flows from the framework's own call to the kernel; those of CANN start on another thread, and later.
FRAMEWORK_FLOWS = ("async_npu", "async_mindspore", "ac2g")


@dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Times of one step on one device, ns. `number`: None for a trace without steps. `start`, `end`: since the origin;
    what starts between them is counted, as torch_npu does in its step_trace_time.csv. `host`: length of the step on the
    host."""

    number: int | None
    rank: int | None
    label: str
    start: int
    end: int
    host: int
    computing: int
    communication: int
    exposed: int
    free: int

    @property
    def whole(self) -> int:
        return self.computing + self.exposed + self.free


@dataclass(frozen=True, kw_only=True)
class Summary:
    """`steps` of all devices. `from_overlap`: they come from the trace's own Overlap Analysis, else from its streams.
    `causes`: what was measured during idle time. `operators`: only where no device was traced."""

    steps: tuple[StepTimes, ...] = ()
    from_overlap: bool = False
    causes: tuple[Cause, ...] = ()
    operators: tuple[HostOperator, ...] = ()

    @property
    def whole(self) -> int:
        return sum(step.whole for step in self.steps)

    def share(self, name: str) -> float:
        """Return the share of "computing", "exposed" or "free" in the whole, 0 to 1, over all steps."""
        return sum(getattr(step, name) for step in self.steps) / self.whole if self.whole else 0.0


def step_summary(trace: Trace) -> Summary:
    """Summarize a trace. Reads all slices of the devices, about 0.3 s per million, so not on the UI thread."""
    each_device = devices(trace)
    if not each_device:
        return Summary(operators=host_operators(trace))
    steps = tuple(step for device in each_device for step in _steps(trace, device))
    return Summary(
        steps=steps,
        from_overlap=all(device.from_overlap for device in each_device),
        causes=causes(trace, each_device, steps),
    )


def _steps(trace: Trace, device: Device) -> Iterator[StepTimes]:
    steps = [step for step in trace.meta.steps if device.rank is None or step.rank in (None, device.rank)]
    if not steps:
        yield _times(device, None, 0, trace.span + 1)
        return
    ranges = _on_device(trace, device, steps)
    for step, (start, end) in zip(steps, ranges, strict=True):
        yield _times(device, step, start, end)


def _times(device: Device, step: Step | None, start: int, end: int) -> StepTimes:
    return StepTimes(
        number=step.number if step else None, rank=device.rank, label=device.label, start=start, end=end,
        host=step.end - step.start if step else 0,
        computing=device.computing.begun_in(start, end), communication=device.communication.begun_in(start, end),
        exposed=device.exposed.begun_in(start, end), free=device.free.begun_in(start, end),
    )  # fmt: skip


def _on_device(trace: Trace, device: Device, steps: list[Step]) -> list[tuple[int, int]]:
    """Return each step's time on a device: from the first kernel that it starts to its own end, or to its last kernel
    where that is later; the next step's first kernel ends it in any case. A step that starts no kernel keeps its time
    on the host."""
    sent, begun = _launches(trace, device)
    ranges = []
    for step in steps:
        low, high = np.searchsorted(sent, (step.start, step.end))
        kernels = begun[low:high]
        start = int(kernels.min()) if len(kernels) else step.start
        ranges.append((start, max(step.end, int(kernels.max()) + 1) if len(kernels) else step.end))
    following = [start for start, _ in ranges[1:]] + [trace.span + 1]
    return [
        (start, min(end, after) if after > start else end)
        for (start, end), after in zip(ranges, following, strict=True)
    ]


def _launches(trace: Trace, device: Device) -> tuple[Numbers, Numbers]:
    """Return (when the host sends, when the device starts), in order of sending."""
    arrow = np.asarray(trace.arrow)
    is_on_device = np.zeros(len(trace.meta.lanes), np.bool_)
    is_on_device[list(device.lanes)] = True
    chosen = is_on_device[arrow[:, 2]] & ~is_on_device[arrow[:, 0]]
    framework = np.array([kind in FRAMEWORK_FLOWS for kind in trace.meta.flow_kinds], np.bool_)
    if len(framework) and (own := chosen & framework[trace.arrow_kind]).any():
        chosen = own
    sent, begun = arrow[chosen, 1], arrow[chosen, 3]
    order = np.argsort(sent, kind="stable")
    return sent[order], begun[order]
