"""Distances of tensors that both sides have, element by element."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import MEASURES
from backends.precision.compare.distance import largest
from backends.precision.dump.in_child import NoTorch, through_torch
from backends.precision.dump.tensors import NEEDS_TORCH, open_tensor
from backends.precision.measure.measures import Measures, measure
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Dump
    from backends.precision.dump.tensor_file import TensorFile

    Pair = tuple[int, Path, Path]
    Told = Callable[[int, int], None]

MOST_OCTETS = 4 << 30
"""Of files that are written anew, since only torch can read them."""


@dataclass(kw_only=True)
class Measured:
    """`scene`: with the distances of its tensors, max |Δ| / amax or the relative L2, whichever is more; `measures`:
    (rows, MEASURES), None where no row has tensors on both sides; `notes`: keys and arguments of what is to be told."""

    scene: Scene
    measures: Array | None = None
    notes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def with_tensors(scene: Scene, told: Told, scratch: Path) -> Measured:
    """`told` hears again and again how many of how many rows are done, and may raise; `scratch`: a new folder, gone
    afterwards."""
    pairs = _files(scene)
    if not pairs:
        return Measured(scene=scene)
    return _Measuring(scene, pairs, told).work(scratch)


class _Measuring:
    def __init__(self, scene: Scene, pairs: list[Pair], told: Told) -> None:
        self.scene, self.pairs, self.told = scene, pairs, told
        self.distance = scene.distance.copy()
        self.measures = np.full((len(self.distance), len(MEASURES)), np.nan)
        self.amax = largest(scene.golden_stats)
        self.failed = 0
        self.later: list[Pair] = []  # a file of theirs can be read by torch alone
        self.notes: list[tuple[str, dict[str, Any]]] = []

    def work(self, scratch: Path) -> Measured:
        for done, pair in enumerate(self.pairs):
            self._measure(done, pair, None)
        if self.later:
            self._measure_later(scratch)
        if self.failed:
            self.notes.append(("precision.compare.tensors_failed", {"count": self.failed}))
        return Measured(scene=replace(self.scene, distance=self.distance), measures=self.measures, notes=self.notes)

    def _measure(self, done: int, pair: Pair, files: Mapping[Path, TensorFile] | None) -> None:
        """`files`: what torch has read; None where it was not asked yet."""
        told = partial(self.told, done, len(self.pairs))
        told()
        row, *paths = pair
        try:
            one, other = ((files or {}).get(path) or open_tensor(path) for path in paths)
            found = measure(one, other, told)
        except StudioError as error:
            if error.key == NEEDS_TORCH and files is None:
                self.later.append(pair)
            else:
                self.failed += 1
            return
        if not found.reason:
            self.measures[row] = [getattr(found, name) for name in MEASURES]
            self.distance[row] = _distance(
                found, float(self.amax[row]), float(self.distance[row]), bool(self.scene.eps[row])
            )

    def _measure_later(self, scratch: Path) -> None:
        """By one child, of the interpreter that runs the studio: torch takes seconds to start."""
        total = len(self.pairs)
        chosen, beyond = _within(self.later)
        if beyond:
            self.notes.append(("precision.compare.tensors_beyond", {"count": beyond, "limit": MOST_OCTETS >> 30}))
        scratch.mkdir(parents=True, exist_ok=True)
        try:
            paths = list(dict.fromkeys(path for _, *both in chosen for path in both if _needs_torch(path)))
            told = partial(self.told, total, total)
            files = through_torch(paths, scratch, [sys.executable, "-I"], told) if paths else {}
            for pair in chosen:
                self._measure(total, pair, files)
        except NoTorch:
            self.notes.append(("precision.compare.tensors_need_torch", {"count": len(chosen)}))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _within(pairs: list[Pair]) -> tuple[list[Pair], int]:
    """As many as may be written anew, and how many are left."""
    octets = np.cumsum([sum(path.stat().st_size for path in both) for _, *both in pairs])
    count = int(np.searchsorted(octets, MOST_OCTETS, "right"))
    return pairs[:count], len(pairs) - count


def _needs_torch(path: Path) -> bool:
    try:
        open_tensor(path)
    except StudioError as error:
        return error.key == NEEDS_TORCH
    return False


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


def _distance(found: Measures, amax: float, before: float, is_float: bool) -> float:
    if found.equal:
        return 0.0
    if not is_float:
        return 1.0
    far = max(found.max_abs / amax if amax > 0 else found.l2_rel, found.l2_rel)
    return max(far, before) if before == before else far
