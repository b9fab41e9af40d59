"""The optimizer as a compared object: what an update may differ by, and the rule that explains one that differs more.

Where both captures have a record of the optimizer (`dump.optimizer`), its hyperparameters have to be equal, and the
norm of each update is held against that of the golden one:

    | |u| / |u golden| - 1 | <= min(base, 4096 · d) + growth · d + rounding of the parameter / |u|,  d of the gradient

The norm, and not single elements: of a gradient that is nothing but rounding Adam makes whole steps of either sign,
which leave the norm as it is. A parameter whose gradient is noise as a whole is held against nothing.

and twice what two golden runs were apart. The figures are of a sample of a large parameter's elements. All of its
elements take part in the norm of the sums with random signs, of n sums, which is off by about 1 / sqrt(n) where the
elements differ at random:

    | |s| / |s golden| - 1 | <= min(4 / sqrt(n), 4096 · d) + 64 · d + rounding

The cosine of an update with its gradient is held against the golden one: noise turns those elements of an update whose
gradient is small, which weigh little in it.

    | cos(u, g) - cos(u, g) golden | <= rounding of the cosine + min(2^-3, 16384 · d) + 64 · d + rounding

What dumps by msprobe alone tell of the optimizer is judged in `moves`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import EQUAL, EXPLAINED, FOLLOWS, UNKNOWN
from backends.precision.compare.judgement.calls import sum_up
from backends.precision.compare.judgement.gradients import unexplained_gradient
from backends.precision.compare.judgement.moves import OTHER, RATE, relative_limit
from backends.precision.compare.judgement.state import explained_verdict
from backends.precision.dump.dump import KWARG, MAX, NORM, OUTPUT, TENSOR
from backends.precision.dump.optimizer import (
    DIRECTION_SUFFIX,
    GRADIENT_SUFFIX,
    GRADIENT_SUMS_SUFFIX,
    OPTIMIZER,
    UPDATE_SUFFIX,
    UPDATE_SUMS_SUFFIX,
)

if TYPE_CHECKING:
    from backends.precision.compare.judgement.evidence import Call, Value
    from backends.precision.compare.judgement.state import Walk

LEARNING_RATE = "lr"


def is_update(call: Call) -> bool:
    return call.key[0] == OPTIMIZER


class _Parameter:
    """The rows of one parameter in a call of the optimizer, by what they hold."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.before: Value | None = None
        self.gradient: Value | None = None
        self.update: Value | None = None
        self.gradient_sums: Value | None = None
        self.update_sums: Value | None = None
        self.direction: Value | None = None


