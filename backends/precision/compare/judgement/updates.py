"""The optimizer as a compared object: what an update may differ by, and the rule that explains one that differs more.

Where both captures have a record of the optimizer (`dump.optimizer`), its hyperparameters have to be equal, and the
norm of each update is held against that of the golden one:

    | |u| / |u golden| - 1 | <= min(base, 4096 · d) + growth · d + rounding of the parameter / |u|,  d of the gradient

The norm, and not single elements: of a gradient that is nothing but rounding Adam makes whole steps of either sign,
which leave the norm as it is. A parameter whose gradient is noise as a whole is held against nothing.

Dumps by msprobe alone have the parameters before and after: their largest and smallest elements moved by as much on
both sides, or the update differs. Most of them have to say so, since one element may be noise:

    | (w1 - w0) - (w1 - w0) golden | <= (min(base, 4096 · d) + growth · d) · |w1 - w0| + rounding,  d of all gradients

A move that is everywhere the same multiple is a learning rate, one that differs in proportion to the parameter itself a
weight decay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.compare.comparison import EQUAL, EXPLAINED, FOLLOWS, UNKNOWN
from backends.precision.compare.judgement.calls import sum_up
from backends.precision.compare.judgement.drift import key_of_row, parameter_rows
from backends.precision.compare.judgement.state import explained_verdict
from backends.precision.compare.values.distance import largest
from backends.precision.dump.dump import GRADIENT, MAX, MIN, NORM, OUTPUT
from backends.precision.dump.optimizer import GRADIENT_SUFFIX, OPTIMIZER, UPDATE_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.drift import DriftState
    from backends.precision.compare.judgement.evidence import Call, Value
    from backends.precision.compare.judgement.state import Walk
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.joined import JoinedDumps

RATE, DECAY, OTHER, SKIPPED = "optimizer_scaled", "optimizer_decay", "optimizer_update", "optimizer_skipped"
"""Reasons of `First`: the rule that an update differs by."""
LEARNING_RATE = "lr"


@dataclass(frozen=True, kw_only=True)
class UnexplainedUpdates:
    """Parameters whose last update differs by more than its gradients explain: `rows`, and the rule as a reason of
    `First` with its arguments."""

    rows: frozenset[int] = frozenset()
    reason: str = OTHER
    args: Mapping[str, object] = field(default_factory=dict)


def is_update(call: Call) -> bool:
    return call.key[0] == OPTIMIZER


# Recorded updates


class _Parameter:
    """The rows of one parameter in a call of the optimizer, by what they hold."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.before: Value | None = None
        self.gradient: Value | None = None
        self.update: Value | None = None


