"""What is kept between steps (parameters, running statistics): by how much it may differ.

At the first step both sides must have the same. Later it carries the noise of the optimizer: Adam makes ±lr of a
gradient that is nothing but rounding, so that two healthy runs may be two updates apart. An update is known from the
golden side's own steps:

    allowed = ULPS · eps + 2 · Σ over the steps since the first of d(golden now, golden before)

Where the largest elements of most parameters moved by about the same (Adam's lr), any element may have moved by that:
then d is at least that step / amax.

Where the first captured step is not the run's first, nothing is known of the updates before it; then a parameter is
held against the others: OTHERS times the median of their distances, and at least LATE; a bias or another vector is not
held against anything. Beyond UNRELATED that median is no noise: the two began with other weights, and none of them is
allowed to differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.distance import distances, largest
from backends.precision.compare.weights import is_weight
from backends.precision.dump.dump import GRADIENT, MAX, MIN, OUTPUT, PARAMETER
from backends.precision.origin import run_around

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene

Key = tuple[str, int, str]
"""A call's name in the golden side, role, item."""

BOTH_WAYS = 2.0
OTHERS = 8.0
UNRELATED = 1 / 80
"""Of the largest element: two healthy runs are that far apart in most of their parameters only when nothing can be said
of their noise any more."""
LATE = 2.0**-10
"""What single elements of a matrix may have moved by in updates that nobody saw."""
UPDATES = 1.0
"""The same of a vector, whose elements may all have."""
SLOWLY = 0.5
"""What moves by less in a step is kept; data are others each time. Only of MindSpore, whose dumps do not tell what is a
parameter."""
SPREAD = 4.0
"""Adam's largest steps of two parameters differ by less."""
SHARE = 2.0**-7
"""Of the largest step of SGD: the noise in a gradient that is zero but for that, against the largest gradient."""


@dataclass(frozen=True, kw_only=True)
class State:
    """After a step of a rank: the golden side's statistics of each input, and by how much it may differ. `step` is its
    number, -1 before the first; `product_error`: of products rounded to few bits, else 0."""

    step: int = -1
    stats: Mapping[Key, Array] = field(default_factory=dict)
    allowed: Mapping[Key, float] = field(default_factory=dict)
    product_error: float = 0.0


def kept(scene: Scene) -> list[int]:
    """Rows that may be parameters or other state: floating-point inputs of forward calls that both sides have."""
    role = scene.rows.role
    there = scene.is_tensor & (scene.eps > 0) & (role != OUTPUT) & (role != GRADIENT)
    forward = np.array([name.direction == "forward" for name in scene.names] or [False])
    return [*np.flatnonzero(there & forward[scene.rows.call]).tolist()]


def allowances(scene: Scene, before: State, step: int) -> dict[int, float]:
    """Of each row that is state, by how much it may differ, rounding aside."""
    rows = kept(scene)
    parameters = _parameters(scene, rows)
    if not before.stats:
        return dict.fromkeys(parameters, 0.0) if _is_first(scene, step) else _of_others(scene, parameters)
    found: dict[int, float] = {}
    moved = _moved(scene, rows, parameters, before)
    for row in rows:
        way = moved.get(row)
        if row in parameters or (scene.target.framework == "mindspore" and way is not None and way < SLOWLY):
            found[row] = before.allowed.get(_key(scene, row), 0.0) + BOTH_WAYS * (1.0 if way is None else way)
    return found


def after(scene: Scene, allowed: Mapping[int, float], step: int, product_error: float = 0.0) -> State:
    keys = {row: _key(scene, row) for row in kept(scene)}
    return State(
        step=step,
        stats={key: scene.golden_stats[row] for row, key in keys.items()},
        product_error=product_error,
        allowed={keys[row]: way for row, way in allowed.items() if row in keys},
    )


def _key(scene: Scene, row: int) -> Key:
    name = scene.golden.calls[scene.calls.golden[scene.rows.call[row]]]
    return name, int(scene.rows.role[row]), scene.rows.items[scene.rows.item[row]]


def _moved(scene: Scene, rows: list[int], parameters: set[int], before: State) -> dict[int, float]:
    """How far the golden side's tensors moved since the step before."""
    known = [row for row in rows if _key(scene, row) in before.stats]
    if not known:
        return {}
    then, now = np.stack([before.stats[_key(scene, row)] for row in known]), scene.golden_stats[known]
    way = distances(then, now, scene.golden_size[known])
    trained = scene.target.needs_grad[scene.rows.target[known]]
    is_parameter = np.array([row in parameters for row in known]) & (trained | ~trained.any())
    with np.errstate(all="ignore"):
        step = np.abs(now[:, (MAX, MIN)] - then[:, (MAX, MIN)]).max(axis=1)
        way[is_parameter] = np.fmax(way, _same_step(step[is_parameter]) / largest(now))[is_parameter]
    return {row: float(one) for row, one in zip(known, way, strict=True) if one == one}


def _same_step(steps: Array) -> float:
    """By how much any element may have moved: by the largest step, of an optimizer that moves all by about as much,
    else by SHARE of it."""
    steps = steps[np.isfinite(steps)]
    if not len(steps):
        return 0.0
    most = float(steps.max())
    return most if most <= SPREAD * float(np.median(steps)) else SHARE * most


def _is_first(scene: Scene, step: int) -> bool:
    """Of its run: msprobe counts from 0, captures of the studio's runs as their curves do, from 1."""
    ours = any(run_around(side.place.folder) is not None for side in (scene.target, scene.golden))
    return step == 0 or (step == 1 and ours)


def _of_others(scene: Scene, parameters: set[int]) -> dict[int, float]:
    """Vectors first: the gradient of a bias before a norm, or of attention's keys, is nothing but rounding, of which
    Adam makes whole updates."""
    far = scene.distance[list(parameters)]
    median = float(np.median(far[~np.isnan(far)])) if (~np.isnan(far)).any() else 0.0
    if median > UNRELATED:
        return dict.fromkeys(parameters, 0.0)
    led = max(OTHERS * median, LATE)
    return {row: UPDATES if _is_vector(scene, row) else led for row in parameters}


def _is_vector(scene: Scene, row: int) -> bool:
    shape = scene.target.shape[scene.rows.target[row]]
    return shape < 0 or len(scene.target.shapes[shape]) < 2


def _parameters(scene: Scene, rows: list[int]) -> set[int]:
    """By their values, which a module names as its own, or by their places in functions that are known."""
    roles, items, mine = scene.rows.role[rows].tolist(), scene.rows.item[rows].tolist(), scene.mine[rows].tolist()
    named = set(scene.mine[scene.rows.role == PARAMETER].tolist()) - {0}
    names = map(scene.names.__getitem__, scene.rows.call[rows].tolist())
    texts = scene.rows.items
    return {
        row for row, name, role, item, value in zip(rows, names, roles, items, mine, strict=True)
        if value in named or is_weight(name.api, name.type, role, texts[item])
    }  # fmt: skip
