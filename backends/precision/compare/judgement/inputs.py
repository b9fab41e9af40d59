"""The inputs of a call: where each is from, and what it may differ by for that.

An input belongs to the latest earlier tensor with the same value on its side. Where both sides' is the same row, it was
judged there. What no call made is data, a parameter, or the result of something that is not traced.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.precision.compare.comparison import EQUAL, EXPLAINED, FOLLOWS, UNKNOWN
from backends.precision.compare.judgement.autocast import hidden_rounding
from backends.precision.compare.judgement.state import ANYTHING, explained_verdict, hold_against_limit, level_of
from backends.precision.compare.tolerances import LOW_PRECISION_EPS
from backends.precision.compare.values.distance import distances
from backends.precision.dump.dump import MAX, MEAN, MIN, NORM, OUTPUT, PARAMETER

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.evidence import Call, Value
    from backends.precision.compare.judgement.state import Walk
    from backends.precision.compare.values.joined import JoinedDumps

COMMON_EXTREMES = {0.0, 1.0, -1.0}
"""Extremes of many tensors: masks, probabilities, what a ReLU made. Two with the same need not be one."""


def judge_inputs(walk: Walk, call: Call) -> None:
    for value in call.inputs:
        if value.is_tensor:
            _judge_tensor(walk, call, value)
        else:
            _judge_argument(walk, call, value)


def _judge_argument(walk: Walk, call: Call, value: Value) -> None:
    difference = walk.evidence.differing_arguments.get(value.row)
    judged = walk.values[value.row]
    if difference is None:
        judged.verdict = EQUAL
    elif not call.is_forward:
        judged.verdict = UNKNOWN
    elif walk.is_nonfinite and difference.is_nonfinite:
        judged.verdict = FOLLOWS
    elif difference.is_within(min(walk.recent_level(), walk.evidence.tolerances.argument_noise)):
        judged.verdict = EXPLAINED
    else:
        walk.add_event(call, value, "argument", target=difference.target or "-", golden=difference.golden or "-")


def _judge_tensor(walk: Walk, call: Call, value: Value) -> None:
    producer = walk.last_target_row.get(value.target_value, -1)
    golden_producer = walk.last_golden_row.get(value.golden_value, -1)
    judged = walk.values[value.row]
    judged.producer, judged.golden_producer = producer, golden_producer
    is_same = producer >= 0 and producer == golden_producer
    if is_same and (not value.has_unusual_dtype or walk.evidence.values[producer].has_unusual_dtype):
        _inherit(walk, value, producer)
        return
    _judge_new(walk, call, value, producer, golden_producer)
    walk.remember(value)


def _inherit(walk: Walk, value: Value, producer: int) -> None:
    """Take over what was said of a tensor where it was made: both sides use what the same call made."""
    judged, judged_producers = walk.values[value.row], walk.values[producer]
    judged.level, judged.coarsest_eps, judged.hidden_factor = (
        judged_producers.level,
        judged_producers.coarsest_eps,
        judged_producers.hidden_factor,
    )
    judged.allowed, judged.follows = judged_producers.allowed, judged_producers.follows
    judged.verdict = explained_verdict(walk, value)


class _Origin(NamedTuple):
    """Where an input is from. `producers`: rows that made it, on either side; `is_state`: it is a parameter or other
    state that no call made; `level` of its producers."""

    producers: list[int]
    is_state: bool
    level: float


def _judge_new(walk: Walk, call: Call, value: Value, producer: int, golden_producer: int) -> None:
    """Judge what no call made, or not the same call on both sides."""
    evidence, judged = walk.evidence, walk.values[value.row]
    origin = _origin(walk, value, producer, golden_producer)
    judged_producers = [walk.values[row] for row in origin.producers]
    judged.coarsest_eps = max([value.eps, *(producer_state.coarsest_eps for producer_state in judged_producers)])
    of_autocast = _rounding_of_autocast(walk, call, value, origin)
    if of_autocast:
        judged.coarsest_eps = max(judged.coarsest_eps, evidence.autocast_eps)
    judged.follows = walk.has_diverged and any(producer_state.follows for producer_state in judged_producers)
    judged.hidden_factor = _hidden_factor(walk, value, origin)
    expected = _expected(walk, call, value, origin, is_golden=producer >= 0)
    if not origin.producers and not origin.is_state and _follows_untraced(walk, value, expected):
        expected = evidence.tolerances.untraced_growth * max(walk.recent_following, default=0.0)
        judged.follows = True
    if origin.is_state and value.row in evidence.trained:
        target, golden = evidence.trained[value.row]
        walk.add_event(call, value, "needs_grad", target=str(target), golden=str(golden))
        return
    if origin.is_state and value.row in evidence.updates.rows:
        _judge_updated(walk, call, value)
        judged.level = level_of(walk, value, expected)
        return
    allowed = _allowed(walk, value, origin, expected) + of_autocast
    is_running = origin.is_state and value.row in evidence.running and evidence.drift[value.row] > 0
    if is_running:
        allowed += _noise_of_mean(walk, call, value)
    reason = _reason(walk, call, value, has_producer=bool(origin.producers))
    hold_against_limit(walk, call, value, allowed, reason, is_bounded=is_running)
    judged.level = level_of(walk, value, expected if origin.is_state else _level_before(walk, origin, expected))


def _level_before(walk: Walk, origin: _Origin, expected: float) -> float:
    """Return the error that an input had before rounding: of one that nothing traced has made that of what was traced
    last, where it may have brought any."""
    return origin.level if origin.producers else min(expected, walk.recent_level())


def _noise_of_mean(walk: Walk, call: Call, value: Value) -> float:
    """Return what noise of the normalised tensor leaves in its running mean or variance: means near zero are nothing
    but noise against themselves, and of n elements at random 8 / sqrt(n) of it stays."""
    tolerances, data = walk.evidence.tolerances, call.inputs[0]
    if not data.is_tensor or not data.eps or value.size.amax <= 0:
        return 0.0
    level = max(walk.values[data.row].level, tolerances.rounding(value.eps))
    summands = max(data.size.elements / max(value.size.elements, 1.0), 1.0)
    share = min(tolerances.random_norm_factor / math.sqrt(summands), 1.0)
    return level * share * data.size.rms / value.size.amax


def _rounding_of_autocast(walk: Walk, call: Call, value: Value, origin: _Origin) -> float:
    """Return what autocast leaves in the result of something that neither side traced, data and parameters aside."""
    evidence = walk.evidence
    is_result = call.is_forward and bool(walk.recent_levels) and value.eps > 0
    if not evidence.autocast_eps or not is_result or origin.producers or value.row in evidence.drift:
        return 0.0
    return hidden_rounding(evidence.joined, value, evidence.autocast_eps)


def _judge_updated(walk: Walk, call: Call, value: Value) -> None:
    """Judge a parameter whose last update differs: the first of them stands for all."""
    updates = walk.evidence.updates
    if any(event.reason == updates.reason for event in walk.events):
        walk.values[value.row].verdict, walk.values[value.row].follows = FOLLOWS, True
    else:
        walk.add_event(call, value, updates.reason, **updates.args)


def _origin(walk: Walk, value: Value, producer: int, golden_producer: int) -> _Origin:
    producers = [row for row in (producer, golden_producer) if row >= 0]
    if value.row in walk.evidence.drift:  # zeros are the value of many parameters
        producers = [row for row in producers if walk.evidence.values[row].role == OUTPUT]
    return _Origin(
        producers=producers,
        is_state=value.row in walk.evidence.drift and not producers,
        level=max((walk.values[row].level for row in producers), default=0.0),
    )


def _hidden_factor(walk: Walk, value: Value, origin: _Origin) -> float:
    """Return how much a new input hides: as its producers, or as a parameter that was updated."""
    evidence, tolerances = walk.evidence, walk.evidence.tolerances
    factor = max((walk.values[row].hidden_factor for row in origin.producers), default=tolerances.hidden_factor)
    drift = evidence.drift.get(value.row)
    if drift is None:
        return factor
    if drift > 0:
        factor = max(tolerances.hidden_factor, tolerances.update_spread * value.size.elements**0.25)
    if evidence.rounded_families:
        factor = max(factor, tolerances.flipped_share * drift / tolerances.rounding(value.eps))
    return factor


def _expected(walk: Walk, call: Call, value: Value, origin: _Origin, *, is_golden: bool) -> float:
    """Return the error that an input may have brought with it, rounding aside. `is_golden`: the target traced what made
    it, so that a change in between is the golden side's."""
    evidence, tolerances = walk.evidence, walk.evidence.tolerances
    if len(origin.producers) == 1 and _is_broken(
        evidence.joined, value.row, origin.producers[0], golden=is_golden, forward=call.is_forward
    ):
        return 0.0
    if origin.is_state:
        return evidence.drift[value.row]
    if origin.producers:
        return tolerances.copy_growth * origin.level
    if not call.is_forward and not walk.is_in_backward and value.size.elements == 1:
        return 0.0  # the gradient of the loss itself
    return min(tolerances.untraced_growth * walk.recent_level(), _largest_of_number(walk, call, value))


