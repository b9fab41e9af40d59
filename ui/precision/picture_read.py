"""What is drawn of the two tensors of a row; read in another thread, the last few kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.tensors import open_tensor
from backends.precision.measure.picture import difference_picture, histograms, per_channel, worst
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.measure.picture import Channels, Element, Histograms, Picture

FOLDER = "dump_tensor_data"
ROWS, COLUMNS, BINS, WORST = 96, 160, 60, 5


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """`channels`: along `axis`; None of a tensor without one."""

    difference: Picture
    histograms: Histograms
    worst: tuple[Element, ...]
    channels: Channels | None
    axis: int


def files_of(comparison: Comparison, row: int) -> tuple[Path, Path] | None:
    """Where the tensors of a row lie, target first; None where one side has none."""
    number = int(np.searchsorted([one.first_row for one in comparison.passes], row, "right")) - 1
    one, target, golden = comparison.passes[number], comparison.target_file[row], comparison.golden_file[row]
    if target < 0 or golden < 0 or one.target is None or one.golden is None:
        return None
    return one.target / comparison.texts[target], one.golden / comparison.texts[golden]


def rows_with_files(comparison: Comparison, call: int) -> list[int]:
    """Of a call."""
    begin, end = (int(place) for place in comparison.call.searchsorted((call, call + 1)))
    return [row for row in range(begin, end) if files_of(comparison, row)]


def _in_place(file: Path) -> Path:
    """msprobe keeps tensors in a folder of their own beside dump.json."""
    own = file.parent / FOLDER / file.name
    return own if not file.exists() and own.exists() else file


def read_pictures(files: tuple[Path, Path]) -> Pictures | StudioError:
    """Both files, five times, in pieces."""
    try:
        target, golden = (open_tensor(_in_place(file)) for file in files)
        axis = axis_of_channels(golden.shape)
        return Pictures(
            difference=difference_picture(target, golden, ROWS, COLUMNS),
            histograms=histograms(target, golden, BINS), worst=worst(target, golden, WORST),
            channels=per_channel(target, golden, axis) if axis >= 0 else None, axis=axis,
        )  # fmt: skip
    except StudioError as error:
        return error


def axis_of_channels(shape: tuple[int, ...]) -> int:
    """Of images the second, as both frameworks lay them out, else the last; -1 where there is none."""
    return 1 if len(shape) in (4, 5) else len(shape) - 1