def judge_update(walk: Walk, call: Call) -> None:
    """Judge one group of an optimizer in one step."""
    events_before = len(walk.events)
    follows = walk.has_diverged
    for value in (*call.inputs, *call.outputs):
        if value.is_tensor:
            walk.values[value.row].verdict = FOLLOWS if follows and value.distance > 0 else _plain_verdict(value)
    parameters = _parameters_of(walk, call)
    _judge_settings(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_gradients(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_norms(walk, call, parameters)
    sum_up(walk, call, events_before)


def _plain_verdict(value: Value) -> int:
    return EQUAL if value.distance == 0 else UNKNOWN if value.distance != value.distance else EXPLAINED


def _parameters_of(walk: Walk, call: Call) -> list[_Parameter]:
    parameters: dict[str, _Parameter] = {}
    for value in (*call.inputs, *call.outputs):
        item = _item(walk, value)
        if not value.is_tensor:
            continue
        if item.endswith(GRADIENT_SUFFIX):
            parameters.setdefault(item.removesuffix(GRADIENT_SUFFIX), _Parameter(item)).gradient = value
        elif item.endswith(UPDATE_SUFFIX):
            parameters.setdefault(item.removesuffix(UPDATE_SUFFIX), _Parameter(item)).update = value
        elif value.role != OUTPUT:
            parameters.setdefault(item, _Parameter(item)).before = value
    for name, parameter in parameters.items():
        parameter.name = name
    return list(parameters.values())


def _item(walk: Walk, value: Value) -> str:
    rows = walk.evidence.joined.rows
    return str(rows.items[rows.item[value.row]])


def _judge_settings(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge the hyperparameters. The learning rate comes first: a schedule of it changes others."""
    settings = [value for value in call.inputs if not value.is_tensor]
    for value in sorted(settings, key=lambda setting: _item(walk, setting) != LEARNING_RATE):
        difference = walk.evidence.differing_arguments.get(value.row)
        judged = walk.values[value.row]
        if difference is None:
            judged.verdict = EQUAL
        elif difference.is_within(walk.evidence.tolerances.same_setting):
            judged.verdict = EXPLAINED
        else:
            changed = _changed(walk, parameters)
            item = _item(walk, value)
            kind = "rate" if item == LEARNING_RATE else "setting"
            args = {"group": _group(walk, call), "target": difference.target or "-", "golden": difference.golden or "-"}
            if changed is None:
                walk.add_event(call, value, f"optimizer_{kind}_alone", **args)
            else:
                parameter, ratio = changed
                walk.add_event(call, value, f"optimizer_{kind}", parameter=parameter.name, ratio=f"{ratio:.3g}", **args)


def _changed(walk: Walk, parameters: list[_Parameter]) -> tuple[_Parameter, float] | None:
    """Return the parameter whose update differs most, and how many times the golden one its norm is."""
    ratios = [(parameter, _ratio(walk, parameter.update)) for parameter in parameters]
    known = [(parameter, ratio) for parameter, ratio in ratios if ratio is not None and abs(ratio - 1) > 1e-6]
    if not known:
        return None
    middle = float(np.median([ratio for _, ratio in known]))
    return min(known, key=lambda entry: abs(entry[1] - middle))


def _ratio(walk: Walk, value: Value | None) -> float | None:
    """Return the norm of the target's tensor as a multiple of the golden one, None where that has none."""
    if value is None:
        return None
    joined = walk.evidence.joined
    target, golden = float(joined.stats[value.row, NORM]), float(joined.golden_stats[value.row, NORM])
    return target / golden if golden > 0 and np.isfinite([target, golden]).all() else None


def _group(walk: Walk, call: Call) -> str:
    return call.api.rpartition(".")[2]


def _judge_gradients(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge what the optimizer was given: gradients that are all the same multiple of the golden ones, where the
    backward agrees, were scaled or clipped in another way."""
    tolerances = walk.evidence.tolerances
    found = [(parameter, _ratio(walk, parameter.gradient)) for parameter in parameters]
    ratios = np.array([ratio for _, ratio in found if ratio is not None])
    if not len(ratios):
        return
    ratio = float(np.median(ratios))
    limit = max(tolerances.update_base, _relative_limit(walk.recent_level(), tolerances))
    is_even = float(np.median(np.abs(ratios - ratio))) <= tolerances.update_evenness * abs(ratio - 1)
    if abs(ratio - 1) > limit and is_even:
        parameter = next(parameter for parameter, each in found if each is not None and abs(each - 1) > limit)
        assert parameter.gradient is not None
        walk.add_event(
            call, parameter.gradient, "optimizer_gradient", parameter=parameter.name, ratio=f"{ratio:.3g}",
            group=_group(walk, call),
        )  # fmt: skip


def _judge_norms(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge the updates, and name the first that differs by more than its gradient explains."""
    tolerances = walk.evidence.tolerances
    differing: list[tuple[_Parameter, float]] = []
    ratios: list[float] = []
    for parameter in parameters:
        ratio = _ratio(walk, parameter.update)
        if ratio is None or parameter.update is None:
            continue
        judged = walk.values[parameter.update.row]
        limit = _limit(walk, parameter)
        ratios.append(ratio)
        judged.allowed = limit if limit < tolerances.unrelated_update else float("inf")
        if abs(ratio - 1) > judged.allowed:
            differing.append((parameter, ratio))
        else:
            judged.verdict = explained_verdict(walk, parameter.update)
    if not differing:
        return
    middle = float(np.median(ratios))
    is_even = float(np.median(np.abs(np.array(ratios) - middle))) <= tolerances.update_evenness * abs(middle - 1)
    parameter, ratio = differing[0]
    assert parameter.update is not None
    reason = RATE if is_even and abs(middle - 1) > tolerances.update_base else OTHER
    walk.add_event(
        call, parameter.update, reason, parameter=parameter.name, ratio=f"{ratio:.3g}", group=_group(walk, call)
    )
    for other, _ in differing[1:]:
        if other.update is not None:
            walk.values[other.update.row].verdict = FOLLOWS


def _limit(walk: Walk, parameter: _Parameter) -> float:
    """Return what the norm of an update may differ by, as a part of it."""
    tolerances, joined = walk.evidence.tolerances, walk.evidence.joined
    update, before, gradient = parameter.update, parameter.before, parameter.gradient
    if update is None or gradient is None or gradient.distance != gradient.distance:
        return float("inf")
    size = float(joined.golden_stats[update.row, NORM])
    weights = float(joined.golden_stats[before.row, NORM]) if before is not None else 0.0
    rounding = tolerances.rounding(update.eps) * weights / size if size > 0 else float("inf")
    drift = 0.0 if before is None or before.distance != before.distance else before.distance
    return _relative_limit(gradient.distance + drift, tolerances) + rounding


# Parameters before and after, of dumps by msprobe alone


def unexplained_updates(joined: JoinedDumps, before: DriftState) -> UnexplainedUpdates:
    """Return the parameters that moved otherwise than on the golden side since the step before, which agreed."""
    rows = [row for row in sorted(parameter_rows(joined)) if _is_trained(joined, row)]
    rows = [row for row in rows if key_of_row(joined, row) in before.stats]
    if not rows or not before.agrees:
        return UnexplainedUpdates()
    keys = [key_of_row(joined, row) for row in rows]
    columns = (MAX, MIN)
    golden_then = np.stack([before.stats[key] for key in keys])[:, columns]
    then = np.stack([before.target_stats[key] for key in keys])[:, columns]
    move = joined.stats[rows][:, columns] - then
    golden_move = joined.golden_stats[rows][:, columns] - golden_then
    tolerances = joined.tolerances
    scale = np.maximum(np.abs(move), np.abs(golden_move))
    rounding = tolerances.rounding_ulps * joined.eps[rows][:, None] * largest(joined.golden_stats[rows])[:, None]
    is_known = np.isfinite(scale) & (scale > rounding * tolerances.update_rounding_factor)
    limit = _relative_limit(before.gradient_noise, tolerances) * scale + rounding
    is_wrong = is_known & (np.abs(move - golden_move) > limit)
    if is_wrong.sum() < max(tolerances.min_updates, tolerances.update_share * is_known.sum()):
        wrong = _stands_still(move, golden_move, is_known)
        reason, ratio = SKIPPED, 0.0
    else:
        wrong = is_wrong.any(axis=1)
        reason, ratio = _rule(move[is_wrong], golden_move[is_wrong], golden_then[is_wrong], joined)
    if not wrong.any():
        return UnexplainedUpdates()
    first = rows[int(np.flatnonzero(wrong)[0])]
    name = joined.golden.calls[joined.calls.golden[joined.rows.call[first]]]
    args: dict[str, Any] = {
        "parameter": f"{name}, {joined.rows.items[joined.rows.item[first]]}", "ratio": f"{ratio:.3g}", "group": "",
        "count": int(wrong.sum()), "total": len(rows),
    }  # fmt: skip
    chosen = frozenset(row for row, each in zip(rows, wrong.tolist(), strict=True) if each)
    return UnexplainedUpdates(rows=chosen, reason=f"{reason}_seen", args=args)


def _relative_limit(noise: float, tolerances: Tolerances) -> float:
    """Return what an update may differ by for the noise of its gradient: nothing where that has none."""
    base = min(tolerances.update_base, tolerances.update_base_growth * noise)
    return base + tolerances.update_growth * noise


def _stands_still(move: Array, golden: Array, is_known: Array) -> Array:
    """Mark the parameters that one side has not updated at all, to the last bit, and the other has."""
    still = (move == 0).all(axis=1) & (golden != 0).all(axis=1)
    golden_still = (golden == 0).all(axis=1) & (move != 0).all(axis=1)
    return np.asarray((still | golden_still) & is_known.all(axis=1))


def _is_trained(joined: JoinedDumps, row: int) -> bool:
    needs_grad = joined.target.needs_grad
    return bool(needs_grad[joined.rows.target[row]]) or not needs_grad.any()


def _rule(move: Array, golden: Array, weights: Array, joined: JoinedDumps) -> tuple[str, float]:
    """Return the rule that moves differ by, and the median multiple of the golden ones: the one of the two rules that
    fits better, if it fits at all."""
    with np.errstate(all="ignore"):
        ratio, ratio_spread = _middle(move / golden)
        pull, pull_spread = _middle((move - golden) / weights)
        residuals = {RATE: ratio_spread / abs(ratio - 1), DECAY: pull_spread / abs(pull)}
    fitting = {rule: residual for rule, residual in residuals.items() if residual <= joined.tolerances.update_evenness}
    if ratio < 0:
        fitting.pop(RATE, None)
    return min(fitting, key=fitting.__getitem__, default=OTHER), ratio


def _middle(values: Array) -> tuple[Any, Any]:
    """Return the median of the finite values and their median distance from it, NaN where there are none."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return np.float64("nan"), np.float64("nan")
    middle = np.median(finite)
    return middle, np.median(np.abs(finite - middle))


def gradient_noise(joined: JoinedDumps) -> float:
    """Return the median distance of what the backward made, of the forward's results where it was not captured."""
    role = joined.rows.role
    results = ((role == OUTPUT) | (role == GRADIENT)) & np.isfinite(joined.distance) & (joined.eps > 0)
    backward = np.array([name.direction in BACKWARD for name in joined.names] or [False])[joined.rows.call]
    chosen = joined.distance[results & backward] if (results & backward).any() else joined.distance[results]
    return float(np.median(chosen)) if len(chosen) else 0.0
