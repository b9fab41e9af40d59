"""Which of what is not explained was the first, and what it is to be called."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import First, Where
from backends.precision.compare.source import source_at
from backends.precision.compare.tokens import BACKWARD
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER, ROLES
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.precision.compare.judge import Event, Judged
    from backends.precision.compare.scene import Scene
    from backends.precision.compare.structure import Structure

NEAR = 8
"""Between a call that one side lacks and a difference that follows from it: calls that have both."""
HIDDEN = 3
"""The same where the inputs of what differs look equal."""
AROUND = 16
"""How far off a call may have been moved."""
FROM_WITHIN = ("argument", "first_nan", "first_inf", "output_cast", "parameter", "needs_grad", "data", "random")
"""Differences that explain themselves: no call that is missing before them is the reason."""


def first_of(scene: Scene, judged: Judged, structure: Structure, step: int, rank: int) -> First | None:
    """The first divergence of one pass: a difference of values or, where such a difference follows from a call that one
    side lacks or has elsewhere, or where there is none, that call."""
    event = next(iter(judged.events), None)
    call = _structural(scene, judged, structure, event)
    if call is not None:
        return _of_call(scene, structure, call, step, rank)
    return None if event is None else _of_event(scene, judged, structure, event, step, rank)


def _structural(scene: Scene, judged: Judged, structure: Structure, event: Event | None) -> int | None:
    if event is None:
        alone = sorted((*structure.odd, *structure.moved))
        return _forward_twin(scene, structure, alone[0]) if alone else None
    if event.call in structure.moved:
        return event.call
    if (made := _by_one_side(judged, scene, structure, event)) is not None:
        return _forward_twin(scene, structure, made)
    before = [n for n in structure.odd if n < event.call]
    if not before or event.reason in FROM_WITHIN:
        return None
    near = NEAR if event.reason.startswith(("input", "gradient_input")) else HIDDEN
    last = before[-1]
    between = sum(_is_leaf(scene, n) for n in range(last + 1, event.call))
    return _forward_twin(scene, structure, _begin(structure, last)) if between <= near else None


def _begin(structure: Structure, last: int) -> int:
    """The first of calls that one side lacks, one beside the other."""
    odd = set(structure.odd)
    while last - 1 in odd:
        last -= 1
    return last


def _is_leaf(scene: Scene, call: int) -> bool:
    return not scene.names[call].type


def _by_one_side(judged: Judged, scene: Scene, structure: Structure, event: Event) -> int | None:
    """The call that made the input that differs, where only one side has it."""
    rows = scene.rows
    if event.row < 0 or rows.role[event.row] in (OUTPUT, GRADIENT):
        return None
    makers = (int(side[event.row]) for side in (judged.golden_producer, judged.producer))
    calls = [int(rows.call[row]) for row in makers if row >= 0]
    found = [call for call in calls if call in structure.odd or call in structure.moved]
    return _begin(structure, min(found)) if found else None


def _forward_twin(scene: Scene, structure: Structure, call: int) -> int:
    """A backward that one side lacks: the forward it belongs to, if that is alone too."""
    name = scene.names[call]
    if name.direction not in BACKWARD:
        return call
    key = (name.kind, name.api, name.type, name.number, scene.calls.target[call] < 0)
    for other in structure.odd:
        one = scene.names[other]
        if (
            one.direction == "forward"
            and (one.kind, one.api, one.type, one.number, scene.calls.target[other] < 0) == key
        ):
            return other
    return call


def _of_call(scene: Scene, structure: Structure, call: int, step: int, rank: int) -> First:
    is_missing = bool(scene.calls.target[call] < 0)
    reason = "moved" if call in structure.moved else "missing" if is_missing else "extra"
    args: dict[str, Any] = {}
    other = _beside(scene, structure, call)
    if reason == "extra" and other is not None:
        reason, args = "replaced", {"other": name_at(scene, other)}
    return First(
        name=name_at(scene, call), direction=_direction(scene, call), place="missing" if is_missing else "extra",
        index=0, step=step, rank=rank, reason=reason, source=source_at(scene, call), args=args, call=call, before=call,
    )  # fmt: skip


def _beside(scene: Scene, structure: Structure, call: int) -> int | None:
    """A call of the golden side in the place of one of the target's."""
    odd = set(structure.odd)
    other = call
    while other in odd and scene.calls.target[other] >= 0:
        other += 1
    return other if other in odd and other != call and _direction(scene, other) == _direction(scene, call) else None


def _of_event(scene: Scene, judged: Judged, structure: Structure, event: Event, step: int, rank: int) -> First:
    reason = _reason(scene, event)
    row = event.row
    args = _args(scene, judged, event)
    cause = _of_one_capture(scene, judged, structure, event) if reason == "input_untraced" else None
    if cause is not None:
        reason, args = "input_by_other", {**args, "other": name_at(scene, cause)}
    elif reason == "input_untraced":
        reason, args = _by_name(scene, judged, event, args)
    return First(
        name=name_at(scene, event.call), direction=_direction(scene, event.call), place=_where(scene, row),
        index=index_of(scene, row), step=step, rank=rank, reason=reason, args=args, call=event.call, row=row,
        source=source_at(scene, event.call if cause is None else cause), before=event.call,
    )  # fmt: skip


