"""Whether the sides multiply matrices in fewer bits than they are given, as autocast does.

What lies untraced between two calls of such a run may hold products as well, such as an LSTM's, whose results are put
back into float32: they were rounded to as few bits, though no dtype says so. So does a recurrence that was called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.judgement.operators import multiplies
from backends.precision.compare.tolerances import LOW_PRECISION_EPS
from backends.precision.compare.values.distance import eps_of
from backends.precision.dump.dump import GRADIENT, NORM, OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.evidence import Value
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump


def autocast_eps(joined: JoinedDumps) -> tuple[float, float]:
    """Return the coarsest eps that products of the target, and of the golden side, have rounded wider tensors to, 0
    where a side has none."""
    is_product = np.array(
        [name.direction == "forward" and multiplies(name.type or name.api) for name in joined.names] or [False]
    )
    rows = np.flatnonzero(joined.is_tensor & is_product[joined.rows.call])
    sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    target, golden = (_coarsest(joined, rows, _eps_of_rows(side, numbers[rows])) for side, numbers in sides)
    return target, golden


def _eps_of_rows(side: Dump, rows: Array) -> Array:
    return np.asarray(np.array([*map(eps_of, side.dtypes), 0.0])[np.append(side.dtype, -1)[rows]])


def _coarsest(joined: JoinedDumps, rows: Array, eps: Array) -> float:
    """Return the coarsest eps of results that is coarser than that of what was multiplied, of rows of one side."""
    calls, call = np.unique(joined.rows.call[rows], return_inverse=True)
    is_result = np.isin(joined.rows.role[rows], (OUTPUT, GRADIENT))
    of_results, of_operands = np.zeros(len(calls)), np.full(len(calls), np.inf)
    np.maximum.at(of_results, call[is_result], eps[is_result])
    is_operand = ~is_result & (eps > 0)
    np.minimum.at(of_operands, call[is_operand], eps[is_operand])
    narrowed = of_results[(of_results >= LOW_PRECISION_EPS) & (of_operands < of_results)]
    return float(narrowed.max(initial=0.0))


def hidden_rounding(joined: JoinedDumps, value: Value, eps: float) -> float:
    """Return what an input that nothing traced made may differ by for having been rounded to `eps`: of results of
    products with parameters, which have gradients, and at random, since a wrong scale is none of that."""
    return random_rounding(joined, value, eps) if _is_trained(joined, value.row) else 0.0


def random_rounding(joined: JoinedDumps, value: Value, eps: float) -> float:
    """Return the rounding to `eps` where that is coarser than a value's own and may have made its difference: at
    random, else 0."""
    tolerances = joined.tolerances
    rounding = tolerances.rounding(eps) if eps > value.eps else 0.0
    return rounding if rounding and _is_random(joined, value, rounding, tolerances) else 0.0


def _is_trained(joined: JoinedDumps, row: int) -> bool:
    sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    return all(rows[row] >= 0 and bool(side.needs_grad[rows[row]]) for side, rows in sides)


def _is_random(joined: JoinedDumps, value: Value, rounding: float, tolerances: Tolerances) -> bool:
    """Return whether a norm differs by no more than random errors of the elements leave in it; see `products`."""
    target, golden = float(joined.stats[value.row, NORM]), float(joined.golden_stats[value.row, NORM])
    in_norm = min(tolerances.random_norm_factor / value.size.elements**0.5, 1.0)
    return bool(abs(target - golden) <= rounding * in_norm * abs(golden))
