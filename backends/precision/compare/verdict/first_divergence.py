"""The first divergence of a pass: which of the events and of the calls without a partner it is, and why."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.alignment.parameters import is_parameter_input
from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.compare.comparison import BY_OPTIMIZER, First, Where
from backends.precision.compare.judgement.evidence import differing_training, key_of
from backends.precision.compare.judgement.leaves import alteration_of, lone_alterations
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER, ROLES
from backends.precision.dump.names import name_of, source_of
from backends.precision.measure.formats import FLOATS

if TYPE_CHECKING:
    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.state import Event, Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump

FROM_WITHIN = (
    "argument",
    "first_nan",
    "first_inf",
    "golden_nan",
    "output_cast",
    "parameter",
    "needs_grad",
    "data",
    "random",
)
"""Differences that explain themselves: no call that is missing before them is the reason."""
LONG_NUMBER = re.compile(r"-?\d{1,9}\.\d{14,20}")
NONFINITE = ("first_nan", "first_inf", "golden_nan")


def first_of_pass(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, step: int, rank: int
) -> First | None:
    """Return the first divergence of one pass: a difference of values or, where such a difference follows from a call
    that one side lacks or has elsewhere, or where there is none, that call."""
    event = next(iter(judgement.events), None)
    call = _unmatched_cause(joined, judgement, unmatched, event)
    detached = detached_row(joined)
    if detached is not None and _explains(joined, detached, event.call if call is None and event else call):
        return _first_of_detached(joined, detached, step, rank)
    if call is not None:
        return _first_of_call(joined, unmatched, call, step, rank)
    return None if event is None else _first_of_event(joined, judgement, unmatched, event, step, rank)


def detached_row(joined: JoinedDumps) -> int | None:
    """Return the first tensor of a forward call, in execution order, that takes part in the gradient on one side alone:
    a `.detach()`, a `no_grad` or a frozen part between it and what made it."""
    rows = joined.rows
    for row in sorted(differing_training(joined)):
        name = joined.names[rows.call[row]]
        is_flowing = rows.role[row] in (INPUT, KWARG, OUTPUT) and joined.eps[row] > 0
        if name.direction == "forward" and is_flowing and not _is_parameter(joined, row):
            return int(row)
    return None


def _is_parameter(joined: JoinedDumps, row: int) -> bool:
    name = joined.names[joined.rows.call[row]]
    return is_parameter_input(name.api, name.type, int(joined.rows.role[row]), joined.rows.items[joined.rows.item[row]])


def _explains(joined: JoinedDumps, detached: int, call: int | None) -> bool:
    """Whether a tensor without a gradient on one side is the reason for a divergence in the backward: of its own call,
    or of one before it in the forward."""
    if call is None or joined.names[call].direction not in BACKWARD:
        return False
    key = key_of(joined.names[call])
    forward = [n for n, name in enumerate(joined.names) if name.direction == "forward" and key_of(name) == key]
    return not forward or forward[0] <= int(joined.rows.call[detached])


def _first_of_detached(joined: JoinedDumps, row: int, step: int, rank: int) -> First:
    target, golden = differing_training(joined)[row]
    call = int(joined.rows.call[row])
    return First(
        name=name_at(joined, call), direction="forward", place=_where(joined, row), index=index_of(joined, row),
        step=step, rank=rank, reason="detached" if golden else "not_detached", source=source_at(joined, call),
        args={"target": str(target), "golden": str(golden)}, call=call, row=row, before=call,
    )  # fmt: skip


def _unmatched_cause(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, event: Event | None
) -> int | None:
    """Return the unmatched call that the first event follows from, or the first one where there is no event."""
    if event is None:
        calls = sorted((*unmatched.one_sided, *unmatched.moved))
        return _forward_of(joined, unmatched, calls[0]) if calls else None
    if event.call in unmatched.moved:
        return event.call
    producer = _unmatched_producer(joined, judgement, unmatched, event)
    if producer is not None:
        return _forward_of(joined, unmatched, producer)
    before = [call for call in unmatched.one_sided if call < event.call]
    came_in = bool(before) and _has_come_in(joined, event, before[-1])
    explains_itself = event.reason in FROM_WITHIN and not came_in
    if not before or explains_itself or event.reason.startswith(BY_OPTIMIZER):
        return None
    is_input = came_in or event.reason.startswith(("input", "gradient_input"))
    near = joined.tolerances.calls_to_input if is_input else joined.tolerances.calls_to_other
    last = before[-1]
    operators_between = sum(not joined.names[call].type for call in range(last + 1, event.call))
    return _forward_of(joined, unmatched, _begin_of_gap(unmatched, last)) if operators_between <= near else None


def _has_come_in(joined: JoinedDumps, event: Event, call: int) -> bool:
    """Tell whether NaN or infinity comes in with an input, and the call of one side before it has such values, too."""
    if event.reason not in NONFINITE or joined.rows.role[event.row] not in (INPUT, KWARG):
        return False
    is_target = joined.calls.target[call] >= 0
    statistics = joined.stats if is_target else joined.golden_stats
    return any(
        _dtype(joined, int(row), golden=not is_target) in FLOATS and not np.isfinite(statistics[row]).all()
        for row in np.flatnonzero(joined.rows.call == call)
    )


def _begin_of_gap(unmatched: UnmatchedCalls, call: int) -> int:
    """Return the first of the one-sided calls that stand side by side with this one."""
    unmatched_calls = set(unmatched.one_sided)
    while call - 1 in unmatched_calls:
        call -= 1
    return call


def _unmatched_producer(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, event: Event
) -> int | None:
    """Return the call that made the input that differs, where only one side has it."""
    if event.row < 0 or joined.rows.role[event.row] in (OUTPUT, GRADIENT):
        return None
    producers = _producer_calls(joined, (judgement.golden_producer, judgement.producer), event)
    calls = [call for call in producers if call in unmatched.one_sided or call in unmatched.moved]
    return _begin_of_gap(unmatched, min(calls)) if calls else None


def _producer_calls(joined: JoinedDumps, sides: tuple[Array, Array], event: Event) -> list[int]:
    rows = (int(side[event.row]) for side in sides)
    return [int(joined.rows.call[row]) for row in rows if row >= 0]


def _forward_of(joined: JoinedDumps, unmatched: UnmatchedCalls, call: int) -> int:
    """Return the forward that a one-sided backward belongs to, if that is one-sided too, else the call itself."""
    name = joined.names[call]
    if name.direction not in BACKWARD:
        return call
    key = (key_of(name), joined.calls.target[call] < 0)
    for other in unmatched.one_sided:
        candidate = joined.names[other]
        if candidate.direction == "forward" and (key_of(candidate), joined.calls.target[other] < 0) == key:
            return other
    return call


def _first_of_call(joined: JoinedDumps, unmatched: UnmatchedCalls, call: int, step: int, rank: int) -> First:
    is_missing = bool(joined.calls.target[call] < 0)
    reason = "moved" if call in unmatched.moved else "missing" if is_missing else "extra"
    args: dict[str, Any] = {}
    other = _replaced_call(joined, unmatched, call)
    if reason == "extra" and other is not None:
        reason, args = "replaced", {"other": name_at(joined, other)}
    return First(
        name=name_at(joined, call), direction=_direction(joined, call), place="missing" if is_missing else "extra",
        index=0, step=step, rank=rank, reason=reason, source=source_at(joined, call), args=args, call=call,
        before=call,
    )  # fmt: skip


def _replaced_call(joined: JoinedDumps, unmatched: UnmatchedCalls, call: int) -> int | None:
    """Return the call of the golden side that stands where one of the target's does."""
    unmatched_calls = set(unmatched.one_sided)
    other = call
    while other in unmatched_calls and joined.calls.target[other] >= 0:
        other += 1
    is_replaced = other in unmatched_calls and other != call and _direction(joined, other) == _direction(joined, call)
    return other if is_replaced else None