def _of_one_capture(scene: Scene, judged: Judged, structure: Structure, event: Event) -> int | None:
    """The call that made the input, where only one side's capture shows such calls: a cast, a change of shape."""
    makers = (int(side[event.row]) for side in (judged.producer, judged.golden_producer))
    calls = (int(scene.rows.call[row]) for row in makers if row >= 0)
    return next((call for call in calls if call in structure.uncompared), None)


def _by_name(scene: Scene, judged: Judged, event: Event, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a side alone ran between what made the input and the call: a capture may know such calls by name, without
    their values (`Dump.untraced`)."""
    makers = [int(side[event.row]) for side in (judged.producer, judged.golden_producer)]
    begin = max((int(scene.rows.call[row]) + 1 for row in makers if row >= 0), default=event.call)
    between = range(begin, event.call + 1)
    mine, theirs = (
        [name for call in between for name in side.untraced.get(int(places[call]), ())]
        for side, places in ((scene.target, scene.calls.target), (scene.golden, scene.calls.golden))
    )
    for reason, names, others in (("input_by_extra", mine, theirs), ("input_by_missing", theirs, mine)):
        apis = {name_of(name).api for name in others}
        alone = [name for name in names if name_of(name).api not in apis]
        if alone:
            return reason, {**args, "other": ", ".join(alone[:3])}
    return "input_untraced", args


def _reason(scene: Scene, event: Event) -> str:
    if event.reason in ("parameter", "data", "input_untraced") and _is_elsewhere(scene, event):
        return "moved"
    if _direction(scene, event.call) == "backward" and event.reason == "input_untraced":
        return "gradient_input"
    return event.reason


def _is_elsewhere(scene: Scene, event: Event) -> bool:
    """The golden side uses the target's value in another call of the same api nearby, and there alone."""
    rows, row = scene.rows, event.row
    name = scene.names[event.call]
    if not scene.mine[row] or name.direction != "forward":
        return False
    here = (rows.role == rows.role[row]) & (rows.item == rows.item[row]) & (scene.theirs == scene.mine[row])
    calls = [int(call) for call in rows.call[here] if abs(int(call) - event.call) <= AROUND]
    return any(call != event.call and scene.names[call].api == name.api for call in calls)


def _args(scene: Scene, judged: Judged, event: Event) -> dict[str, Any]:
    row = event.row
    error, allowed = float(scene.distance[row]), float(judged.allowed[row])
    found: dict[str, Any] = {
        "error": _figure(error), "allowed": _figure(allowed), "item": scene.rows.items[scene.rows.item[row]],
        "role": ROLES[scene.rows.role[row]], "target_dtype": _dtype(scene, row, golden=False),
        "golden_dtype": _dtype(scene, row, golden=True), "target": "", "golden": "",
    }  # fmt: skip
    return found | {key: str(value)[:80] for key, value in event.args.items()}


def _figure(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "-" if math.isnan(value) else "∞"


def _dtype(scene: Scene, row: int, *, golden: bool) -> str:
    side, rows = (scene.golden, scene.rows.golden) if golden else (scene.target, scene.rows.target)
    place = int(rows[row])
    return side.dtypes[side.dtype[place]] if place >= 0 and side.dtype[place] >= 0 else ""


def name_at(scene: Scene, call: int) -> str:
    i, j = int(scene.calls.target[call]), int(scene.calls.golden[call])
    return scene.target.calls[i] if i >= 0 else scene.golden.calls[j]


def _direction(scene: Scene, call: int) -> Any:
    return "backward" if scene.names[call].direction in BACKWARD else "forward"


def _where(scene: Scene, row: int) -> Where:
    role = int(scene.rows.role[row])
    if role in (OUTPUT, GRADIENT):
        return "output"
    return "input" if scene.is_tensor[row] else "argument"


def index_of(scene: Scene, row: int) -> int:
    """The how-manieth input, output or argument of its call: by position, then those by name, then parameters."""
    rows = scene.rows
    item = rows.items[rows.item[row]].partition(".")[0]
    if rows.role[row] in (INPUT, OUTPUT) and item.isdecimal():
        return int(item)
    group = (INPUT, KWARG, PARAMETER) if rows.role[row] in (INPUT, KWARG, PARAMETER) else (OUTPUT, GRADIENT)
    same = [n for n in range(len(rows.call)) if rows.call[n] == rows.call[row] and rows.role[n] in group]
    return same.index(row)


def earliest(found: Iterable[tuple[First, int, int]]) -> tuple[First, int, int] | None:
    """Of the firsts of all passes (with what their calls and rows begin at): the earliest step's, then the earliest in
    execution order over its ranks; `ranks` in its arguments says which of them have one."""
    known = sorted(found, key=lambda one: (one[0].step, one[0].call, one[0].rank))
    if not known:
        return None
    first, calls, rows = known[0]
    ranks = sorted({one.rank for one, _, _ in known if one.step == first.step})
    return replace(first, args={**first.args, "ranks": ", ".join(map(str, ranks))}), calls, rows
