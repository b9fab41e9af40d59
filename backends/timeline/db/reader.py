"""Reading of a database of torch_npu, MindSpore or msprof into a gathering. The schema is described in
facts/profiler.md 2.3 and at https://www.hiascend.com/document (msprof_*.db)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.communication import Groups, add_planes, read_operations, read_parts
from backends.timeline.db.counter_layouts import LAYOUTS
from backends.timeline.db.counters import read_db_counters
from backends.timeline.db.device import read_tasks
from backends.timeline.db.flows import add_host_flows, flows_to_devices
from backends.timeline.db.gaps import gaps_of
from backends.timeline.db.host import read_cann, read_collections, read_marks, read_pytorch, read_system
from backends.timeline.db.lanes import DbLanes
from backends.timeline.db.names import Names
from backends.timeline.db.opening import open_database
from backends.timeline.db.overlap import add_overlap
from backends.timeline.db.row_blocks import read_blocks
from backends.timeline.db.slices import DAMAGED, set_aside, timed
from backends.timeline.tables.capture_settings import switches_of
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.timeline.db.database import Database
    from backends.timeline.gathering import Gathering


SLICE_TABLES = ("TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_OP", "MSTX_EVENTS", "GC_RECORD", "OSRT_API")
TIMELINE_TABLES = frozenset((*SLICE_TABLES, *(layout.table for layout in LAYOUTS)))
ANALYSIS = ("CommAnalyzer", "StepTraceTime", "Cluster")


def read_db(path: Path, source: int, gather: Gathering, report: Callable[[int, int], None]) -> None:
    """Add all slices, flows, samples and steps of a database. `gather.events` counts the rows of the tables that are
    shown; unusable rows are set aside, and of a truncated file everything readable is used. Raises StudioError where
    there is nothing to read."""
    with open_database(path) as base:
        _check(base)
        base.report = report
        report(0, base.size)
        names = _read(base, DbLanes(gather=gather, source=source))
        report(base.size, base.size)
        gather.events += base.damaged
        set_aside(gather, DAMAGED, base.damaged)
        gaps = gaps_of(base, names, switches_of(path))
        state = gather.sources[source]
        state.truncated = base.is_cut
        state.gaps = (*_damage(base), *gaps)


def _check(base: Database) -> None:
    if TIMELINE_TABLES & base.tables.keys():
        return
    analysis = any(name.startswith(part.upper()) for name in base.tables for part in ANALYSIS)
    raise StudioError("timeline.db.no_slices" if analysis else "timeline.db.unknown", path=str(base.path))


def _damage(base: Database) -> tuple[StudioError, ...]:
    """Return the sentence about pages that are in the file but hold something else. Where the file was cut off, what is
    lost is behind that."""
    return (StudioError("timeline.gap.pages"),) if base.lost and not base.is_cut else ()


def _read(base: Database, places: DbLanes) -> Names:
    """Read all tables that have a place in time, and return the names that were used."""
    gather, names = places.gather, Names(base, places.gather)
    read_ranks(base, places)
    read_steps(base, places)
    cann, marks, framework = (read(base, places, names) for read in (read_cann, read_marks, read_pytorch))
    read_collections(base, places)
    read_system(base, places, names)
    add_host_flows(base, gather, names, framework)
    flows = flows_to_devices(base, gather, cann, marks, framework)
    groups, parts = Groups(places=places, names=names), read_parts(base)
    tasks = read_tasks(base, places, names, parts["globalTaskId"], flows)
    operations = read_operations(base, places, names, groups, tasks)
    add_planes(places, names, groups, parts, tasks)
    add_overlap(places, tasks, operations)
    for flow in flows:
        flow.to(operations.lane, operations["startNs"], operations["connectionId"])
        flow.close()
    read_db_counters(base, places, names)
    return names


RANKS = 1 << 24  # more than there are devices anywhere


def read_ranks(base: Database, places: DbLanes) -> None:
    """Read the rank of each device, and set that of the source where its name does not tell."""
    for rows in read_blocks(base, "RANK_DEVICE_MAP", ("rankId", "deviceId")):
        for rank, device in zip(rows["rankId"].tolist(), rows["deviceId"].tolist(), strict=True):
            if 0 <= rank < RANKS and device != ABSENT:
                places.ranks[device] = rank
    source = places.gather.sources[places.source]
    if source.rank is None and len(set(places.ranks.values())) == 1:
        source.rank = next(iter(places.ranks.values()))


def read_steps(base: Database, places: DbLanes) -> None:
    gather = places.gather
    for rows in read_blocks(base, "STEP_TIME", ("id", "startNs", "endNs")):
        sound = timed(gather, rows)
        gather.metadata += len(sound)
        for number, start, end in zip(*(sound[name].tolist() for name in ("id", "startNs", "endNs")), strict=True):
            if number != ABSENT:
                gather.steps.append((number, start, end, places.source))
