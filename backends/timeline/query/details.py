"""Everything about one slice. Its arguments are decoded on demand, from the file they are in; not for the UI thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.db.row_details import row_of
from backends.timeline.query.arrows import BACKWARD, arrows_of, host_call_of
from backends.timeline.query.coverage_numpy import covered_below
from backends.timeline.query.slice_lookup import around, parents_of, slices_named
from backends.timeline.query.stack import CALL_STACKS, SourceFolders, StackFrame, stack_of
from backends.timeline.query.tensors import Tensor, tensors_of
from backends.timeline.tables.companion_rows import CompanionRow, find_companion_rows
from backends.timeline.text.event_lookup import event_of
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.timeline.trace import Trace

METRICS = "metrics"  # see `row_of`
MAX_DECODED = 12  # slices, one around the other, that are decoded to find a stack
NAME_COLUMNS = frozenset(("name", "opName", "message"))  # columns that a slice may be named by
TIMES_AND_IDS = frozenset(
    ("startNs", "endNs", "globalTid", "globalPid", "globalTaskId", "connectionId", "callchainId", "contextId",
     "modelId", "taskId", "opId", "domainId", "fwdThreadId")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Details:
    """`start`, `end`: ns since the origin; `absolute`: the start as the source counts it (see `Meta.is_epoch`); `own`:
    ns that the row below does not cover, in lanes of calls. `raw_start`: as written in the file, "" where unknown.
    `args`: (name, value as text) in file order, those of a row with times and ids last, without the stack. `metrics`:
    (name, value as text) of a kernel in a database. `tables`:
    matching rows of tables next to the trace. `problem`: why expected arguments are missing."""

    index: int
    name: str
    lane: int
    row: int
    rank: int | None
    source: Path
    start: int
    end: int
    own: int
    absolute: int
    raw_start: str
    args: tuple[tuple[str, str], ...]
    metrics: tuple[tuple[str, str], ...]
    tensors: tuple[Tensor, ...]
    stack: tuple[StackFrame, ...]
    tables: tuple[CompanionRow, ...]
    problem: StudioError | None

    @property
    def duration(self) -> int:
        return self.end - self.start


def details_of(trace: Trace, index: int, folders: SourceFolders | None = None) -> Details:
    """Return the details of a slice. `folders`: where the files of a stack may lie on this host."""
    row, start, end = trace.row_of(index), int(trace.start[index]), int(trace.end[index])
    lane = trace.meta.lanes[int(trace.row_lane[row])]
    process = trace.meta.processes[lane.process]
    name = _name(trace, index)
    event, problem = _event(trace, index, name)
    args = _arguments(event)
    absolute = trace.meta.origin_ns + start
    path = source_path(trace, process.source)
    tables = _tables(trace, index, path, name, args)
    metrics = _metrics(event)
    hidden = (*CALL_STACKS, METRICS) if metrics else CALL_STACKS
    part = np.array([row]), np.array([start]), np.array([end])
    return Details(
        index=index,
        name=name,
        lane=int(trace.row_lane[row]),
        row=row,
        rank=process.rank if process.rank is not None else trace.meta.sources[process.source].rank,
        source=path,
        start=start,
        end=end,
        own=end - start - int(covered_below(trace, *part)[0]),
        absolute=absolute,
        raw_start=next((str(event[key]) for key in ("ts", "startNs", "start") if event.get(key) is not None), ""),
        args=tuple((key, text_of(value)) for key, value in _ordered_facts(event, args, name) if key not in hidden),
        metrics=tuple((str(key), text_of(value)) for key, value in metrics.items()),
        tensors=_tensors(args, tables),
        stack=_stack(trace, index, args, folders),
        tables=tables,
        problem=problem,
    )


def _stack(trace: Trace, index: int, args: Mapping[str, Any], folders: SourceFolders | None) -> tuple[StackFrame, ...]:
    """Return the slice's own stack, else that of the nearest enclosing operator, since only outer operators record one;
    else the enclosing Python functions. A kernel has the stack of the call that started it, and a backward operator,
    which no Python calls, that of its forward operator."""
    own = trace.meta.lanes[trace.lane_of(index)].kind
    chain = () if own == "host" else host_call_of(trace, index)
    caller = chain[-1].other if chain else index
    frames = _stack_at(trace, caller, args if caller == index else {}, folders)
    forward = -1 if frames else _forward_of(trace, caller)
    return _stack_at(trace, forward, {}, folders) if forward >= 0 else frames


def _stack_at(
    trace: Trace, index: int, args: Mapping[str, Any], folders: SourceFolders | None
) -> tuple[StackFrame, ...]:
    outwards = [index, *reversed(parents_of(trace, index))]
    for each in outwards[:MAX_DECODED]:
        arguments = args or _arguments(_event(trace, each, _name(trace, each))[0])
        args = {}
        if any(arguments.get(key) for key in CALL_STACKS):
            return stack_of(arguments, (), folders)
    functions = sorted({*outwards, *_functions_around(trace, index)}, key=lambda i: -int(trace.start[i]))
    return stack_of({}, [_name(trace, each) for each in functions], folders)


def _forward_of(trace: Trace, index: int) -> int:
    """Return the forward operator of a backward one or of what it calls; -1 for none."""
    for each in (index, *reversed(parents_of(trace, index))):
        for arrow in arrows_of(trace, each):
            if arrow.incoming and arrow.kind == BACKWARD:
                return arrow.other
    return -1


def _name(trace: Trace, index: int) -> str:
    return trace.name_text(int(trace.name[index]))


def _functions_around(trace: Trace, index: int) -> tuple[int, ...]:
    """Return the slices that contain this one in other lanes of its thread, whose tids continue after a NUL."""
    own = trace.lane_of(index)
    lanes = trace.meta.lanes
    thread = lanes[own].process, lanes[own].tid.split("\0")[0]
    start, end = int(trace.start[index]), int(trace.end[index])
    others = (i for i, lane in enumerate(lanes) if i != own and (lane.process, lane.tid.split("\0")[0]) == thread)
    return tuple(index_around for other in others for index_around in around(trace, other, start, end))


def source_path(trace: Trace, source: int) -> Path:
    """Return the file a source was read from; `trace.root` itself where that is the file."""
    return trace.root / trace.meta.sources[source].path


def _event(trace: Trace, index: int, name: str) -> tuple[Mapping[str, Any], StudioError | None]:
    """Return the event as its file has it now, or why it is unavailable. A changed file is recognized by the name."""
    lane = trace.meta.lanes[trace.lane_of(index)]
    number = trace.meta.processes[lane.process].source
    path, event, is_text = (
        source_path(trace, number),
        int(trace.event[index]),
        trace.meta.sources[number].kind == "text",
    )
    if event < 0 or not (is_text or (lane.table and lane.kind != "overlap")):  # computed, where the source is a db
        return {}, None
    try:
        chunks = trace.chunks(number) if is_text else None
    except OSError:
        return {}, StudioError("timeline.details.cache_gone")
    try:
        event_now = row_of(path, lane.table, event) if chunks is None else event_of(path, chunks, event)
    except OSError as error:
        return {}, from_os(error, path)
    except StudioError as error:
        return {}, error
    if event_now is None or (is_text and not _is_named(event_now, name)):
        return {}, StudioError("timeline.details.changed", path=str(path))
    return event_now, None


def _is_named(event: Mapping[str, Any], name: str) -> bool:
    written = event.get("name")
    return written == name if isinstance(written, str) else True


def _arguments(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments: those of a text event are under "args"; the columns of a row are arguments themselves."""
    if "ph" not in event:
        return dict(event)
    args = event.get("args")
    return {str(key): value for key, value in args.items()} if isinstance(args, dict) else {}