def _first_of_event(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, event: Event, step: int, rank: int
) -> First:
    reason = _reason(joined, event)
    row = event.row
    args = _args(joined, judgement, event)
    cause = _uncaptured_cause(joined, judgement, unmatched, event) if reason == "input_untraced" else None
    if cause is not None:
        reason, args = "input_by_other", {**args, "other": name_at(joined, cause)}
    elif reason in ("input_untraced", "parameter"):
        reason, args = _cause_by_name(joined, judgement, event, args, reason)
    return First(
        name=name_at(joined, event.call), direction=_direction(joined, event.call), place=_where(joined, row),
        index=index_of(joined, row), step=step, rank=rank, reason=reason, args=args, call=event.call, row=row,
        source=source_at(joined, event.call if cause is None else cause), before=event.call,
    )  # fmt: skip


def _uncaptured_cause(joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, event: Event) -> int | None:
    """Return the call that made the input, where only one side's capture has such calls: a cast, a change of shape."""
    calls = _producer_calls(joined, (judgement.producer, judgement.golden_producer), event)
    return next((call for call in calls if call in unmatched.uncaptured), None)


def _cause_by_name(
    joined: JoinedDumps, judgement: Judgement, event: Event, args: dict[str, Any], otherwise: str
) -> tuple[str, dict[str, Any]]:
    """Find what only one side ran between what made the input and the call: a capture may know such calls by name,
    without their values (`Dump.untraced`)."""
    producers = _producer_calls(joined, (judgement.producer, judgement.golden_producer), event)
    begin = max((call + 1 for call in producers), default=event.call)
    between = range(begin, event.call + 1)
    target, golden = (
        [name for call in between for name in side.untraced.get(int(calls[call]), ())]
        for side, calls in ((joined.target, joined.calls.target), (joined.golden, joined.calls.golden))
    )
    for reason, names, others in (("input_by_extra", target, golden), ("input_by_missing", golden, target)):
        apis = {name_of(name).api for name in others}
        alone = [name for name in names if name_of(name).api not in apis]
        if alone:
            return reason, {**args, "other": ", ".join(alone[:3])}
    altered = None if producers else alteration_of(joined, event.row, lone_alterations(joined))
    if altered is not None:
        reason = "input_by_extra" if altered[0] else "input_by_missing"
        return reason, {**args, "other": ", ".join((altered[0] or altered[1])[:3])}
    return otherwise, args


