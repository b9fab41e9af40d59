"""Whether an operator's input is what another one made, within one side.

Within one run there is no noise: an input either is the tensor that a call before made, to the last bit, or something
stood between. Where that is so on one side and not on the other, an operation that is not traced (a cast, a change in
place) stands between on the other side alone, however far apart the two sides may be by then. Hooks of modules, which
msprobe does not see either, may add a few ulp of noise: more than that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.distance import distances
from backends.precision.compare.growth import rounding
from backends.precision.dump.dump import MAX, MEAN, MIN, NORM

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene

BRANCH = 2.0**-10
"""In the backward the gradients of branches are added. One of them may be so small that it is lost on one side: less
than that says nothing."""
OF_MANY = {0.0, 1.0, -1.0}
"""Extremes of many tensors: masks, probabilities, what a ReLU made. Two with the same need not be one."""


def is_broken(scene: Scene, row: int, maker: int, *, golden: bool, forward: bool) -> bool:
    """Whether something changed the value of row `maker` before `row`, on the golden side or on the target, where the
    other side has the same value in both."""
    stats, others = (scene.golden_stats, scene.stats) if golden else (scene.stats, scene.golden_stats)
    size, other_size = (scene.golden_size, scene.size) if golden else (scene.size, scene.golden_size)
    side, rows = (scene.golden, scene.rows.golden) if golden else (scene.target, scene.rows.target)
    both = [row, maker]
    if not scene.is_tensor[maker] or not scene.eps[row] or len({*size[both], *other_size[both]}) > 1:
        return False
    if side.dtype[rows[row]] != side.dtype[rows[maker]] or {*others[row, [MAX, MIN]].tolist()} & OF_MANY:
        return False
    known = (MAX, MIN) if np.isnan(others[row, NORM]) else (MAX, MIN, MEAN, NORM)
    own = rounding(float(scene.eps[row]))
    is_linked = _far(others, row, maker, known, size) <= own and others[row, MAX] != others[row, MIN]
    return is_linked and _far(stats, row, maker, known, size) > max(own, 0.0 if forward else BRANCH)


def _far(stats: Array, row: int, maker: int, known: tuple[int, ...], size: Array) -> float:
    """By the statistics that are `known`: where the other side has only extremes, it may be linked by chance."""
    two = np.full((2, 4), np.nan)
    two[:, known] = stats[[row, maker]][:, known]
    return float(distances(two[:1], two[1:], size[[maker]])[0])
