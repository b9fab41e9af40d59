"""Where the two sides have other dtypes, and whether that is so everywhere or in a few places.

A golden run in float64, or one without autocast, has other dtypes everywhere: that is no divergence. A cast in one
block is. A pair of dtypes is odd where less than a usual share of all tensors of the golden dtype have it and, where
there are enough, less than that share of the tensors in the same place of other calls of the api; unless the matrix
products show that it is the dtype of a whole side: at least that share of all their results of the golden dtype have
it. (Under autocast the products are in bfloat16 and what is between is not; in a model in float64 norms may still be in
float32.)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.judgement.operators import multiplies
from backends.precision.dump.dump import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.rows import Rows
    from backends.precision.dump.dump import Dump, Name


def usual_pairs(target: Dump, golden: Dump, rows: Rows, usual: Array) -> frozenset[tuple[str, str]]:
    """Return the pairs of dtypes, of the target and the golden side, that differ where that is not odd."""
    pairs = np.unique(np.stack([target.dtype[rows.target[usual]], golden.dtype[rows.golden[usual]]], axis=1), axis=0)
    names = ((target.dtypes[i], golden.dtypes[j]) for i, j in pairs.tolist())
    return frozenset((name, other) for name, other in names if name != other)


def find_unusual_dtypes(
    target: Dump, golden: Dump, rows: Rows, names: Sequence[Name], is_tensor: Array, tolerances: Tolerances
) -> Array:
    """Return, for each row, whether its dtypes differ and should not."""
    target_dtypes, golden_dtypes = _numbers(target, golden, rows)
    unusual = np.zeros(len(target_dtypes), bool)
    differs = is_tensor & (target_dtypes != golden_dtypes)
    if not differs.any():
        return unusual
    tensors = np.flatnonzero(is_tensor).tolist()
    positions = {row: _place_in_api(names[rows.call[row]], int(rows.role[row]), int(rows.item[row])) for row in tensors}
    pairs = {row: (int(target_dtypes[row]), int(golden_dtypes[row])) for row in tensors}
    by_position, by_position_and_pair = (
        Counter(positions.values()),
        Counter((positions[row], pairs[row]) for row in tensors),
    )
    of_golden, of_pair = Counter(golden for _, golden in pairs.values()), Counter(pairs.values())
    of_a_side = _pairs_of_products(rows, names, pairs, tolerances)
    share = tolerances.usual_dtype_share
    for row in np.flatnonzero(differs).tolist():
        position, pair = positions[row], pairs[row]
        if pair in of_a_side:
            continue
        is_rare = by_position[position] < tolerances.min_dtype_calls
        is_unusual_in_position = is_rare or by_position_and_pair[position, pair] < share * by_position[position]
        unusual[row] = is_unusual_in_position and of_pair[pair] < share * of_golden[pair[1]]
    return unusual


def _pairs_of_products(
    rows: Rows, names: Sequence[Name], pairs: dict[int, tuple[int, int]], tolerances: Tolerances
) -> set[tuple[int, int]]:
    """Return the pairs of dtypes that the results of matrix products have everywhere."""
    is_product = [name.direction == "forward" and multiplies(name.type or name.api) for name in names]
    calls, roles = rows.call.tolist(), rows.role.tolist()
    results = [pair for row, pair in pairs.items() if roles[row] == OUTPUT and is_product[calls[row]]]
    of_pair, of_golden = Counter(results), Counter(golden for _, golden in results)
    share, enough = tolerances.usual_dtype_share, tolerances.min_dtype_calls
    return {pair for pair, count in of_pair.items() if count >= max(enough, share * of_golden[pair[1]])}


def _numbers(target: Dump, golden: Dump, rows: Rows) -> tuple[Array, Array]:
    """Return the dtypes of both sides of each row, as numbers that mean the same."""
    numbers = {name: n for n, name in enumerate(dict.fromkeys([*target.dtypes, *golden.dtypes]))}
    of_target = np.array([*(numbers[name] for name in target.dtypes), -1])[np.append(target.dtype, -1)[rows.target]]
    of_golden = np.array([*(numbers[name] for name in golden.dtypes), -1])[np.append(golden.dtype, -1)[rows.golden]]
    return of_target, of_golden


def _place_in_api(name: Name, role: int, item: int) -> tuple[str, str, str, int, int]:
    return name.kind, name.type or name.api, name.direction, role, item