FIELDS = {
    GRADIENT_SUFFIX: "gradient", UPDATE_SUFFIX: "update", GRADIENT_SUMS_SUFFIX: "gradient_sums",
    UPDATE_SUMS_SUFFIX: "update_sums", DIRECTION_SUFFIX: "direction",
}  # fmt: skip
"""What a row of a parameter holds, by the end of its item."""
ALONE = {
    "before": ("optimizer_absent", "optimizer_extra"), "gradient": ("optimizer_no_gradient", "optimizer_extra_gradient")
}  # fmt: skip
"""The reasons where the target lacks what the golden side has, and the other way round."""


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
        _judge_members(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_gradients(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_each_gradient(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_norms(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_sums(walk, call, parameters)
    if not follows and len(walk.events) == events_before:
        _judge_directions(walk, call, parameters)
    sum_up(walk, call, events_before)


def _plain_verdict(value: Value) -> int:
    if not value.has_same_size or value.distance != value.distance:
        return UNKNOWN
    return EQUAL if value.distance == 0 else EXPLAINED


def _parameters_of(walk: Walk, call: Call) -> list[_Parameter]:
    parameters: dict[str, _Parameter] = {}
    for value in (*call.inputs, *call.outputs):
        if not value.is_tensor or not value.has_same_size:
            continue
        name, holds = _content(_item(walk, value), value)
        if holds:
            setattr(parameters.setdefault(name, _Parameter(name)), holds, value)
    return list(parameters.values())


def _content(item: str, value: Value) -> tuple[str, str]:
    """Return the parameter that a row belongs to and what it holds of it, "" for the optimizer's state."""
    for suffix, holds in FIELDS.items():
        if item.endswith(suffix):
            return item.removesuffix(suffix), holds
    return item, "" if value.role == OUTPUT else "before"


def _item(walk: Walk, value: Value) -> str:
    rows = walk.evidence.joined.rows
    return str(rows.items[rows.item[value.row]])


def _judge_settings(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge the hyperparameters. The learning rate comes first: a schedule of it changes others."""
    settings = [value for value in call.inputs if value.role == KWARG]
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


def _judge_members(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Name a parameter that one side's group alone has, or that has a gradient on one side alone. Where each side has
    some that the other lacks, they may be the same ones by other names, unless the names of most others agree."""
    for holds, reasons in ALONE.items():
        alone = [value for value in call.inputs if _is_alone(walk, value, holds)]
        missing = sum(walk.evidence.joined.rows.target[value.row] < 0 for value in alone)
        if alone and (missing in (0, len(alone)) or len(alone) <= len(parameters)):
            value = alone[0]
            parameter, _ = _content(_item(walk, value), value)
            is_missing = walk.evidence.joined.rows.target[value.row] < 0
            walk.add_event(
                call, value, reasons[0 if is_missing else 1], parameter=parameter, group=_group(walk, call),
                count=len(alone),
            )  # fmt: skip
            return


def _is_alone(walk: Walk, value: Value, holds: str) -> bool:
    """Return whether one side alone has this value of a parameter, and the other's record leaves none out."""
    joined = walk.evidence.joined
    target, golden = int(joined.rows.target[value.row]), int(joined.rows.golden[value.row])
    if target >= 0 and golden >= 0:
        return False
    side, row, other = (joined.target, target, joined.golden) if target >= 0 else (joined.golden, golden, joined.target)
    is_such = side.kind[row] == TENSOR and _content(_item(walk, value), value)[1] == holds
    return bool(is_such and not other.updates.left_out)


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
    noises = [parameter.gradient.noise for parameter, _ in found if parameter.gradient is not None]
    limit = max(tolerances.update_base, relative_limit(walk.recent_level(), tolerances))
    limit += tolerances.update_ways * float(np.median(noises))
    is_even = float(np.median(np.abs(ratios - ratio))) <= tolerances.update_evenness * abs(ratio - 1)
    if abs(ratio - 1) > limit and is_even:
        parameter = next(parameter for parameter, each in found if each is not None and abs(each - 1) > limit)
        assert parameter.gradient is not None
        walk.add_event(
            call, parameter.gradient, "optimizer_gradient", parameter=parameter.name, ratio=f"{ratio:.3g}",
            group=_group(walk, call),
        )  # fmt: skip


def _judge_each_gradient(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Name the first parameter of which the optimizer was given another gradient than the backward explains."""
    gradients = [(each.name, each.gradient) for each in parameters if each.gradient is not None]
    sums = [(each.name, each.gradient_sums) for each in parameters if each.gradient_sums is not None]
    differing = unexplained_gradient(walk, gradients, sums)
    if differing is not None:
        name, value = differing
        ratio = _ratio(walk, value)
        walk.add_event(
            call, value, "optimizer_one_gradient", parameter=name, group=_group(walk, call),
            error=f"{value.distance:.2g}", limit=f"{walk.values[value.row].allowed:.2g}",
            ratio="-" if ratio is None else f"{ratio:.3g}",
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
        ratios.append(ratio)
        if not _is_within(walk, parameter.update, ratio, _limit(walk, parameter)):
            differing.append((parameter, ratio))
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


def _judge_sums(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge the sums over all elements of the updates whose samples agree, and name the first that differs."""
    for parameter in parameters:
        ratio, value = _ratio(walk, parameter.update_sums), parameter.update_sums
        if value is None or ratio is None or _is_within(walk, value, ratio, _limit_of_sums(walk, parameter)):
            continue
        walk.add_event(
            call, value, "optimizer_part", parameter=parameter.name, ratio=f"{ratio:.3g}", group=_group(walk, call)
        )
        return


def _judge_directions(walk: Walk, call: Call, parameters: list[_Parameter]) -> None:
    """Judge where the updates point to, of which the norms agree, and name the first that points elsewhere."""
    joined, tolerances = walk.evidence.joined, walk.evidence.tolerances
    for parameter in parameters:
        value = parameter.direction
        if value is None:
            continue
        target, golden = (float(stats[value.row, MAX]) for stats in (joined.stats, joined.golden_stats))
        limit = _limit_of_direction(walk, parameter) + tolerances.update_ways * value.noise * abs(golden)
        if limit >= tolerances.unrelated_update or not abs(target - golden) > limit:
            continue
        reason = "optimizer_sign" if abs(target + golden) <= max(limit, abs(golden) / 2) else "optimizer_direction"
        walk.add_event(
            call, value, reason, parameter=parameter.name, group=_group(walk, call), target=f"{target:.2g}",
            golden=f"{golden:.2g}",
        )  # fmt: skip
        return


def _limit_of_direction(walk: Walk, parameter: _Parameter) -> float:
    """Return what the cosine of an update with its gradient may differ by."""
    tolerances, noise = walk.evidence.tolerances, _noise(walk, parameter)
    base = min(tolerances.direction_base, tolerances.direction_growth * noise) + tolerances.direction_rounding
    return base + tolerances.update_growth * noise + _rounding(walk, parameter, parameter.update)


def _is_within(walk: Walk, value: Value, ratio: float, limit: float) -> bool:
    """Set what the norm of an update may differ by, and its verdict where it differs by no more."""
    tolerances, judged = walk.evidence.tolerances, walk.values[value.row]
    with_noise = limit + tolerances.update_ways * value.noise
    judged.allowed = with_noise if with_noise < tolerances.unrelated_update else float("inf")
    if abs(ratio - 1) > judged.allowed:
        return False
    judged.verdict = explained_verdict(walk, value)
    judged.by_noise = limit < tolerances.unrelated_update and abs(ratio - 1) > limit
    return True


def _limit(walk: Walk, parameter: _Parameter) -> float:
    """Return what the norm of an update may differ by, as a part of it."""
    drift = _noise(walk, parameter)
    return relative_limit(drift, walk.evidence.tolerances) + _rounding(walk, parameter, parameter.update)


def _limit_of_sums(walk: Walk, parameter: _Parameter) -> float:
    """Return what the norm of the sums of an update may differ by, as a part of it."""
    tolerances, gradient = walk.evidence.tolerances, parameter.gradient_sums
    value = parameter.update_sums
    if value is None or gradient is None or gradient.distance != gradient.distance:
        return float("inf")
    noise = _noise(walk, parameter) + gradient.distance
    base = min(tolerances.sums_factor / math.sqrt(value.size.elements), tolerances.update_base_growth * noise)
    return base + tolerances.update_growth * noise + _rounding(walk, parameter, value)


def _noise(walk: Walk, parameter: _Parameter) -> float:
    """Return the distance of what an update is made from: its gradient, and the parameter before it."""
    before, gradient = parameter.before, parameter.gradient
    if gradient is None or gradient.distance != gradient.distance:
        return float("inf")
    return gradient.distance + (0.0 if before is None or before.distance != before.distance else before.distance)


def _rounding(walk: Walk, parameter: _Parameter, value: Value | None) -> float:
    """Return the rounding of a parameter against the typical element of its update."""
    joined, before = walk.evidence.joined, parameter.before
    if value is None:
        return float("inf")
    size = float(joined.golden_stats[value.row, NORM])
    scale = (value.size.elements / before.size.elements) ** 0.5 if before is not None else 1.0
    weights = float(joined.golden_stats[before.row, NORM]) * scale if before is not None else 0.0
    rounding: float = walk.evidence.tolerances.rounding(value.eps)
    return rounding * weights / size if size > 0 else float("inf")