def _reason(joined: JoinedDumps, event: Event) -> str:
    if event.reason in ("parameter", "data", "input_untraced") and _is_elsewhere(joined, event):
        return "moved"
    if _direction(joined, event.call) == "backward" and event.reason == "input_untraced":
        return "gradient_input"
    return event.reason


def _is_elsewhere(joined: JoinedDumps, event: Event) -> bool:
    """Whether the golden side uses the target's value in another call of the same api nearby, and only there."""
    rows, row = joined.rows, event.row
    name = joined.names[event.call]
    if not joined.target_value[row] or name.direction != "forward":
        return False
    same = (
        (rows.role == rows.role[row])
        & (rows.item == rows.item[row])
        & (joined.golden_value == joined.target_value[row])
    )
    calls = [int(call) for call in rows.call[same] if abs(int(call) - event.call) <= joined.tolerances.max_move]
    return any(call != event.call and joined.names[call].api == name.api for call in calls)


def _args(joined: JoinedDumps, judgement: Judgement, event: Event) -> dict[str, Any]:
    row = event.row
    error, allowed = float(joined.distance[row]), float(judgement.allowed[row])
    args: dict[str, Any] = {
        "error": _figure(error), "allowed": _figure(allowed), "item": joined.rows.items[joined.rows.item[row]],
        "role": ROLES[joined.rows.role[row]], "target_dtype": _dtype(joined, row, golden=False),
        "golden_dtype": _dtype(joined, row, golden=True), "target": "", "golden": "",
    }  # fmt: skip
    args["producer"] = _producer_name(joined, judgement, event)
    return args | {key: _text(value) for key, value in event.args.items()}


def _text(value: object) -> str:
    """Return an argument as text; 0.009000000000000001 as 0.009 where that is told."""
    text = str(value)[:80]
    return f"{float(text):.9g}" if LONG_NUMBER.fullmatch(text) else text


def _producer_name(joined: JoinedDumps, judgement: Judgement, event: Event) -> str:
    """Return the call that is the last to have made or used the value that differs, "" where no traced one did."""
    producers = _producer_calls(joined, (judgement.producer, judgement.golden_producer), event)
    return name_at(joined, max(producers)) if producers else ""


def _figure(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "-" if math.isnan(value) else "∞"


def _dtype(joined: JoinedDumps, row: int, *, golden: bool) -> str:
    side, rows = (joined.golden, joined.rows.golden) if golden else (joined.target, joined.rows.target)
    index = int(rows[row])
    return side.dtypes[side.dtype[index]] if index >= 0 and side.dtype[index] >= 0 else ""


def name_at(joined: JoinedDumps, call: int) -> str:
    """Return the target's name of a call, the golden side's where the target has none."""
    i, j = int(joined.calls.target[call]), int(joined.calls.golden[call])
    return joined.target.calls[i] if i >= 0 else joined.golden.calls[j]


def _direction(joined: JoinedDumps, call: int) -> Any:
    return "backward" if joined.names[call].direction in BACKWARD else "forward"


def _where(joined: JoinedDumps, row: int) -> Where:
    role = int(joined.rows.role[row])
    if role in (OUTPUT, GRADIENT):
        return "output"
    return "input" if joined.is_tensor[row] else "argument"


def index_of(joined: JoinedDumps, row: int) -> int:
    """Return which input, output or argument of its call a row is: by position, then those by name, then parameters."""
    rows = joined.rows
    item = rows.items[rows.item[row]].partition(".")[0]
    if rows.role[row] in (INPUT, OUTPUT) and item.isdecimal():
        return int(item)
    group = (INPUT, KWARG, PARAMETER) if rows.role[row] in (INPUT, KWARG, PARAMETER) else (OUTPUT, GRADIENT)
    same = [n for n in range(len(rows.call)) if rows.call[n] == rows.call[row] and rows.role[n] in group]
    return same.index(row)


def source_at(joined: JoinedDumps, call: int) -> str:
    """Return the user's line that made a call; of a backward, that of its forward."""
    for side, calls in ((joined.target, joined.calls.target), (joined.golden, joined.calls.golden)):
        index = int(calls[call])
        if index >= 0 and (line := _source(side, index)):
            return line
    name = joined.names[call]
    if name.direction in BACKWARD:
        for other, candidate in enumerate(joined.names):
            if candidate.direction == "forward" and key_of(candidate) == key_of(name):
                return source_at(joined, other)
    return ""


def _source(side: Dump, call: int) -> str:
    stack = int(side.stacks[call])
    return source_of(side.stack_lines[stack]) if stack >= 0 else ""
