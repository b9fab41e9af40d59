"""What two calls must have in common to be the same call, as numbers; and by their values, how near they are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.weights import is_weight
from backends.precision.dump.dump import MAX, MIN, NORM, TENSOR
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump

TENSORS = 8
"""So many of a call's tensors tell which layer it is."""
SAME = 2.0**-13
"""What two layers' weights differ by in their extremes is more."""
BACKWARD = ("backward", "parameters_grad")


class _Numbers(dict[object, int]):
    """A number for each thing, the same for equal ones."""

    def __missing__(self, key: object) -> int:
        self[key] = number = len(self)
        return number


def tokens(target: Dump, golden: Dump, fixed: Mapping[int, int]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Two numbers for each call of both sides: of its kind, api and direction, the module it was called in, and the
    shapes of its tensors; and of the first three alone. What is `fixed` has a number that nothing else has."""
    numbers = _Numbers()
    inside = all((side.parents >= 0).any() for side in (target, golden))
    loose = (_loose(target, numbers), _loose(golden, numbers))
    strict = (_strict(target, loose[0], numbers, inside), _strict(golden, loose[1], numbers, inside))
    for sides in (strict, loose):
        for n, (i, j) in enumerate(fixed.items()):
            sides[0][i] = sides[1][j] = -1 - n
    return strict, loose


def _loose(side: Dump, numbers: _Numbers) -> Array:
    names = map(name_of, side.calls)
    return np.array([numbers[name.kind, name.api, name.type, name.direction] for name in names], np.int64)


def _strict(side: Dump, loose: Array, numbers: _Numbers, inside: bool) -> Array:
    """`inside`: both sides know in which module a call was."""
    plain = loose.tolist()
    above = [name_of(call).api for call in side.calls] if inside else []
    modules = [above[parent] if inside and parent >= 0 else "" for parent in side.parents.tolist()]
    shapes = _shapes(side, numbers)
    return np.array([numbers[each] for each in zip(plain, modules, shapes, strict=True)], np.int64)


def _shapes(side: Dump, numbers: _Numbers) -> list[bytes]:
    """Of each call, the numbers of its tensors' shapes in their order."""
    known = np.array([numbers[shape] for shape in side.shapes] or [0], np.int32)
    rows = np.flatnonzero(side.kind == TENSOR)
    shapes = known[side.shape[rows]]
    ends = np.searchsorted(side.call[rows], np.arange(len(side.calls) + 1)).tolist()
    return [shapes[begin:end].tobytes() for begin, end in pairwise(ends)]


def is_backward(side: Dump) -> Array:
    return np.fromiter((name_of(call).direction in BACKWARD for call in side.calls), bool, len(side.calls))


def signatures(side: Dump) -> Array:
    """Maximum, minimum and norm of each call's parameters and of its other tensors, NaN without: (calls, 2, TENSORS,
    3)."""
    found = np.full((len(side.calls), 2, TENSORS, 3), np.nan)
    rows = np.flatnonzero(side.kind == TENSOR)
    names = [name_of(call) for call in side.calls]
    weights = np.array([is_weight(names[call].api, names[call].type, role, side.item[row])
                        for row, call, role in zip(rows.tolist(), side.call[rows].tolist(), side.role[rows].tolist(),
                                                   strict=True)], bool)  # fmt: skip
    for group, chosen in enumerate((rows[weights], rows[~weights])):
        calls = side.call[chosen]
        places = np.arange(len(chosen)) - np.searchsorted(calls, np.arange(len(side.calls)))[calls]
        there = places < TENSORS
        found[calls[there], group, places[there]] = side.stats[chosen[there]][:, (MAX, MIN, NORM)]
    return found


def how_far(left: Array, right: Array) -> Array:
    """Of signatures beside each other, between 0 (equal, or nothing known) and 2: 1 where a parameter is another one,
    and the mean of the other tensors, each by the fourth root of its relative distance. A layer that is missing changes
    all outputs behind it, and no weight."""
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(left), np.abs(right))
        far = np.where(scale > 0, np.abs(left - right) / scale, np.where(np.isnan(scale), np.nan, 0.0))
        tensors = np.minimum(np.fmax.reduce(far, axis=3), 1.0)
    known = (~np.isnan(tensors[:, 1])).sum(axis=1)
    weights, others = np.nan_to_num(tensors).swapaxes(0, 1)
    return np.asarray((weights.max(axis=1) > SAME) + np.sqrt(np.sqrt(others)).sum(axis=1) / np.maximum(known, 1))
