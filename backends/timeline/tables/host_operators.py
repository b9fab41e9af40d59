"""Where the time of a host went, for traces without a device: operators by self time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.coverage_cache import stored_covered_below
from backends.timeline.tables.devices import slices_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

MAX_OPERATORS = 10
# Frames of Python stacks, and what stands for a whole step or recording: no operators.
_NO_OPERATOR = re.compile(r"\(\d+\): |<built-in |<string>|nn\.Module: |ProfilerStep#|PyTorch Profiler|Iteration Start")
_NO_PROCESS = ("Scope Layer", "Spans", "Traces")  # MindSpore's scopes and Kineto's recordings


@dataclass(frozen=True, kw_only=True)
class HostOperator:
    """Times in ns, over all its calls. `own`: without what was called from it."""

    name: str
    count: int
    whole: int
    own: int


def host_operators(trace: Trace, limit: int = MAX_OPERATORS) -> tuple[HostOperator, ...]:
    """Return the operators with the most self time, counted as in the statistics of a range."""
    names = len(trace.name_family)
    count, whole, own = (np.zeros(names, np.int64) for _ in range(3))
    inner = stored_covered_below(trace)
    for number, lane in enumerate(trace.meta.lanes):
        if lane.kind == "host" and trace.meta.processes[lane.process].name not in _NO_PROCESS:
            where = slices_of(trace, number)
            length = trace.end[where] - trace.start[where]
            for total, values in ((count, length > 0), (whole, length), (own, length - inner[where])):
                np.add.at(total, trace.name[where], values)
    return _first(trace, count, whole, own, limit)


def _first(trace: Trace, count: Numbers, whole: Numbers, own: Numbers, limit: int) -> tuple[HostOperator, ...]:
    operators: list[HostOperator] = []
    for name in np.argsort(-own, kind="stable").tolist():
        if len(operators) == limit or not count[name]:
            break
        text = trace.name_text(name)
        if not _NO_OPERATOR.search(text):
            operators.append(
                HostOperator(name=text, count=int(count[name]), whole=int(whole[name]), own=int(own[name]))
            )
    return tuple(operators)
