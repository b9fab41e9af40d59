"""The outputs of a call: what the levels of its inputs and its own rounding explain.

    forward   allowed = κ · rounding + G · max over inputs of (f · level)
    backward  allowed = κ · rounding of the coarsest dtype on the way + B · G · κ · max over inputs of level

f, κ: `growth`. G and B: `tolerances.Growth`, `backward_growth`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backends.precision.compare.judgement.autocast import random_rounding
from backends.precision.compare.judgement.growth import cancelled, factors, kappa, shift_factors
from backends.precision.compare.judgement.operators import Kind, chooses, family_of, has_kink, is_random, is_recurrent
from backends.precision.compare.judgement.state import ANYTHING, Reach, hold_against_limit, level_of
from backends.precision.compare.tolerances import LOW_PRECISION_EPS
from backends.precision.dump.dump import GRADIENT

if TYPE_CHECKING:
    from backends.precision.compare.judgement.evidence import Call, Value
    from backends.precision.compare.judgement.state import Walk

NOTHING = Reach()


class _Limit(NamedTuple):
    """What an output may differ by, the relative error that the inputs lead to, and κ."""

    allowed: float
    expected: float
    kappa: float


def judge_outputs(walk: Walk, call: Call) -> None:
    used = [value for value in call.inputs if value.is_tensor and value.eps > 0]
    reach = _reach(walk, call, used)
    limit_of = _forward_limit if call.is_forward else _backward_limit
    walk.is_in_backward |= not call.is_forward
    for number, value in enumerate(call.outputs):
        limit = limit_of(walk, call, value, used, reach)
        allowed = limit.allowed
        if not value.eps:
            allowed = ANYTHING if limit.expected > 0 else 0.0  # an index or a mask that the noise may have turned
            if limit.expected > 0 and chooses(call.api) and value.is_tensor:
                _note_choice(walk, call, value)
        judged = walk.values[value.row]
        judged.follows, judged.coarsest_eps = reach.follows, max(value.eps, reach.coarsest_eps)
        hold_against_limit(walk, call, value, allowed, _reason(call, value))
        judged.hidden_factor = _hidden_factor(walk, call, used, limit.kappa)
        judged.level = level_of(walk, value, _expected_behind_kink(walk, call, value, limit.expected))
        whole = walk.calls[call.number]
        whole.allowed = allowed if number == 0 else max(allowed, whole.allowed)
        walk.remember(value)
        _learn(walk, value, reach, limit)
    if call.is_forward:
        _keep_for_backward(walk, call, used)


def _note_choice(walk: Walk, call: Call, value: Value) -> None:
    """Keep the first call whose indices noise has turned, or may have: their extremes do not tell."""
    joined = walk.evidence.joined
    sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    rows = [(side, int(rows[value.row])) for side, rows in sides]
    has_elements = all(row in side.digest or row in side.file for side, row in rows)
    if value.distance > 0 and not walk.is_choice_known:
        walk.turned_choice, walk.is_choice_known = call.number, True
    elif walk.turned_choice < 0 and not has_elements:
        walk.turned_choice = call.number


def _reach(walk: Walk, call: Call, used: list[Value]) -> Reach:
    """Return what comes into a call: from its inputs, from the calls inside it, and from its forward."""
    inside = walk.modules.pop(call.number, NOTHING)
    forward = NOTHING if call.is_forward else walk.forward_reach.get(call.key, NOTHING)
    hidden = walk.evidence.hidden_eps if is_recurrent(call.api) else 0.0
    coarsest = max(
        [hidden, inside.coarsest_eps, forward.coarsest_eps, *(walk.values[value.row].coarsest_eps for value in used)]
    )
    follows = walk.has_diverged and any(walk.values[value.row].follows for value in call.inputs)
    return Reach(max(inside.level, forward.level), coarsest, inside.follows or follows)


def _forward_limit(walk: Walk, call: Call, value: Value, used: list[Value], reach: Reach) -> _Limit:
    tolerances = walk.evidence.tolerances
    sizes = [other.size for other in used]
    f = factors(call.api, sizes, value.size, tolerances)
    levels = (factor * walk.values[other.row].level for factor, other in zip(f, used, strict=True))
    shifts = (
        factor * _visible_error(other)
        for factor, other in zip(shift_factors(call.api, sizes, value.size), used, strict=True)
    )
    expected = _with_hidden(walk, max([reach.level, *levels, *shifts]), reach.coarsest_eps)
    cancels = kappa(call.kind, f, tolerances)
    own = max(cancels * _rounding(walk, call, value.eps), _hidden_in_recurrence(walk, call, value))
    return _Limit(own + tolerances.growth[call.kind] * expected, expected, cancels)


def _visible_error(value: Value) -> float:
    """Return the error that a value's statistics show."""
    return value.distance if 0 < value.distance < 1 else 0.0


