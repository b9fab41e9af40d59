"""Whether one side multiplies matrices in fewer bits than its dtype has: TF32 of GPUs, HF32 of NPUs.

Both round what is multiplied to 10 bits of mantissa, by default in convolutions, so that every product of such a run is
off by up to 2^-11 of its size, at random. That is noise of the machine and no divergence of one operator. Its siblings
tell them apart: of the products whose inputs agree, most have such an error, and not one of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.judgement.operators import multiplies
from backends.precision.compare.tolerances import LOW_PRECISION_EPS
from backends.precision.dump.dump import GRADIENT, NORM, OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.values.joined import JoinedDumps

RESULTS = (OUTPUT, GRADIENT)


def product_error(joined: JoinedDumps) -> float:
    """Return the error of ten bits where the products of one side are rounded to that, else 0."""
    tolerances = joined.tolerances
    outputs = _outputs(joined)
    differing = [row for row in outputs if not _is_rounding(joined, row)]
    if len(outputs) < tolerances.min_products or len(differing) < tolerances.product_share * len(outputs):
        return 0.0
    quiet = [row for row in outputs if _has_equal_inputs(joined, row)]
    of_ten_bits = [row for row in quiet if _is_of_ten_bits(joined, row)]
    is_usual = bool(of_ten_bits) and len(of_ten_bits) >= tolerances.product_share * len(quiet)
    return tolerances.ten_bit_error if is_usual else 0.0


def _outputs(joined: JoinedDumps) -> list[int]:
    """Return the row of each product's first output, where that is of more bits than 16 on both sides."""
    floats = np.flatnonzero((joined.rows.role == OUTPUT) & joined.is_tensor & (joined.eps > 0))
    calls, first = np.unique(joined.rows.call[floats], return_index=True)
    names = [joined.names[call] for call in calls.tolist()]
    is_product = [name.direction == "forward" and multiplies(name.type or name.api) for name in names]
    rows = floats[first][np.array(is_product, bool)]
    return [int(row) for row in rows[(joined.eps[rows] < LOW_PRECISION_EPS) & ~joined.has_unusual_dtype[rows]]]


def _has_equal_inputs(joined: JoinedDumps, output: int) -> bool:
    begin, end = np.searchsorted(joined.rows.call, joined.rows.call[output] + np.arange(2))
    tensors = [row for row in range(begin, end) if joined.is_tensor[row] and joined.eps[row] > 0 and row != output]
    return all(joined.distance[row] <= joined.tolerances.rounding(float(joined.eps[row])) for row in tensors)


def _rounded_elements(joined: JoinedDumps, output: int) -> float:
    """Return how many elements have an error of their own: of the two tensors that are multiplied the fewer, since each
    of them is in many results, and no more than there are results."""
    begin, end = np.searchsorted(joined.rows.call, joined.rows.call[output] + np.arange(2))
    inputs = [row for row in range(begin, end) if joined.is_tensor[row] and joined.rows.role[row] not in RESULTS]
    sizes = sorted((float(joined.golden_size[row]) for row in inputs if joined.eps[row] > 0), reverse=True)
    return min([float(joined.golden_size[output]), *sizes[:2]])


def _is_rounding(joined: JoinedDumps, row: int) -> bool:
    return not joined.distance[row] > joined.tolerances.rounding(float(joined.eps[row]))


def _is_of_ten_bits(joined: JoinedDumps, row: int) -> bool:
    """Whether the difference may be the rounding to ten bits: no more than that, and at random."""
    tolerances = joined.tolerances
    if _is_rounding(joined, row) or not joined.distance[row] <= tolerances.ten_bit_error:
        return False
    target, golden = float(joined.stats[row, NORM]), float(joined.golden_stats[row, NORM])
    in_norm = min(tolerances.random_norm_factor / _rounded_elements(joined, row) ** 0.5, 1.0)
    return not abs(target - golden) > tolerances.ten_bit_error * in_norm * abs(golden)
