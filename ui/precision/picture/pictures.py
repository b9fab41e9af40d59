"""The figures that are drawn of the two tensors of a row, computed from their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.tensors import open_tensor
from backends.precision.measure.picture import difference_picture, histograms, per_channel, worst_elements
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.measure.picture import Channels, Element, Histograms, Picture

FOLDER = "dump_tensor_data"
ROWS, COLUMNS, BINS, WORST = 96, 160, 60, 5


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """`channels` are along `axis`; None for a scalar."""

    difference: Picture
    histograms: Histograms
    worst: tuple[Element, ...]
    channels: Channels | None
    axis: int


def tensor_files(comparison: Comparison, row: int) -> tuple[Path, Path] | None:
    """Return the tensor files of a row, target first; None where a side has none."""
    number = int(np.searchsorted([each.first_row for each in comparison.passes], row, "right")) - 1
    dump_pass, target, golden = comparison.passes[number], comparison.target_file[row], comparison.golden_file[row]
    if target < 0 or golden < 0 or dump_pass.target is None or dump_pass.golden is None:
        return None
    return dump_pass.target / comparison.texts[target], dump_pass.golden / comparison.texts[golden]


def rows_with_files(comparison: Comparison, call: int) -> list[int]:
    """Return the rows of a call whose tensors were dumped on both sides."""
    begin, end = (int(bound) for bound in comparison.call.searchsorted((call, call + 1)))
    return [row for row in range(begin, end) if tensor_files(comparison, row)]


def _existing_file(file: Path) -> Path:
    """Return the file of a tensor; msprobe keeps them in a folder next to dump.json."""
    own = file.parent / FOLDER / file.name
    return own if not file.exists() and own.exists() else file


def read_pictures(files: tuple[Path, Path]) -> Pictures | StudioError:
    """Compute the pictures; both files are read five times, in pieces."""
    try:
        target, golden = (open_tensor(_existing_file(file)) for file in files)
        axis = channel_axis(golden.shape)
        return Pictures(
            difference=difference_picture(target, golden, ROWS, COLUMNS),
            histograms=histograms(target, golden, BINS),
            worst=worst_elements(target, golden, WORST),
            channels=per_channel(target, golden, axis) if axis >= 0 else None,
            axis=axis,
        )
    except StudioError as error:
        return error


def channel_axis(shape: tuple[int, ...]) -> int:
    """Return the axis of channels: the second of images, as both frameworks lay them out, else the last; -1 for a
    scalar."""
    return 1 if len(shape) in (4, 5) else len(shape) - 1