def _hidden_in_recurrence(walk: Walk, call: Call, value: Value) -> float:
    """Return what products inside a recurrence have rounded under autocast, though its results are of more bits."""
    evidence = walk.evidence
    if not evidence.hidden_eps or not value.eps or not is_recurrent(call.api):
        return 0.0
    return random_rounding(evidence.joined, value, evidence.hidden_eps)


def _backward_limit(walk: Walk, call: Call, value: Value, used: list[Value], reach: Reach) -> _Limit:
    siblings = [other.size for other in call.outputs if other.role == GRADIENT]
    cancels = cancelled([other.size for other in used], siblings, value.size)
    levels = [walk.values[other.row].level for other in used] if used else [walk.recent_level()]
    expected = cancels * _with_hidden(walk, max([reach.level, *levels]), reach.coarsest_eps)
    tolerances = walk.evidence.tolerances
    if has_kink(call.api):  # an element that was carried over the kink may be none that the statistics show
        expected *= tolerances.kink_growth
    growth = tolerances.growth[call.kind] * tolerances.backward_growth
    own = cancels * _rounding(walk, call, max(reach.coarsest_eps, value.eps))
    if has_kink(call.api) and expected > 0:
        own += _turned_element(value)
    return _Limit(own + growth * expected, expected, cancels)


def _turned_element(value: Value) -> float:
    """Return by how much the mean of a tensor moves, against its typical element, where its largest element comes or
    goes."""
    size = value.size
    return size.amax / (size.rms * size.elements) if size.rms > 0 else 0.0


def _expected_behind_kink(walk: Walk, call: Call, value: Value, expected: float) -> float:
    """Let an element that a kink has turned, and that the mean or the norm shows, be larger than these show."""
    if call.is_forward or not has_kink(call.api) or not value.distance <= walk.values[value.row].allowed:
        return expected
    return max(expected, walk.evidence.tolerances.hidden_factor * value.distance)


def _rounding(walk: Walk, call: Call, eps: float) -> float:
    """Return the rounding of an operator: products may be rounded to fewer bits than their dtype has."""
    rounding = walk.evidence.tolerances.rounding(eps)
    if is_recurrent(call.api):
        rounding *= walk.evidence.tolerances.recurrent_rounding
    is_rounded = family_of(call.api) in walk.evidence.rounded_families
    return max(rounding, walk.evidence.tolerances.ten_bit_error) if is_rounded else rounding


def _with_hidden(walk: Walk, expected: float, coarsest_eps: float) -> float:
    """Add what statistics of few bits need not show: where there is noise, some elements fell to the other side."""
    if coarsest_eps >= LOW_PRECISION_EPS and (expected > 0 or not walk.is_exact):
        return max(expected, walk.evidence.tolerances.hidden_eps_share * coarsest_eps)
    return expected


def _hidden_factor(walk: Walk, call: Call, used: list[Value], cancels: float) -> float:
    """Return how much an output hides. A softmax of large numbers is mostly ones and zeros, which show no error; nor
    does what is picked by them, until weights mix it."""
    tolerances = walk.evidence.tolerances
    if call.kind is Kind.SOFT:
        return max(tolerances.hidden_factor, tolerances.hidden_factor * cancels / tolerances.hot_exponent)
    if not used or (call.kind is Kind.PRODUCT and any(value.row in walk.evidence.drift for value in used)):
        return tolerances.hidden_factor
    return max(walk.values[value.row].hidden_factor for value in used)


def _reason(call: Call, value: Value) -> str:
    if value.has_unusual_dtype:
        return "output_cast"
    if not call.is_forward:
        return "gradient"
    return "random" if is_random(call.api) else "output"


def _learn(walk: Walk, value: Value, reach: Reach, limit: _Limit) -> None:
    """Learn from an output what noise the pair has."""
    if not value.eps:
        return
    judged = walk.values[value.row]
    is_constant = not value.size.spread  # zeros are equal under any noise
    if reach.coarsest_eps >= LOW_PRECISION_EPS > value.eps and not is_constant:
        walk.is_exact = value.distance == 0 and not walk.has_low_noise
        walk.has_low_noise |= value.distance > 0
    (walk.recent_following if judged.follows else walk.recent_levels).append(judged.level / limit.kappa)
    walk.recent_errors.append(_visible_error(value))
    walk.coarsest_eps = max(walk.coarsest_eps, judged.coarsest_eps)


def _keep_for_backward(walk: Walk, call: Call, used: list[Value]) -> None:
    judged = [walk.values[value.row] for value in (*used, *call.outputs)]
    walk.forward_reach[call.key] = Reach(
        max((other.level for other in judged), default=0.0), max((other.coarsest_eps for other in judged), default=0.0)
    )
