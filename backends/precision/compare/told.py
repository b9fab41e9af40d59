"""What is to be told of a pass beside its verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump.dump import MAX, NORM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.judge import Judged
    from backends.precision.compare.scene import Scene
    from backends.precision.compare.structure import Structure

MOST = 4


def told(scene: Scene, judged: Judged, structure: Structure) -> Iterator[tuple[str, dict[str, Any]]]:
    """Keys and their arguments."""
    if judged.product_error:
        yield "precision.compare.product_error", {}
    if pairs := sorted(scene.other_dtypes):
        yield "precision.compare.other_dtypes", {"pairs": ", ".join("/".join(pair) for pair in pairs[:MOST])}
    if _has_no_norms(scene):
        yield "precision.compare.no_norms", {}
    yield from structure.notes


def _has_no_norms(scene: Scene) -> bool:
    """Of float64 tensors that have a largest element."""
    for side, stats, rows in (
        (scene.target, scene.stats, scene.rows.target),
        (scene.golden, scene.golden_stats, scene.rows.golden),
    ):
        if "float64" in side.dtypes:
            wide = np.append(side.dtype, -1)[rows] == side.dtypes.index("float64")
            if (wide & ~np.isnan(stats[:, MAX]) & np.isnan(stats[:, NORM])).any():
                return True
    return False
