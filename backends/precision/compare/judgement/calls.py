"""Whole calls: those that only one side has, the verdict of a call from its rows, and what a module takes from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, EXTRA, FOLLOWS, MISSING, UNKNOWN
from backends.precision.compare.judgement.growth import factors, kappa
from backends.precision.compare.judgement.state import Reach
from backends.precision.dump.dump import OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.judgement.evidence import Call, Value
    from backends.precision.compare.judgement.state import Walk


def judge_one_sided(walk: Walk, call: Call) -> None:
    """Judge a call that one side lacks: its results are as noisy as what is not traced, and it has rounded them."""
    verdict = MISSING if call.is_missing else EXTRA
    tolerances = walk.evidence.tolerances
    level = tolerances.untraced_growth / tolerances.copy_growth * walk.recent_level()
    walk.calls[call.number].verdict = verdict
    for value in (*call.inputs, *call.outputs):
        judged = walk.values[value.row]
        judged.verdict, judged.level = verdict, level
        if value.role == OUTPUT:
            judged.level = max(level, _own_rounding(walk, call, value))
            walk.remember(value)


def _own_rounding(walk: Walk, call: Call, value: Value) -> float:
    """Return what one rounding of a call leaves in its result, as far as statistics may hide it."""
    tolerances = walk.evidence.tolerances
    sizes = [other.size for other in call.inputs if other.eps > 0]
    condition = kappa(call.kind, factors(call.api, sizes, value.size, tolerances), tolerances)
    return min(condition, tolerances.hidden_factor) * tolerances.rounding(value.eps)


def sum_up(walk: Walk, call: Call, events_before: int) -> None:
    """Set the verdict of a call whose rows are judged. `events_before`: how many events there were before it."""
    whole = walk.calls[call.number]
    whole.error, whole.input_error = _largest_distance(call.outputs), _largest_distance(call.inputs)
    if len(walk.events) > events_before:
        whole.verdict = DIFFERS
        for value in call.outputs:
            walk.values[value.row].follows = True
        return
    verdicts = {walk.values[value.row].verdict for value in (*call.inputs, *call.outputs)}
    whole.verdict = next((verdict for verdict in (FOLLOWS, EXPLAINED, EQUAL) if verdict in verdicts), UNKNOWN)


def pass_to_module(walk: Walk, call: Call) -> None:
    """Let the module around a call have at least the level of its outputs: it may let through whatever they did."""
    if call.parent < 0:
        return
    inside = walk.modules.get(call.parent, Reach())
    outputs = [walk.values[value.row] for value in call.outputs]
    walk.modules[call.parent] = Reach(
        max([inside.level, *(value.level for value in outputs)]),
        max([inside.coarsest_eps, *(value.coarsest_eps for value in outputs)]),
        inside.follows or (walk.has_diverged and any(value.follows for value in outputs)),
    )


def _largest_distance(values: list[Value]) -> float:
    return max([value.distance for value in values if value.distance > 0], default=0.0)
