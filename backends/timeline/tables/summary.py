"""Where the time of the steps went: computing, exposed communication, idle; on a host alone, in which operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.devices import Device, devices
from backends.timeline.tables.host_operators import HostOperator, host_operators
from backends.timeline.tables.idle_causes import Cause, causes
from backends.timeline.tables.step_table import Difference, differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    source: int = 0
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

    @property
    def device(self) -> tuple[int, int | None, str]:
        return self.source, self.rank, self.label

    def is_of(self, device: Device) -> bool:
        return self.device == (device.source, device.rank, device.label)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """`steps` of all devices. `from_overlap`: they come from the trace's own Overlap Analysis, else from its streams.
    `causes`: what was measured during idle time. `differences`: figures that the tables next to the traces have
    otherwise. `operators`: only where no device was traced; summed over `hosts`
    ranks (or sources where the ranks are unknown)."""

    steps: tuple[StepTimes, ...] = ()
    from_overlap: bool = False
    causes: tuple[Cause, ...] = ()
    differences: tuple[Difference, ...] = ()
    operators: tuple[HostOperator, ...] = ()
    hosts: int = 0

    @property
    def basis(self) -> tuple[StepTimes, ...]:
        """The steps that every figure is a mean of: those in which a device worked; without steps, whole traces."""
        return basis(self.steps)

    @property
    def is_whole(self) -> bool:
        """Tell whether each device is in the figures, and no table has other ones."""
        return not (self.idle_devices or self.differences)

    @property
    def idle_devices(self) -> tuple[StepTimes, ...]:
        """A step of each device that is in no figure, because none of its steps is in the basis."""
        counted = {step.device for step in self.basis}
        return tuple({step.device: step for step in self.steps if step.device not in counted}.values())

    @property
    def whole(self) -> int:
        """The time of a step on a device: the mean over the basis, ns."""
        return sum(step.whole for step in self.basis) // max(1, len(self.basis))

    def share(self, name: str) -> float:
        """Return the share of "computing", "exposed" or "free" in the time of a step, 0 to 1, over the basis."""
        whole = sum(step.whole for step in self.basis)
        return sum(getattr(step, name) for step in self.basis) / whole if whole else 0.0


def basis(steps: Sequence[StepTimes]) -> tuple[StepTimes, ...]:
    """Return the steps with work on a device; where none is numbered, the devices' whole traces."""
    working = tuple(step for step in steps if step.whole)
    return tuple(step for step in working if step.number is not None) or working


def step_summary(trace: Trace) -> Summary:
    """Summarize a trace. Reads all slices of the devices, about 0.3 s per million, so not on the UI thread."""
    each_device = devices(trace)
    if not each_device:
        return Summary(operators=host_operators(trace), hosts=_hosts(trace))
    steps = tuple(step for device in each_device for step in _steps(trace, device))
    return Summary(
        steps=steps,
        from_overlap=all(device.from_overlap for device in each_device),
        causes=causes(trace, each_device, basis(steps)),
        differences=differences(trace, basis(steps)),
    )


def _hosts(trace: Trace) -> int:
    processes = {lane.process for lane in trace.meta.lanes if lane.kind == "host"}
    return len({(process.source, process.rank) for process in map(trace.meta.processes.__getitem__, processes)})


def _steps(trace: Trace, device: Device) -> Iterator[StepTimes]:
    steps = _recorded(trace.meta.steps, device)
    if not steps:
        yield _times(device, None, 0, trace.span + 1)
        return
    ranges = _on_device(trace, device, steps)
    for step, (start, end) in zip(steps, ranges, strict=True):
        yield _times(device, step, start, end)


def _recorded(steps: Sequence[Step], device: Device) -> list[Step]:
    """Return the steps of a device: those of its own source, else those that another source recorded of its rank."""
    matching = [step for step in steps if device.rank is None or step.rank in (None, device.rank)]
    own = [step for step in matching if step.source == device.source]
    return own or [step for step in matching if step.rank is not None]


def _times(device: Device, step: Step | None, start: int, end: int) -> StepTimes:
    return StepTimes(
        number=step.number if step else None, rank=device.rank, label=device.label,
        source=device.source, start=start, end=end,
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
