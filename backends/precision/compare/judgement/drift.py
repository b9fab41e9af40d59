"""What is kept between steps (parameters, running statistics): by how much it may differ.

At the first step both sides must have the same. Later it carries the noise of the optimizer: Adam makes ±lr of a
gradient that is nothing but rounding, so that two healthy runs may be two updates apart. An update is known from the
golden side's own steps:

    allowed = rounding + 2 · Σ over the steps since the first of d(golden now, golden before)

Where the largest elements of most parameters moved by about the same (Adam's lr), any element may have moved by that:
then d is at least that step / amax.

Where the first captured step is not the run's first, nothing is known of the updates before it; then a parameter is
held against the others: `peer_factor` times the median of their distances, and at least `unseen_matrix_drift`; a bias
or another vector is not held against anything. Beyond `other_weights_error` that median is no noise: the two began with
other weights, and none of them is allowed to differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.parameters import is_parameter_input, is_running_statistic
from backends.precision.compare.judgement.leaves import leaf_rows
from backends.precision.compare.values.distance import distances, largest
from backends.precision.dump.dump import GRADIENT, MAX, MIN, OUTPUT, PARAMETER
from backends.precision.origin import is_own_capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.joined import JoinedDumps

Key = tuple[str, int, str]
"""A call's name in the golden side, role, item."""


@dataclass(frozen=True, kw_only=True)
class DriftState:
    """After a step of a rank: the statistics of each input, the golden side's and the target's, and by how much it may
    differ; `gradient_noise`: the median distance of its gradients; `agrees`: nothing diverged in it. `step` is its
    number, -1 before the first; `rounded_families`: of products that are rounded to few bits; `is_nonfinite`: one side
    alone had NaN or infinity."""

    step: int = -1
    stats: Mapping[Key, Array] = field(default_factory=dict)
    target_stats: Mapping[Key, Array] = field(default_factory=dict)
    gradient_noise: float = 0.0
    agrees: bool = True
    allowed: Mapping[Key, float] = field(default_factory=dict)
    rounded_families: frozenset[str] = frozenset()
    is_nonfinite: bool = False


def drift_of(joined: JoinedDumps, before: DriftState, step: int) -> dict[int, float]:
    """Return by how much each row that is kept between steps may differ, rounding aside."""
    rows = _state_rows(joined)
    parameters = _parameters(joined, rows)
    states = parameters | leaf_rows(joined, rows)
    if not before.stats:
        return dict.fromkeys(states, 0.0) if _is_first(joined, step) else _unseen_drift(joined, parameters)
    drift: dict[int, float] = {}
    moves = _moves(joined, rows, parameters, before)
    tolerances = joined.tolerances
    running = running_statistics(joined, rows)
    for row in rows:
        move = moves.get(row)
        is_state = move is not None and move < tolerances.max_state_move
        if row in states or (joined.target.framework == "mindspore" and is_state):
            earlier = before.allowed.get(key_of_row(joined, row), 0.0)
            ways = tolerances.running_statistic_share if row in running else tolerances.update_ways
            drift[row] = earlier + ways * (1.0 if move is None else move)
    return drift


def state_after(joined: JoinedDumps, drift: Mapping[int, float], step: int) -> DriftState:
    """Return what the next step of the rank has to know of the parameters of this one."""
    keys = {row: key_of_row(joined, row) for row in _state_rows(joined)}
    return DriftState(
        step=step,
        stats={key: joined.golden_stats[row] for row, key in keys.items()},
        target_stats={key: joined.stats[row] for row, key in keys.items()},
        allowed={keys[row]: allowed for row, allowed in drift.items() if row in keys},
    )


def parameter_rows(joined: JoinedDumps) -> set[int]:
    """Return the rows that hold parameters."""
    return _parameters(joined, _state_rows(joined))


def _state_rows(joined: JoinedDumps) -> list[int]:
    """Return the rows that may be parameters or other state: floating-point inputs of forward calls that both sides
    have."""
    role = joined.rows.role
    floats = joined.is_tensor & (joined.eps > 0) & (role != OUTPUT) & (role != GRADIENT)
    forward = np.array([name.direction == "forward" for name in joined.names] or [False])
    return [*np.flatnonzero(floats & forward[joined.rows.call]).tolist()]


