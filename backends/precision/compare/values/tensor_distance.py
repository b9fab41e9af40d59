"""Distances of tensors that both sides have, element by element."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import MEASURES
from backends.precision.compare.values.distance import largest
from backends.precision.dump.tensors import NEEDS_TORCH, open_tensor
from backends.precision.dump.torch_child import NoTorch, tensors_through_torch
from backends.precision.measure.measures import Measures, measure
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump
    from backends.precision.dump.tensor_file import TensorFile

    Pair = tuple[int, Path, Path]
    Report = Callable[[int, int], None]

MAX_REWRITTEN_BYTES = 4 << 30
"""Size of the files that are rewritten, since only torch can read them."""


@dataclass(kw_only=True)
class Measured:
    """`joined`: with the distances of its tensors, max |Δ| / amax or the relative L2, whichever is more; `measures`:
    (rows, MEASURES), None where no row has tensors on both sides; `notes`: keys and arguments."""

    joined: JoinedDumps
    measures: Array | None = None
    notes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def measure_tensors(joined: JoinedDumps, report: Report, scratch: Path) -> Measured:
    """Measure the tensors that both sides have. `report` is called again and again with how many of how many rows are
    done, and may raise; `scratch`: a new folder, removed afterwards."""
    pairs = _files(joined)
    if not pairs:
        return Measured(joined=joined)
    return _Measurement(joined, pairs, report).work(scratch)


class _Measurement:
    def __init__(self, joined: JoinedDumps, pairs: list[Pair], report: Report) -> None:
        self.joined, self.pairs, self.report = joined, pairs, report
        self.distance = joined.distance.copy()
        self.measures = np.full((len(self.distance), len(MEASURES)), np.nan)
        self.amax = largest(joined.golden_stats)
        self.failed = 0
        self.for_torch: list[Pair] = []  # one of the two files can only be read by torch
        self.notes: list[tuple[str, dict[str, Any]]] = []

    def work(self, scratch: Path) -> Measured:
        for done, pair in enumerate(self.pairs):
            self._measure(done, pair, None)
        if self.for_torch:
            self._measure_with_torch(scratch)
        if self.failed:
            self.notes.append(("precision.compare.tensors_failed", {"count": self.failed}))
        return Measured(joined=replace(self.joined, distance=self.distance), measures=self.measures, notes=self.notes)

    def _measure(self, done: int, pair: Pair, files: Mapping[Path, TensorFile] | None) -> None:
        """`files`: what torch has read; None before torch was started."""
        report = partial(self.report, done, len(self.pairs))
        report()
        row, *paths = pair
        try:
            target, golden = ((files or {}).get(path) or open_tensor(path) for path in paths)
            if not self._is_as_recorded(row, target, golden):
                self.failed += 1
                return
            measures = measure(target, golden, report)
        except StudioError as error:
            if error.key == NEEDS_TORCH and files is None:
                self.for_torch.append(pair)
            else:
                self.failed += 1
            return
        if not measures.reason:
            self.measures[row] = [getattr(measures, name) for name in MEASURES]
            self.distance[row] = _distance(
                measures, float(self.amax[row]), float(self.distance[row]), bool(self.joined.eps[row])
            )

    def _is_as_recorded(self, row: int, *tensors: TensorFile) -> bool:
        """Return whether the files of a row have the shapes that dump.json says: else they are of another capture, or
        were written again."""
        joined = self.joined
        sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
        recorded = [(side, int(side.shape[rows[row]])) for side, rows in sides]
        return all(
            number < 0 or tuple(side.shapes[number]) == tensor.shape
            for (side, number), tensor in zip(recorded, tensors, strict=True)
        )

    def _measure_with_torch(self, scratch: Path) -> None:
        """Let one child read them, of the interpreter that runs the studio: torch takes seconds to start."""
        total = len(self.pairs)
        chosen, beyond = _within(self.for_torch)
        if beyond:
            self.notes.append(
                ("precision.compare.tensors_beyond", {"count": beyond, "limit": MAX_REWRITTEN_BYTES >> 30})
            )
        scratch.mkdir(parents=True, exist_ok=True)
        try:
            paths = list(dict.fromkeys(path for _, *both in chosen for path in both if _needs_torch(path)))
            report = partial(self.report, total, total)
            files = tensors_through_torch(paths, scratch, [sys.executable, "-I"], report) if paths else {}
            for pair in chosen:
                self._measure(total, pair, files)
        except NoTorch:
            self.notes.append(("precision.compare.tensors_need_torch", {"count": len(chosen)}))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _within(pairs: list[Pair]) -> tuple[list[Pair], int]:
    """Return as many pairs as may be rewritten, and how many are left."""
    sizes = np.cumsum([sum(path.stat().st_size for path in both) for _, *both in pairs])
    count = int(np.searchsorted(sizes, MAX_REWRITTEN_BYTES, "right"))
    return pairs[:count], len(pairs) - count


def _needs_torch(path: Path) -> bool:
    try:
        open_tensor(path)
    except StudioError as error:
        return error.key == NEEDS_TORCH
    return False


def _files(joined: JoinedDumps) -> list[tuple[int, Path, Path]]:
    pairs: list[tuple[int, Path, Path]] = []
    if not joined.target.file or not joined.golden.file:
        return pairs
    for row in np.flatnonzero(joined.is_tensor).tolist():
        target = _file(joined.target, int(joined.rows.target[row]))
        golden = _file(joined.golden, int(joined.rows.golden[row]))
        if target is not None and golden is not None:
            pairs.append((row, target, golden))
    return pairs


def _file(side: Dump, row: int) -> Path | None:
    name = side.file.get(row)
    return side.data_folder / name if name and side.data_folder else None


def _distance(measures: Measures, amax: float, by_statistics: float, is_float: bool) -> float:
    if measures.equal:
        return 0.0
    if not is_float:
        return 1.0
    distance = max(measures.max_abs / amax if amax > 0 else measures.l2_rel, measures.l2_rel)
    return max(distance, by_statistics) if by_statistics == by_statistics else distance