def _metrics(event: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the metrics of a kernel that a database has in a table of their own: rows, and no argument."""
    value = None if "ph" in event else event.get(METRICS)
    return value if isinstance(value, dict) else {}


def _ordered_facts(event: Mapping[str, Any], args: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    """Order the facts of a row: what describes the slice first, times and ids last, without repeating its name."""
    if "ph" in event:
        return list(args.items())
    facts = [(key, value) for key, value in args.items() if not (key in NAME_COLUMNS and value == name)]
    return sorted(facts, key=lambda pair: pair[0] in TIMES_AND_IDS)


def _tables(trace: Trace, index: int, path: Path, name: str, args: dict[str, Any]) -> tuple[CompanionRow, ...]:
    start, duration = int(trace.start[index]), int(trace.end[index] - trace.start[index])
    try:
        return find_companion_rows(
            path.parent,
            name=name,
            start_ns=trace.meta.origin_ns + start,
            duration_ns=duration,
            args=args,
            turn=_turn(trace, index, duration),
        )
    except OSError:
        return ()


def _turn(trace: Trace, index: int, duration: int) -> int | None:
    """Return the number of a host slice among those of its source, name and duration, by start."""
    lanes = trace.meta.lanes
    own = lanes[trace.lane_of(index)]
    if own.kind != "host":
        return None
    source = trace.meta.processes[own.process].source
    rows = [
        row
        for lane in lanes
        if lane.kind == "host" and trace.meta.processes[lane.process].source == source
        for row in range(lane.first_row, lane.first_row + lane.rows)
    ]
    same = slices_named(trace, int(trace.name[index]), 0, trace.span + 1, rows)
    same = same[trace.end[same] - trace.start[same] == duration]
    return int(np.flatnonzero(same == index)[0]) if index in same else None


def _tensors(args: Mapping[str, Any], tables: Sequence[CompanionRow]) -> tuple[Tensor, ...]:
    return tensors_of(args) or next(filter(None, (tensors_of(joined.cells) for joined in tables)), ())


def text_of(value: Any) -> str:
    """Format a value for people: text as it is, everything else as JSON. Numbers keep all their digits."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)