def _largest_of_number(walk: Walk, call: Call, value: Value) -> float:
    """Return what an untraced number of more bits, such as a temperature or a loss, may differ by where products of few
    bits came before: one number shows its whole error, and sums average what tensors hide."""
    tolerances = walk.evidence.tolerances
    is_number = call.is_forward and value.size.elements == 1 and 0 < value.eps < LOW_PRECISION_EPS
    if not is_number or walk.coarsest_eps < LOW_PRECISION_EPS:
        return ANYTHING
    shown = tolerances.copy_growth * max(walk.recent_errors, default=0.0)
    return max(shown, tolerances.rounding(walk.coarsest_eps))


def _follows_untraced(walk: Walk, value: Value, expected: float) -> bool:
    """Whether what is more than noise may come from a divergence by what is not traced."""
    tolerances = walk.evidence.tolerances
    rounding = tolerances.rounding(value.eps)
    following = tolerances.untraced_growth * max(walk.recent_following, default=0.0)
    return value.eps > 0 and rounding + expected < value.distance <= rounding + following


def _allowed(walk: Walk, value: Value, origin: _Origin, expected: float) -> float:
    drift = walk.evidence.drift.get(value.row, 0.0)
    if not value.eps:
        return 0.0
    if value.differs_in_digest and not origin.producers and not (drift if origin.is_state else walk.recent_levels):
        return 0.0  # nothing has rounded it yet
    if origin.is_state and not drift and value.differs_in_extremes and value.eps >= LOW_PRECISION_EPS:
        return 0.0  # of more bits, a weight may be computed from others: weight norm, a merged adapter
    return walk.evidence.tolerances.rounding(value.eps) + expected


