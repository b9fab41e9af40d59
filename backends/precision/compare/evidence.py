"""What a walk looks at, taken from the columns of two dumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.distance import has_inf, has_nan, largest, typical
from backends.precision.compare.growth import Size
from backends.precision.dump.dump import MAX, MIN, OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Name


def key_of(name: Name) -> tuple[str, str, str, int]:
    """The same of a forward and its backward."""
    return name.kind, name.api, name.type, name.number


def sizes_of(scene: Scene) -> list[Size]:
    """Of the golden side, else of the target."""
    stats = np.where(np.isnan(scene.golden_ends), scene.ends, scene.golden_ends)
    amax, rms = largest(stats), typical(stats, scene.golden_size)
    with np.errstate(all="ignore"):
        spread = np.nan_to_num(stats[:, MAX] - stats[:, MIN], nan=0.0, posinf=0.0, neginf=0.0)
    columns = (amax.tolist(), rms.tolist(), spread.tolist(), scene.golden_size.tolist())
    return list(map(Size._make, zip(*columns, strict=True)))


def with_other_outputs_of(scene: Scene) -> set[int]:
    """Calls of which one side has an output that the other lacks."""
    rows = scene.rows
    return {*rows.call[(rows.role == OUTPUT) & ((rows.target < 0) | (rows.golden < 0))].tolist()}


def bad_of(scene: Scene) -> dict[int, str]:
    """Rows where the target has NaN or infinity and the golden side has numbers."""
    here, there = has_nan(scene.target, scene.rows.target), has_nan(scene.golden, scene.rows.golden)
    nan = (here & ~np.isnan(scene.golden_stats)).any(axis=1) & ~there.any(axis=1)
    inf = has_inf(scene.stats) & ~has_inf(scene.golden_ends) & ~there.any(axis=1)
    found = dict.fromkeys(np.flatnonzero(inf & scene.is_tensor).tolist(), "first_inf")
    return found | dict.fromkeys(np.flatnonzero(nan & scene.is_tensor).tolist(), "first_nan")


def parents_of(scene: Scene) -> list[int]:
    """Of each call the place of the module that it was called in, -1 without."""
    places = {call: n for n, call in enumerate(scene.calls.target.tolist()) if call >= 0}
    above = [*scene.target.parents.tolist(), -1]
    return [places.get(above[call], -1) for call in scene.calls.target.tolist()]


def other_ends_of(scene: Scene) -> Array:
    """Of each row, bool: both sides have the tensor in one dtype, and another largest or smallest element: those are
    elements, which no sum has rounded."""
    target, golden = (
        np.array([*side.dtypes, ""])[np.append(side.dtype, -1)[rows]]
        for side, rows in ((scene.target, scene.rows.target), (scene.golden, scene.rows.golden))
    )
    mine, theirs = scene.stats[:, (MAX, MIN)], scene.golden_stats[:, (MAX, MIN)]
    apart = (mine != theirs) & ~np.isnan(mine) & ~np.isnan(theirs)
    return np.asarray(apart.any(axis=1) & (target == golden))


def trained_of(scene: Scene) -> dict[int, tuple[bool, bool]]:
    """Whether the target and the golden side train it, of the rows where that differs. MindSpore's dumps do not say."""
    if not scene.target.needs_grad.any() or not scene.golden.needs_grad.any():
        return {}
    rows = np.flatnonzero((scene.rows.target >= 0) & (scene.rows.golden >= 0))
    mine = scene.target.needs_grad[scene.rows.target[rows]]
    theirs = scene.golden.needs_grad[scene.rows.golden[rows]]
    return {int(rows[n]): (bool(mine[n]), bool(theirs[n])) for n in np.flatnonzero(mine != theirs)}
