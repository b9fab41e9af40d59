"""Writing of columns, and joining of the readers' chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def write_column(folder: Path, name: str, column: NDArray[Any]) -> None:
    """Write an array as `<name>.npy`. Raises OSError with its errno, which np.save loses on a full disk."""
    column = np.ascontiguousarray(column)
    with (folder / f"{name}.npy").open("wb") as file:
        file.write(_header(column))
        if column.size:
            file.write(column.data.cast("B"))


def _header(column: NDArray[Any]) -> bytes:
    """Return the header of the .npy format, version 1.0 (numpy.lib.format)."""
    text = f"{{'descr': {column.dtype.str!r}, 'fortran_order': False, 'shape': {column.shape!r}, }}"
    room = -(len(text) + 11) % 64
    return b"\x93NUMPY\x01\x00" + (len(text) + room + 1).to_bytes(2, "little") + f"{text}{' ' * room}\n".encode()


def join_chunks(chunks: list[tuple[Numbers, ...]], number: int, dtype: Any) -> NDArray[Any]:
    """Join one column of all chunks."""
    return np.concatenate([np.empty(0, dtype), *(chunk[number] for chunk in chunks)], dtype=dtype, casting="same_kind")


def take_columns(chunks: list[tuple[Numbers, ...]], dtypes: tuple[Any, ...], keep: bool) -> list[NDArray[Any]]:
    """Join all columns of all chunks. The chunks are released while the columns are made, unless they are
    still needed."""
    by_column = [[chunk[number] for chunk in chunks] for number in range(len(dtypes))]
    if not keep:
        chunks.clear()
    columns = []
    for number, dtype in enumerate(dtypes):
        columns.append(join_chunks([(part,) for part in by_column[number]], 0, dtype))
        by_column[number] = []
    return columns


def sort_keys(upper: NDArray[Any], *times: Numbers) -> tuple[Numbers, ...]:
    """Return keys that sort by `upper` (0 to n) and then by time (from 0), one array for each of the times, in one
    common order. Where both do not fit into an int64 the times are replaced by their ranks."""
    highest = max((int(column.max()) for column in times if len(column)), default=0)
    room = 62 - int(upper.max(initial=0)).bit_length()
    if highest.bit_length() > room:
        steps = np.unique(np.concatenate(times))
        times = tuple(np.searchsorted(steps, column) for column in times)
        highest = len(steps)
    shifted = upper.astype(np.int64) << highest.bit_length()
    return tuple(shifted + column for column in times)
