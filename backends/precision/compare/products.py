"""Whether one side multiplies matrices in fewer bits than its dtype has: TF32 of GPUs, HF32 of NPUs.

Both round what is multiplied to 10 bits of mantissa, by default in convolutions, so that every product of such a run is
off by up to 2^-11 of its size, at random. That is noise of the machine and no divergence of one operator. It is told
from one by its siblings: of the products whose inputs agree, most have such an error, and not one of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.growth import LOW, rounding
from backends.precision.compare.kinds import multiplies
from backends.precision.dump.dump import NORM, OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.scene import Scene

TEN_BITS = 2.0**-11
MOST = 0.75
SIBLINGS = 3
"""Fewer products have to differ for one of them not to be the only one."""
AT_RANDOM = 8.0
"""Over the square root of n elements: what is at random is as much less in their norm."""


def product_error(scene: Scene) -> float:
    """TEN_BITS where the products of one side are rounded to that, else 0."""
    outputs = _outputs(scene)
    differing = [row for row in outputs if scene.distance[row] > rounding(float(scene.eps[row]))]
    if len(outputs) < SIBLINGS or len(differing) < MOST * len(outputs):
        return 0.0
    quiet = [row for row in outputs if _is_quiet(scene, row)]
    so = [row for row in quiet if _is_so(scene, row)]
    return TEN_BITS if so and len(so) >= MOST * len(quiet) else 0.0


def _outputs(scene: Scene) -> list[int]:
    """Of each product the row of its first output, where that is of more bits than 16 on both sides."""
    there = np.flatnonzero((scene.rows.role == OUTPUT) & scene.is_tensor & (scene.eps > 0))
    calls, first = np.unique(scene.rows.call[there], return_index=True)
    names = [scene.names[call] for call in calls.tolist()]
    is_product = [name.direction == "forward" and multiplies(name.type or name.api) for name in names]
    rows = there[first][np.array(is_product, bool)]
    return [int(row) for row in rows[(scene.eps[rows] < LOW) & ~scene.odd[rows]]]


def _is_quiet(scene: Scene, output: int) -> bool:
    """Its call's inputs agree."""
    begin, end = np.searchsorted(scene.rows.call, scene.rows.call[output] + np.arange(2))
    here = [row for row in range(begin, end) if scene.is_tensor[row] and scene.eps[row] > 0 and row != output]
    return all(scene.distance[row] <= rounding(float(scene.eps[row])) for row in here)


def _is_so(scene: Scene, row: int) -> bool:
    """The difference may be the rounding to ten bits."""
    return rounding(float(scene.eps[row])) < scene.distance[row] <= TEN_BITS and _is_at_random(scene, row)


def _is_at_random(scene: Scene, row: int) -> bool:
    mine, theirs = float(scene.stats[row, NORM]), float(scene.golden_stats[row, NORM])
    least = TEN_BITS * min(AT_RANDOM / float(scene.golden_size[row]) ** 0.5, 1.0)
    return not abs(mine - theirs) > least * abs(theirs)
