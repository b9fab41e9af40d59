"""Whether one side multiplies matrices in fewer bits than its dtype has: TF32 of GPUs, HF32 of NPUs.

Both round what is multiplied to 10 bits of mantissa, by default in convolutions, so that every product of such a run is
off by up to 2^-11 of its size, at random. That is noise of the machine and no divergence of one operator. Its siblings
tell them apart: of the products whose inputs agree, most have such an error, and not one of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.judgement.operators import family_of, multiplies
from backends.precision.compare.tolerances import LOW_PRECISION_EPS
from backends.precision.dump.dump import GRADIENT, NORM, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.compare.values.joined import JoinedDumps

RESULTS = (OUTPUT, GRADIENT)


def rounded_families(joined: JoinedDumps) -> frozenset[str]:
    """Return the families of products, see `operators.family_of`, that one side rounds to ten bits: all where all
    products together show it. Switches and libraries tell convolutions and products of matrices apart: PyTorch has TF32
    in convolutions alone by default, and cuDNN takes it for large ones only."""
    by_family: dict[str, list[int]] = {}
    for row in _outputs(joined):
        by_family.setdefault(_family(joined, row), []).append(row)
    together = [row for outputs in by_family.values() for row in outputs]
    is_for_all = _are_of_ten_bits(joined, together)
    return frozenset(family for family, outputs in by_family.items() if is_for_all or _are_of_ten_bits(joined, outputs))


def _are_of_ten_bits(joined: JoinedDumps, outputs: Sequence[int]) -> bool:
    tolerances = joined.tolerances
    differing = [row for row in outputs if not _is_rounding(joined, row)]
    if len(outputs) < tolerances.min_products or len(differing) < tolerances.product_share * len(outputs):
        return False
    quiet = [row for row in outputs if _has_equal_inputs(joined, row)]
    of_ten_bits = [row for row in quiet if is_of_ten_bits(joined, row)]
    return bool(of_ten_bits) and len(of_ten_bits) >= tolerances.product_share * len(quiet)


def _family(joined: JoinedDumps, row: int) -> str:
    name = joined.names[joined.rows.call[row]]
    return family_of(name.type or name.api)


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


def is_of_ten_bits(joined: JoinedDumps, row: int) -> bool:
    """Return whether the difference of an output may be the rounding to ten bits: no more than that, and at random."""
    tolerances = joined.tolerances
    if _is_rounding(joined, row) or not joined.distance[row] <= tolerances.ten_bit_error:
        return False
    target, golden = float(joined.stats[row, NORM]), float(joined.golden_stats[row, NORM])
    in_norm = min(tolerances.random_norm_factor / _rounded_elements(joined, row) ** 0.5, 1.0)
    return not abs(target - golden) > tolerances.ten_bit_error * in_norm * abs(golden)
