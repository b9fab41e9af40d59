"""The noise of the golden side, measured: the distance of two of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.scene import scene

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Dump


def noise(of: Scene, again: Dump) -> Array:
    """For each row, how far its golden tensor is from that of the golden run once more; NaN where that has none."""
    twice = scene(again, of.golden)
    known = np.full(len(of.golden.call) + 1, np.nan)
    there = twice.rows.golden >= 0
    known[twice.rows.golden[there]] = twice.distance[there]
    return np.asarray(known[of.rows.golden])
