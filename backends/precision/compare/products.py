"""Whether one side multiplies matrices in fewer bits than its dtype has: TF32 of GPUs, HF32 of NPUs.

Both round what is multiplied to 10 bits of mantissa, by default in convolutions, so that every product of such a run is
off by up to 2^-11 of its size, at random. That is noise of the machine and no divergence of one operator. It is told
from one by its siblings: of the products whose inputs agree, most have such an error, and not one of them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.growth import LOW, rounding
from backends.precision.compare.kinds import Kind, kind_of
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
    quiet, all_of_them = _errors(scene)
    if len(all_of_them) < SIBLINGS or not quiet:
        return 0.0
    so = [one for one in quiet if one[1]]
    differing = [one for one in all_of_them if one > 0]
    is_so = len(so) >= MOST * len(quiet) and len(differing) >= MOST * len(all_of_them)
    return TEN_BITS if is_so else 0.0


def _errors(scene: Scene) -> tuple[list[tuple[float, bool]], list[float]]:
    """Of products whose inputs agree, the output's distance and whether it may be the rounding; of all, by how much
    they are beyond their own dtype's."""
    rows = scene.rows
    first = np.searchsorted(rows.call, np.arange(len(scene.names) + 1)).tolist()
    quiet: list[tuple[float, bool]] = []
    found: list[float] = []
    for call, name in enumerate(scene.names):
        if name.direction != "forward" or kind_of(name.type or name.api) is not Kind.PRODUCT:
            continue
        here = [row for row in range(first[call], first[call + 1]) if scene.is_tensor[row] and scene.eps[row] > 0]
        output = next((row for row in here if rows.role[row] == OUTPUT), None)
        if output is None or scene.eps[output] >= LOW or scene.odd[output]:
            continue
        far, own = float(scene.distance[output]), rounding(float(scene.eps[output]))
        found.append(far - own)
        if all(scene.distance[row] <= rounding(float(scene.eps[row])) for row in here if row != output):
            quiet.append((far, own < far <= TEN_BITS and _is_at_random(scene, output)))
    return quiet, found


def _is_at_random(scene: Scene, row: int) -> bool:
    mine, theirs = float(scene.stats[row, NORM]), float(scene.golden_stats[row, NORM])
    least = TEN_BITS * min(AT_RANDOM / float(scene.golden_size[row]) ** 0.5, 1.0)
    return not abs(mine - theirs) > least * abs(theirs)
