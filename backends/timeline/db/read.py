"""Reading a database of torch_npu, MindSpore or msprof into a gathering. The schema: facts/profiler.md 2.3, and
https://www.hiascend.com/document (msprof_*.db)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.db.communication import Groups, add_planes, read_operations, read_parts
from backends.timeline.db.counters import read_counters
from backends.timeline.db.device import read_tasks
from backends.timeline.db.facts import read_ranks, read_steps
from backends.timeline.db.flows import add_host_flows, flows_to_cards
from backends.timeline.db.host import read_cann, read_collections, read_marks, read_pytorch, read_system
from backends.timeline.db.layouts import LAYOUTS
from backends.timeline.db.names import Names
from backends.timeline.db.opening import opened
from backends.timeline.db.overlap import add_overlap
from backends.timeline.db.place import Places
from backends.timeline.db.slices import DAMAGED, set_aside
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.timeline.db.base import Base
    from backends.timeline.gather import Gather

SLICES = ("TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_OP", "MSTX_EVENTS", "GC_RECORD", "OSRT_API")
SHOWN = frozenset((*SLICES, *(layout.table for layout in LAYOUTS)))
ANALYSIS = ("CommAnalyzer", "StepTraceTime", "Cluster")


def read_db(path: Path, source: int, gather: Gather, tell: Callable[[int, int], None]) -> None:
    """Adds all slices, flows, samples and steps of a database. `gather.events`: rows of the tables that are shown, and
    those of them that cannot be are set aside; of a file that is cut short, what is whole. Raises StudioError where
    there is nothing to read."""
    with opened(path) as base:
        _check(base)
        base.tell = tell
        tell(0, base.size)
        _read(base, Places(gather=gather, source=source))
        tell(base.size, base.size)
        gather.events += base.damaged
        set_aside(gather, DAMAGED, base.damaged)
        gather.sources[source].truncated = base.lost > 0


def _check(base: Base) -> None:
    if SHOWN & base.tables.keys():
        return
    analysis = any(name.startswith(part.upper()) for name in base.tables for part in ANALYSIS)
    raise StudioError("timeline.db.no_slices" if analysis else "timeline.db.unknown", path=str(base.path))


def _read(base: Base, places: Places) -> None:
    gather, names = places.gather, Names(base, places.gather)
    read_ranks(base, places)
    read_steps(base, places)
    cann, marks, framework = (read(base, places, names) for read in (read_cann, read_marks, read_pytorch))
    read_collections(base, places)
    read_system(base, places, names)
    add_host_flows(base, gather, names, framework)
    flows = flows_to_cards(base, gather, cann, marks, framework)
    groups, parts = Groups(places=places, names=names), read_parts(base)
    tasks = read_tasks(base, places, names, parts["globalTaskId"], flows)
    operations = read_operations(base, places, names, groups, tasks)
    add_planes(places, names, groups, parts, tasks)
    add_overlap(places, tasks, operations)
    for flow in flows:
        flow.to(operations.lane, operations["startNs"], operations["connectionId"])
        flow.close()
    read_counters(base, places, names)
