"""Lookup of everything that the slice pane shows, off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.query.arrows import arrows_of, host_call_of
from backends.timeline.query.details import Details, details_of

if TYPE_CHECKING:
    from backends.timeline.query.arrows import Arrow
    from backends.timeline.query.stack import SourceFolders
    from backends.timeline.trace import Trace

MAX_FLOWS = 1000


@dataclass(frozen=True, kw_only=True)
class NamedFlow:
    """`name`: of the slice at the other end, empty where there is none."""

    arrow: Arrow
    name: str


@dataclass(frozen=True, kw_only=True)
class SliceLookup:
    """`host_call`: the framework call that started a kernel, -1 for none. `flows`: the first MAX_FLOWS of
    `flow_count`."""

    details: Details
    flows: tuple[NamedFlow, ...]
    flow_count: int
    host_call: int


def load_slice(trace: Trace, index: int, folders: SourceFolders) -> SliceLookup:
    arrows = arrows_of(trace, index)
    chain = host_call_of(trace, index)
    return SliceLookup(
        details=details_of(trace, index, folders),
        flows=tuple(NamedFlow(arrow=arrow, name=_name(trace, arrow.other)) for arrow in arrows[:MAX_FLOWS]),
        flow_count=len(arrows),
        host_call=chain[-1].other if chain else -1,
    )


def _name(trace: Trace, index: int) -> str:
    return trace.name_text(int(trace.name[index])) if index >= 0 else ""
