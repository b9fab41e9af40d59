"""The golden run captured once more: what differs between its two captures is noise.

A second capture that is the target's own, or another network's, would allow whatever the target does wrong, so both are
refused; what it allows is part of the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import AllowedNoise
from backends.precision.compare.judgement.drift import parameter_rows
from backends.precision.compare.values.joined import join_dumps
from backends.precision.compare.verdict.first_divergence import name_at
from backends.precision.dump.digest import file_digest
from backends.precision.dump.dump import TENSOR
from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER, OPTIMIZER_FILE, UPDATE_SUFFIX, RecordPair
from backends.precision.dump.read import read_dump
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import DumpLocation
    from backends.precision.dump.pairs import DumpPair


def refuse_equal_content(pairs: Sequence[DumpPair], again: Mapping[Path, DumpLocation]) -> None:
    """Raise StudioError where the second golden dumps are those of the target, or all those of the golden side, also
    as copies elsewhere. `again`: by the folder of the golden side's dump."""
    contents = [
        tuple(_digest(place) for place in (pair.target, pair.golden, again[pair.golden.folder]))
        for pair in pairs
        if pair.target and pair.golden and pair.golden.folder in again
    ]
    if any(second == target != golden for target, golden, second in contents):
        raise StudioError("precision.compare.again_is_target")
    if contents and all(second == golden for _, golden, second in contents):
        raise StudioError("precision.compare.again_is_golden")


def _digest(location: DumpLocation) -> tuple[str, ...]:
    """Return the digest of a dump, and that of the optimizer's record beside it."""
    record = location.folder / OPTIMIZER_FILE
    paths = (location.folder / location.file, *((record,) if record.is_file() else ()))
    return tuple(_file_digest(path) for path in paths)


def _file_digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise from_os(error, path) from error


def noise_of(joined: JoinedDumps, again: DumpLocation) -> Array:
    """Return, for each row, how far its golden tensor is from that of the second golden dump; NaN where that has none.
    Raises StudioError where that is of another network."""
    records = RecordPair(target=joined.target.place.folder, golden=again.folder)
    twice = join_dumps(read_dump(again, records), joined.golden, tolerances=joined.tolerances)
    _refuse_other_network(twice)
    noise = np.full(len(joined.golden.call) + 1, np.nan)
    paired = twice.rows.golden >= 0
    noise[twice.rows.golden[paired]] = twice.distance[paired]
    return np.asarray(noise[joined.rows.golden])


def _refuse_other_network(twice: JoinedDumps) -> None:
    """Raise StudioError where most tensors of the golden side's forward have no partner of their size, or where the
    parameters are others: two runs of one training begin with the same."""
    golden = twice.golden
    forward = np.array([name_of(call).direction == "forward" for call in golden.calls], bool)
    total = int(((golden.kind == TENSOR) & forward[golden.call]).sum())
    paired = twice.rows.golden[twice.is_tensor & (twice.size == twice.golden_size)]
    count = int(forward[golden.call[paired]].sum())
    place = str(twice.target.place.folder)
    if count < (1 - twice.tolerances.other_program_share) * total:
        raise StudioError("precision.compare.again_other_program", place=place, count=count, total=total)
    distances = twice.distance[sorted(parameter_rows(twice))]
    distances = distances[~np.isnan(distances)]
    if len(distances) and float(np.median(distances)) > twice.tolerances.other_weights_error:
        raise StudioError("precision.compare.again_other_weights", place=place)


@dataclass(kw_only=True)
class NoiseCounter:
    """Counts pass by pass what noise the second golden run allows."""

    values: int = 0
    by_noise: int = 0
    largest: float = 0.0
    name: str = ""
    updates: int = 0
    largest_update: float = 0.0
    update_name: str = ""

    def add(self, joined: JoinedDumps, noise: Array, judgement: Judgement) -> None:
        is_update = _updates(joined)
        known = joined.is_tensor & (joined.eps > 0) & np.isfinite(noise)
        self._add_updates(joined, noise, known & is_update)
        known &= ~is_update
        self.values += int(known.sum())
        self.by_noise += int(judgement.by_noise.sum())
        if known.any():
            row = int(np.where(known, noise, -1.0).argmax())
            if noise[row] >= self.largest:
                self.largest, self.name = float(noise[row]), name_at(joined, int(joined.rows.call[row]))

    def _add_updates(self, joined: JoinedDumps, noise: Array, known: Array) -> None:
        self.updates += int(known.sum())
        if known.any():
            row = int(np.where(known, noise, -1.0).argmax())
            if noise[row] >= self.largest_update:
                item = joined.rows.items[joined.rows.item[row]]
                self.largest_update, self.update_name = float(noise[row]), item.removesuffix(UPDATE_SUFFIX)

    def allowed(self, folder: Path) -> AllowedNoise:
        return AllowedNoise(
            folder=str(folder), values=self.values, by_noise=self.by_noise, largest=self.largest, name=self.name,
            updates=self.updates, largest_update=self.largest_update, update_name=self.update_name,
        )  # fmt: skip


def _updates(joined: JoinedDumps) -> Array:
    """Mark the rows that hold the update of a parameter by the optimizer."""
    suffixed = np.array([item.endswith(UPDATE_SUFFIX) for item in joined.rows.items] or [False])
    optimizer = np.array([name.kind == OPTIMIZER for name in joined.names] or [False])
    return np.asarray(suffixed[joined.rows.item] & optimizer[joined.rows.call])
