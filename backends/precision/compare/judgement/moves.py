"""Parameters before and after an update, of dumps by msprobe alone, which hold nothing of the optimizer.

The largest and smallest elements of a parameter moved by as much on both sides, or the update differs. Most of them
have to say so, since one element may be noise:

    | (w1 - w0) - (w1 - w0) golden | <= (min(base, 4096 · d) + growth · d) · |w1 - w0| + rounding,  d of all gradients

and twice what two golden runs were apart. A move that is everywhere the same multiple is a learning rate, one that
differs in proportion to the parameter itself a weight decay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.compare.judgement.drift import key_of_row, parameter_rows
from backends.precision.compare.values.distance import largest
from backends.precision.dump.dump import GRADIENT, MAX, MIN, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.drift import DriftState
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.joined import JoinedDumps

RATE, DECAY, OTHER = "optimizer_scaled", "optimizer_decay", "optimizer_update"
SKIPPED, STILL = "optimizer_skipped", "optimizer_still"
"""Reasons of `First`: the rule that an update differs by."""


@dataclass(frozen=True, kw_only=True)
class UnexplainedUpdates:
    """Parameters whose last update differs by more than its gradients explain: `rows`, and the rule as a reason of
    `First` with its arguments."""

    rows: frozenset[int] = frozenset()
    reason: str = OTHER
    args: Mapping[str, object] = field(default_factory=dict)


def unexplained_updates(joined: JoinedDumps, before: DriftState, noise: Array | None = None) -> UnexplainedUpdates:
    """Return the parameters that moved otherwise than on the golden side since the step before, which agreed. `noise`:
    of each row the distance of two golden runs, NaN where unknown."""
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
    limit = relative_limit(before.gradient_noise, tolerances) * scale + rounding
    if noise is not None:
        limit += tolerances.update_ways * (np.nan_to_num(noise[rows]) * largest(joined.golden_stats[rows]))[:, None]
    is_wrong = is_known & (np.abs(move - golden_move) > limit)
    if is_wrong.sum() < max(tolerances.min_updates, tolerances.update_share * is_known.sum()):
        wrong = _stands_still(move, golden_move, is_known)
        reason, ratio = SKIPPED, 0.0
    else:
        wrong = is_wrong.any(axis=1)
        reason, ratio = _rule(move[is_wrong], golden_move[is_wrong], golden_then[is_wrong], joined)
        if not np.nan_to_num(move).any() or not np.nan_to_num(golden_move).any():
            reason = STILL
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


def relative_limit(noise: float, tolerances: Tolerances) -> float:
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