def _reason(walk: Walk, call: Call, value: Value, *, has_producer: bool) -> str:
    if value.has_unusual_dtype:
        return "input_cast"
    if has_producer or not call.is_forward:
        return "input_untraced"
    if value.role == PARAMETER or value.row in walk.evidence.drift:
        return "parameter"
    return "input_untraced" if walk.recent_levels and value.eps else "data"


def _is_broken(joined: JoinedDumps, row: int, producer: int, *, golden: bool, forward: bool) -> bool:
    """Whether something changed the value of row `producer` before `row`, on the golden side or on the target, where
    the other side has the same value in both.

    Within one run there is no noise: an input either is the tensor that a call before made, to the last bit, or
    something stood between. Where that is so on one side alone, an operation that is not traced (a cast, a change in
    place) stands between on the other, however far apart the two sides may be by then. Hooks of modules, which msprobe
    does not see either, may add a few ulp of noise: more than that counts."""
    stats, others = (joined.golden_stats, joined.stats) if golden else (joined.stats, joined.golden_stats)
    size, other_size = (joined.golden_size, joined.size) if golden else (joined.size, joined.golden_size)
    side, rows = (joined.golden, joined.rows.golden) if golden else (joined.target, joined.rows.target)
    both = [row, producer]
    if not joined.is_tensor[producer] or not joined.eps[row] or len({*size[both], *other_size[both]}) > 1:
        return False
    if side.dtype[rows[row]] != side.dtype[rows[producer]] or {*others[row, [MAX, MIN]].tolist()} & COMMON_EXTREMES:
        return False
    columns = (MAX, MIN) if np.isnan(others[row, NORM]) else (MAX, MIN, MEAN, NORM)
    rounding = joined.tolerances.rounding(float(joined.eps[row]))
    is_linked = _distance(others, row, producer, columns, size) <= rounding and others[row, MAX] != others[row, MIN]
    limit = max(rounding, 0.0 if forward else joined.tolerances.branch_share)
    return is_linked and _distance(stats, row, producer, columns, size) > limit


def _distance(stats: Array, row: int, producer: int, columns: tuple[int, ...], size: Array) -> float:
    """Return the distance of two rows of one side by the statistics that are `columns`: where the other side has only
    extremes, it may be linked by chance."""
    two = np.full((2, 4), np.nan)
    two[:, columns] = stats[[row, producer]][:, columns]
    return float(distances(two[:1], two[1:], size[[producer]])[0])
