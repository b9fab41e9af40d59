"""Distances of tensors that both sides have, element by element."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import MEASURES
from backends.precision.compare.distance import largest
from backends.precision.dump.tensors import open_tensor
from backends.precision.measure.measures import Measures, measure
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Dump


def with_tensors(scene: Scene, told: Callable[[int, int], None]) -> tuple[Scene, Array | None, int]:
    """The scene with the distances of its tensors, max |Δ| / amax or the relative L2, whichever is more; their
    measures, (rows, MEASURES), None where no row has tensors on both sides; and how many could not be read. `told`
    hears how many of how many rows are done, and may raise."""
    pairs = _files(scene)
    if not pairs:
        return scene, None, 0
    distance = scene.distance.copy()
    measures = np.full((len(distance), len(MEASURES)), np.nan)
    amax = largest(scene.golden_stats)
    failed = 0
    for done, (row, one, other) in enumerate(pairs):
        told(done, len(pairs))
        found = _measure(one, other)
        failed += found is None
        if found is not None and not found.reason:
            measures[row] = [getattr(found, name) for name in MEASURES]
            distance[row] = _distance(found, float(amax[row]), float(distance[row]), bool(scene.eps[row]))
    return replace(scene, distance=distance), measures, failed


def _files(scene: Scene) -> list[tuple[int, Path, Path]]:
    found: list[tuple[int, Path, Path]] = []
    if not scene.target.file or not scene.golden.file:
        return found
    for row in np.flatnonzero(scene.is_tensor).tolist():
        one = _file(scene.target, int(scene.rows.target[row]))
        other = _file(scene.golden, int(scene.rows.golden[row]))
        if one is not None and other is not None:
            found.append((row, one, other))
    return found


def _file(side: Dump, row: int) -> Path | None:
    name = side.file.get(row)
    return side.data_folder / name if name and side.data_folder else None


def _measure(one: Path, other: Path) -> Measures | None:
    try:
        return measure(open_tensor(one), open_tensor(other))
    except StudioError:
        return None


def _distance(found: Measures, amax: float, before: float, is_float: bool) -> float:
    if found.equal:
        return 0.0
    if not is_float:
        return 1.0
    far = max(found.max_abs / amax if amax > 0 else found.l2_rel, found.l2_rel)
    return max(far, before) if before == before else far
