"""Where the two sides have other dtypes, and whether that is so everywhere or in a few places.

A golden run in float64, or one without autocast, has other dtypes everywhere: that is no divergence. A cast in one
block is. A pair of dtypes is odd where less than USUAL of all tensors of the golden dtype have it and, where there are
enough, less than USUAL of the tensors in the same place of other calls of the api; unless the matrix products tell that
it is the dtype of a whole side: at least USUAL of all their results of the golden dtype have it. (Under autocast the
products are in bfloat16 and what is between is not; in a model in float64 norms may still be in float32.)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.kinds import multiplies
from backends.precision.dump.dump import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.rows import Rows
    from backends.precision.dump.dump import Dump, Name

USUAL = 0.75
FEW = 3


def usual_pairs(target: Dump, golden: Dump, rows: Rows, usual: Array) -> frozenset[tuple[str, str]]:
    """Dtypes of the target and the golden side that differ where that is not odd."""
    pairs = np.unique(np.stack([target.dtype[rows.target[usual]], golden.dtype[rows.golden[usual]]], axis=1), axis=0)
    names = ((target.dtypes[i], golden.dtypes[j]) for i, j in pairs.tolist())
    return frozenset((one, other) for one, other in names if one != other)


def odd_dtypes(target: Dump, golden: Dump, rows: Rows, names: Sequence[Name], is_tensor: Array) -> Array:
    """Of each row, whether its dtypes differ and should not."""
    mine, theirs = _numbers(target, golden, rows)
    odd = np.zeros(len(mine), bool)
    differs = is_tensor & (mine != theirs)
    if not differs.any():
        return odd
    there = np.flatnonzero(is_tensor).tolist()
    places = {row: _place(names[rows.call[row]], int(rows.role[row]), int(rows.item[row])) for row in there}
    pairs = {row: (int(mine[row]), int(theirs[row])) for row in there}
    of_place, of_place_pair = Counter(places.values()), Counter((places[row], pairs[row]) for row in there)
    of_golden, of_pair = Counter(golden for _, golden in pairs.values()), Counter(pairs.values())
    of_a_side = _of_products(rows, names, pairs)
    for row in np.flatnonzero(differs).tolist():
        place, pair = places[row], pairs[row]
        if pair in of_a_side:
            continue
        is_few = of_place[place] < FEW
        is_odd_here = is_few or of_place_pair[place, pair] < USUAL * of_place[place]
        odd[row] = is_odd_here and of_pair[pair] < USUAL * of_golden[pair[1]]
    return odd


def _of_products(rows: Rows, names: Sequence[Name], pairs: dict[int, tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs of dtypes that the results of matrix products have everywhere."""
    is_product = [name.direction == "forward" and multiplies(name.type or name.api) for name in names]
    calls, roles = rows.call.tolist(), rows.role.tolist()
    found = [pair for row, pair in pairs.items() if roles[row] == OUTPUT and is_product[calls[row]]]
    of_pair, of_golden = Counter(found), Counter(golden for _, golden in found)
    return {pair for pair, count in of_pair.items() if count >= max(FEW, USUAL * of_golden[pair[1]])}


def _numbers(target: Dump, golden: Dump, rows: Rows) -> tuple[Array, Array]:
    """Of each row the dtypes of both sides, as numbers that mean the same."""
    known = {name: n for n, name in enumerate(dict.fromkeys([*target.dtypes, *golden.dtypes]))}
    mine = np.array([*(known[name] for name in target.dtypes), -1])[np.append(target.dtype, -1)[rows.target]]
    theirs = np.array([*(known[name] for name in golden.dtypes), -1])[np.append(golden.dtype, -1)[rows.golden]]
    return mine, theirs


def _place(name: Name, role: int, item: int) -> tuple[str, str, str, int, int]:
    return name.kind, name.type or name.api, name.direction, role, item
