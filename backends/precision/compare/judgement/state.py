"""What the walk through the calls has learned so far, and what it leaves behind: a `Judgement`."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, FOLLOWS, UNKNOWN
from backends.precision.dump.dump import OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.evidence import Call, CallKey, Evidence, Value
    from backends.precision.compare.values.joined import JoinedDumps

ANYTHING = float("inf")
"""The limit of a value that may be anything."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A difference that nothing explains: in a call, at a row (-1: the call itself), and why, a reason of `First`."""

    call: int
    row: int
    reason: str
    args: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What became of one pass. Columns per row: `verdict`, `allowed`, `level` (the relative error that it may have),
    `producer` and `golden_producer` (the earlier row that has its value, -1 without), `by_noise` (bool: only the noise
    of two golden runs explains it). Columns per call: `call_verdict`, `call_error`, `call_input`, `call_allowed`.
    `events` in execution order; `rounded_families`: of products that are rounded to few bits; `is_nonfinite`: a NaN or
    infinity that only one side has was seen, here or in an earlier step."""

    verdict: Array
    allowed: Array
    call_verdict: Array
    call_error: Array
    call_input: Array
    call_allowed: Array
    events: tuple[Event, ...]
    producer: Array
    golden_producer: Array
    level: Array
    by_noise: Array
    rounded_families: frozenset[str]
    is_nonfinite: bool


@dataclass(slots=True)
class JudgedValue:
    """What is known of a value after it was judged. `level`: the relative error that it may have; `coarsest_eps` of the
    dtypes that it came through; `hidden_factor`: how many times its error may be what its statistics show; `follows`:
    it was computed from a difference; `producer`, `golden_producer`: rows that made it on each side, -1 without;
    `by_noise`: only the noise of two golden runs explains it."""

    level: float = 0.0
    coarsest_eps: float = 0.0
    hidden_factor: float = 0.0
    follows: bool = False
    allowed: float = float("nan")
    verdict: int = UNKNOWN
    producer: int = -1
    golden_producer: int = -1
    by_noise: bool = False


class Reach(NamedTuple):
    """What the calls inside a module had: the largest level and eps, and whether something followed a difference."""

    level: float = 0.0
    coarsest_eps: float = 0.0
    follows: bool = False


@dataclass(slots=True)
class JudgedCall:
    """`error` and `input_error`: the largest distance of its outputs and inputs; `allowed`: the largest limit of its
    outputs."""

    verdict: int = UNKNOWN
    error: float = 0.0
    input_error: float = 0.0
    allowed: float = float("nan")


@dataclass(slots=True)
class Walk:
    """State of the walk. `last_target_row`, `last_golden_row`: the latest row that has a value, by the value;
    `recent_levels`: of the last outputs, without their condition numbers, and `recent_following` of those that
    follow a difference; `recent_errors`: what their statistics show; `coarsest_eps` of all outputs so far;
    `modules`: what happened inside each open module; `forward_reach`: what the forward of a key had, for its
    backward; `is_exact`: a result of low precision was equal to the last bit, so this pair has no noise there;
    `has_low_noise`: a later one was not; `is_in_backward`: a backward was seen; `is_nonfinite`: a NaN or infinity
    of one side alone was; `turned_choice`: the first call that chose other indices where the noise of its inputs
    explains it, -1 without; `is_choice_known`: it did, else it may have, since indices have no figures but
    extremes."""

    evidence: Evidence
    values: list[JudgedValue]
    calls: list[JudgedCall]
    recent_levels: deque[float]
    recent_following: deque[float]
    recent_errors: deque[float]
    last_target_row: dict[int, int] = field(default_factory=dict)
    last_golden_row: dict[int, int] = field(default_factory=dict)
    modules: dict[int, Reach] = field(default_factory=dict)
    forward_reach: dict[CallKey, Reach] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    is_exact: bool = False
    has_low_noise: bool = False
    coarsest_eps: float = 0.0
    is_in_backward: bool = False
    is_nonfinite: bool = False
    turned_choice: int = -1
    is_choice_known: bool = False

    @property
    def has_diverged(self) -> bool:
        return bool(self.events) or self.is_nonfinite

    def recent_level(self) -> float:
        return max(self.recent_levels, default=0.0)

    def add_event(self, call: Call, value: Value, reason: str, **args: object) -> None:
        self.events.append(Event(call=call.number, row=value.row, reason=reason, args=args))
        judged = self.values[value.row]
        judged.verdict, judged.follows = DIFFERS, True

    def remember(self, value: Value) -> None:
        """Keep a row as the latest that has its value on each side."""
        if value.target_value:
            self.last_target_row[value.target_value] = value.row
        if value.golden_value:
            self.last_golden_row[value.golden_value] = value.row


def begin_walk(evidence: Evidence, *, is_nonfinite: bool = False) -> Walk:
    tolerances = evidence.tolerances
    recent = int(tolerances.recent_outputs)
    return Walk(
        evidence=evidence, recent_levels=deque(maxlen=recent), recent_following=deque(maxlen=recent),
        recent_errors=deque(maxlen=recent),
        values=[JudgedValue(0.0, value.eps, tolerances.hidden_factor) for value in evidence.values],
        calls=[JudgedCall() for _ in evidence.calls], is_nonfinite=is_nonfinite,
    )  # fmt: skip


def hold_against_limit(
    walk: Walk, call: Call, value: Value, allowed: float, reason: str, *, is_bounded: bool = False
) -> None:
    """Set the verdict of a value that may differ by `allowed`; `reason` is that of the event where it differs more.
    `is_bounded`: a limit that is large is one, too."""
    tolerances, judged = walk.evidence.tolerances, walk.values[value.row]
    with_noise = max(allowed, tolerances.hidden_factor * value.noise)
    judged.by_noise = value.distance > allowed and allowed < tolerances.unrelated_error and with_noise > allowed
    allowed = with_noise if is_bounded or with_noise < tolerances.unrelated_error else ANYTHING
    judged.by_noise &= value.distance <= allowed
    judged.allowed = allowed
    if not value.is_tensor or not (value.has_same_size or call.is_forward):
        judged.verdict = UNKNOWN
    elif value.row in walk.evidence.new_nonfinite:
        _judge_nonfinite(walk, call, value)
    elif not value.has_same_size:
        _judge_size(walk, call, value)
    elif value.has_unusual_dtype or value.distance > allowed:
        walk.add_event(call, value, reason)
    else:
        judged.verdict = explained_verdict(walk, value)


def _judge_size(walk: Walk, call: Call, value: Value) -> None:
    """Name a tensor of another size: where noise has turned a choice before, for instance the expert of a word, the
    parts that were chosen have other sizes."""
    joined = walk.evidence.joined
    sizes = sorted((float(joined.size[value.row]), float(joined.golden_size[value.row])))
    is_near = sizes[1] - sizes[0] <= walk.evidence.tolerances.turned_share * sizes[1]
    if walk.turned_choice < 0 or not (walk.is_choice_known or is_near):
        target, golden = _shapes(joined, value.row)
        walk.add_event(call, value, "shape", target=target, golden=golden)
    else:
        reason = "routing" if walk.is_choice_known else "routing_likely"
        walk.add_event(call, value, reason, other=joined.target.calls[int(joined.calls.target[walk.turned_choice])])


def _shapes(joined: JoinedDumps, row: int) -> tuple[str, str]:
    """Return the shapes of a row on both sides, as text."""
    sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    numbers = [(side, int(side.shape[rows[row]])) for side, rows in sides]
    target, golden = (str(list(side.shapes[number])) if number >= 0 else "-" for side, number in numbers)
    return target, golden


def _judge_nonfinite(walk: Walk, call: Call, value: Value) -> None:
    """Judge a value that is finite on one side alone. After the first of them all others follow, but for what a forward
    call makes of inputs that do not."""
    judged = walk.values[value.row]
    has_clean_inputs = call.is_forward and value.role == OUTPUT and bool(call.inputs) and not judged.follows
    if walk.is_nonfinite and not has_clean_inputs:
        judged.verdict, judged.follows = FOLLOWS, True
    else:
        walk.add_event(call, value, walk.evidence.new_nonfinite[value.row])
    walk.is_nonfinite = True


def explained_verdict(walk: Walk, value: Value) -> int:
    """Return the verdict of a value that is within its limit."""
    distance = value.distance
    if distance == 0:
        return EQUAL
    if distance != distance:
        is_tainted = walk.values[value.row].follows and value.row in walk.evidence.new_nonfinite
        return FOLLOWS if is_tainted else UNKNOWN
    follows = walk.values[value.row].follows and distance > walk.evidence.tolerances.rounding(value.eps)
    return FOLLOWS if follows else EXPLAINED


def level_of(walk: Walk, value: Value, expected: float) -> float:
    """Return the relative error that a value may have: what its statistics show, or the `expected` one that its inputs
    lead to, as far as the statistics may hide it."""
    distance = value.distance
    if value.row in walk.evidence.new_nonfinite:
        return 1.0
    visible = distance if distance < 1.0 else 0.0 if distance != distance else 1.0
    if expected <= visible:
        return visible
    judged, tolerances = walk.values[value.row], walk.evidence.tolerances
    hidden = max(
        judged.hidden_factor * max(visible, tolerances.rounding(value.eps)),
        tolerances.hidden_eps_share * judged.coarsest_eps,
    )
    return max(visible, min(expected, hidden))


def end_walk(walk: Walk) -> Judgement:
    values, calls = walk.values, walk.calls
    return Judgement(
        verdict=np.array([value.verdict for value in values], np.uint8),
        allowed=np.array([value.allowed for value in values], np.float32),
        call_verdict=np.array([call.verdict for call in calls], np.uint8),
        call_error=np.array([call.error for call in calls], np.float32),
        call_input=np.array([call.input_error for call in calls], np.float32),
        call_allowed=np.array([call.allowed for call in calls], np.float32),
        events=tuple(walk.events),
        producer=np.array([value.producer for value in values], np.int64),
        golden_producer=np.array([value.golden_producer for value in values], np.int64),
        level=np.array([value.level for value in values]),
        by_noise=np.array([value.by_noise for value in values], bool),
        rounded_families=walk.evidence.rounded_families, is_nonfinite=walk.is_nonfinite,
    )  # fmt: skip
