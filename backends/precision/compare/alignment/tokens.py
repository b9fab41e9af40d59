"""What two calls must have in common to be the same call, as numbers, and how near their values are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.parameters import is_parameter_input
from backends.precision.dump.dump import MAX, MIN, NORM, TENSOR
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump

SIGNATURE_TENSORS = 8
"""So many of a call's tensors are enough to know a layer by."""
BACKWARD = ("backward", "parameters_grad")


class _Numbers(dict[object, int]):
    """A number for each key, the same for equal ones."""

    def __missing__(self, key: object) -> int:
        self[key] = number = len(self)
        return number


def call_tokens(
    target: Dump, golden: Dump, fixed: Mapping[int, int]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return two numbers for each call of both sides: of its kind, api and direction, the module it was called in, and
    the shapes of its tensors; and of the first three alone. What is `fixed` has a number that nothing else has."""
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
    return np.array([numbers[key] for key in zip(plain, modules, shapes, strict=True)], np.int64)


def _shapes(side: Dump, numbers: _Numbers) -> list[bytes]:
    """Return, for each call, the numbers of its tensors' shapes in their order."""
    of_shapes = np.array([numbers[shape] for shape in side.shapes] or [0], np.int32)
    rows = np.flatnonzero(side.kind == TENSOR)
    shapes = of_shapes[side.shape[rows]]
    ends = np.searchsorted(side.call[rows], np.arange(len(side.calls) + 1)).tolist()
    return [shapes[begin:end].tobytes() for begin, end in pairwise(ends)]


def is_backward(side: Dump) -> Array:
    return np.fromiter((name_of(call).direction in BACKWARD for call in side.calls), bool, len(side.calls))


def signatures(side: Dump) -> Array:
    """Return the maximum, minimum and norm of each call's parameters and of its other tensors, NaN without: (calls, 2,
    SIGNATURE_TENSORS, 3)."""
    signature = np.full((len(side.calls), 2, SIGNATURE_TENSORS, 3), np.nan)
    rows = np.flatnonzero(side.kind == TENSOR)
    names = [name_of(call) for call in side.calls]
    weights = np.array([is_parameter_input(names[call].api, names[call].type, role, side.item[row])
                        for row, call, role in zip(rows.tolist(), side.call[rows].tolist(), side.role[rows].tolist(),
                                                   strict=True)], bool)  # fmt: skip
    for group, chosen in enumerate((rows[weights], rows[~weights])):
        calls = side.call[chosen]
        position = np.arange(len(chosen)) - np.searchsorted(calls, np.arange(len(side.calls)))[calls]
        is_used = position < SIGNATURE_TENSORS
        signature[calls[is_used], group, position[is_used]] = side.stats[chosen[is_used]][:, (MAX, MIN, NORM)]
    return signature


def signature_distance(left: Array, right: Array, same_parameter: float) -> Array:
    """Return the distance of signatures side by side, between 0 (equal, or nothing known) and 2: 1 where a parameter is
    another one, and the mean of the other tensors, each by the fourth root of its relative distance. A layer that is
    missing changes all outputs behind it, and no weight."""
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(left), np.abs(right))
        far = np.where(scale > 0, np.abs(left - right) / scale, np.where(np.isnan(scale), np.nan, 0.0))
        tensors = np.minimum(np.fmax.reduce(far, axis=3), 1.0)
    count = (~np.isnan(tensors[:, 1])).sum(axis=1)
    weights, others = np.nan_to_num(tensors).swapaxes(0, 1)
    return np.asarray(
        (weights.max(axis=1) > same_parameter) + np.sqrt(np.sqrt(others)).sum(axis=1) / np.maximum(count, 1)
    )
