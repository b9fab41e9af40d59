"""Rows of a dump as columns."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from backends.precision.dump.dump import NOTHING, SCALAR, TENSOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.dump.decode import Item
    from backends.precision.dump.rows import DumpRows

STATISTIC_GETTERS = (attrgetter("Max"), attrgetter("Min"), attrgetter("Mean"), attrgetter("Norm"))


def dump_columns(rows: DumpRows) -> dict[str, Any]:
    """The fields of Dump that are of rows."""
    count = len(rows.entries)
    at = [row for row, item in enumerate(rows.entries) if item and item.dtype is not None and item.shape is not None]
    tensors = [item for item in map(rows.entries.__getitem__, at) if item]
    kind = np.array([NOTHING if item is None else SCALAR for item in rows.entries], dtype=np.uint8)
    kind[at] = TENSOR
    stats, has_stats = _stats(tensors)
    dtype, dtypes = _numbered([item.dtype for item in tensors])
    shape, shapes = _numbered([item.shape for item in tensors])
    return {
        "call": np.array(rows.call, dtype=np.int32),
        "role": np.array(rows.role, dtype=np.uint8),
        "kind": kind,
        "item": tuple(rows.item),
        "dtype": _spread(dtype, at, count, -1),
        "dtypes": tuple(map(plain_dtype, dtypes)),
        "shape": _spread(shape, at, count, -1),
        "shapes": shapes,
        "stats": _spread(stats, at, count, np.nan),
        "has_stats": _spread(has_stats, at, count, 0),
        "needs_grad": _spread(np.array([item.requires_grad is True for item in tensors], dtype=bool), at, count, False),
        "value": {row: item_text(rows.entries[row]) for row in np.flatnonzero(kind == SCALAR).tolist()},
        "digest": {row: item.md5 for row, item in zip(at, tensors, strict=True) if item.md5},
        "file": {
            row: name for row, item in zip(at, tensors, strict=True) if (name := item.data_name) and _is_name(name)
        },
    }


def _spread(values: NDArray[Any], at: list[int], count: int, otherwise: float) -> NDArray[Any]:
    """A column of all rows from that of some."""
    column = np.full((count, *values.shape[1:]), otherwise, dtype=values.dtype)
    column[at] = values
    return column


def plain_dtype(dtype: str) -> str:
    """Without the framework: "torch.bfloat16" and MindSpore's "BFloat16" are the same."""
    return dtype.rpartition(".")[2].lower()


def _is_name(file: str) -> bool:
    """A file in the folder, not one elsewhere."""
    return file not in (".", "..") and not any(mark in file for mark in "/\\\0")


class _Numbers(dict[Any, int]):
    def __missing__(self, value: Any) -> int:
        self[value] = len(self)
        return self[value]


def _numbered(values: list[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Return the number of each value, and the values."""
    numbers = _Numbers()
    return np.array([numbers[value] for value in values], dtype=np.int32), tuple(numbers)


def _stats(tensors: list[Item]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the four statistics of each tensor, and the bits of those that were written."""
    values = np.empty((len(tensors), 4), dtype=np.float64)
    present = np.zeros(len(tensors), dtype=np.uint8)
    for column in range(4):
        side = list(map(STATISTIC_GETTERS[column], tensors))
        values[:, column] = _floats(side)
        has = ~np.isnan(values[:, column])
        for row in np.flatnonzero(~has):
            has[row] = side[row] is not None and _is_number(side[row])
        present |= has.astype(np.uint8) << column
    return values, present


def _floats(values: list[Any]) -> NDArray[Any]:
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, TypeError):
        return np.array([value if _is_number(value) else None for value in values], dtype=np.float64)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (ValueError, TypeError):
        return False
    return True


NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def item_text(item: Item | None) -> str:
    """What an argument is, as text: a number so that it reads back the same, a text as it is."""
    if item is None:
        return "None"
    for value in (item.value, item.format, item.group_ranks):
        if value is not UNSET:
            return str(NOT_FINITE.get(value, value)) if isinstance(value, str) else repr(value)
    return str(item.type)