def key_of_row(joined: JoinedDumps, row: int) -> Key:
    name = joined.golden.calls[joined.calls.golden[joined.rows.call[row]]]
    return name, int(joined.rows.role[row]), joined.rows.items[joined.rows.item[row]]


def _moves(joined: JoinedDumps, rows: list[int], parameters: set[int], before: DriftState) -> dict[int, float]:
    """Return how far the golden side's tensors moved since the step before, by row."""
    rows = [row for row in rows if key_of_row(joined, row) in before.stats]
    if not rows:
        return {}
    then, now = np.stack([before.stats[key_of_row(joined, row)] for row in rows]), joined.golden_stats[rows]
    moves = distances(then, now, joined.golden_size[rows])
    trained = joined.target.needs_grad[joined.rows.target[rows]]
    is_parameter = np.array([row in parameters for row in rows]) & (trained | ~trained.any())
    with np.errstate(all="ignore"):
        steps = np.abs(now[:, (MAX, MIN)] - then[:, (MAX, MIN)]).max(axis=1)
        element = _move_of_any_element(steps[is_parameter], joined.tolerances)
        moves[is_parameter] = np.fmax(moves, element / largest(now))[is_parameter]
    return {row: float(move) for row, move in zip(rows, moves, strict=True) if move == move}


def _move_of_any_element(steps: Array, tolerances: Tolerances) -> float:
    """Return by how much any element may have moved: by the largest step, of an optimizer that moves all by about as
    much, else by a share of it."""
    steps = steps[np.isfinite(steps)]
    if not len(steps):
        return 0.0
    largest_step = float(steps.max())
    is_even = largest_step <= tolerances.same_step_spread * float(np.median(steps))
    return largest_step if is_even else tolerances.gradient_noise_share * largest_step


def _is_first(joined: JoinedDumps, step: int) -> bool:
    """Whether a step is the first of its run: msprobe counts from 0, captures of the studio's runs as their curves do,
    from 1."""
    is_ours = any(is_own_capture(side.place.folder) for side in (joined.target, joined.golden))
    return step == 0 or (step == 1 and is_ours)


def _unseen_drift(joined: JoinedDumps, parameters: set[int]) -> dict[int, float]:
    """Return what parameters may differ by after updates that no dump shows. Vectors by anything: the gradient of a
    bias before a norm, or of attention's keys, is nothing but rounding, of which Adam makes whole updates."""
    tolerances = joined.tolerances
    distances_of_parameters = joined.distance[list(parameters)]
    distances_of_parameters = distances_of_parameters[~np.isnan(distances_of_parameters)]
    median = float(np.median(distances_of_parameters)) if len(distances_of_parameters) else 0.0
    if median > tolerances.other_weights_error:
        return dict.fromkeys(parameters, 0.0)
    matrix = max(tolerances.peer_factor * median, tolerances.unseen_matrix_drift)
    return {row: tolerances.unseen_vector_drift if _is_vector(joined, row) else matrix for row in parameters}


def _is_vector(joined: JoinedDumps, row: int) -> bool:
    shape = joined.target.shape[joined.rows.target[row]]
    return shape < 0 or len(joined.target.shapes[shape]) < 2


def running_statistics(joined: JoinedDumps, rows: Iterable[int]) -> frozenset[int]:
    """Return those of the rows that are a running mean or variance."""
    return frozenset(row for row in rows if _is_running_statistic(joined, row))


def _is_running_statistic(joined: JoinedDumps, row: int) -> bool:
    name = joined.names[joined.rows.call[row]]
    return is_running_statistic(
        name.api, name.type, int(joined.rows.role[row]), joined.rows.items[joined.rows.item[row]]
    )


def _parameters(joined: JoinedDumps, rows: list[int]) -> set[int]:
    """Find the parameters by their values, which a module names as its own, or by their places in functions that are
    known."""
    roles, items = joined.rows.role[rows].tolist(), joined.rows.item[rows].tolist()
    values = joined.target_value[rows].tolist()
    named = set(joined.target_value[joined.rows.role == PARAMETER].tolist()) - {0}
    names = map(joined.names.__getitem__, joined.rows.call[rows].tolist())
    texts = joined.rows.items
    return {
        row for row, name, role, item, value in zip(rows, names, roles, items, values, strict=True)
        if value in named or is_parameter_input(name.api, name.type, role, texts[item])
    }  # fmt: skip
