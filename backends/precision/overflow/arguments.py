"""Numbers among the arguments of a call that are no numbers, though what the call makes may be finite: a NaN that a
script computed with, a learning rate of a schedule that divided by 0."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.dump.dump import Dump

TAKES_NAN = frozenset(
    ("full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "where", "tensor", "as_tensor",
     "nan_to_num", "nan_to_num_", "eq", "ne", "__eq__", "__ne__", "isclose", "allclose", "pad", "scatter", "scatter_",
     "index_fill", "index_fill_", "__setitem__", "constant_", "to_padded_tensor", "nested_to_padded_tensor")
)  # fmt: skip
"""Functions that are told to write a NaN, or to look for one."""
BOUND = re.compile(r"max|min|clip|clamp|norm|limit|threshold", re.IGNORECASE)
"""Hyperparameters that may be infinite, for no bound."""


def number_of(text: str) -> float:
    """Return 0 for what is no number."""
    try:
        return float(text)
    except (ValueError, OverflowError):
        return 0.0


def nonfinite_arguments(dump: Dump) -> NDArray[Any]:
    """Return the rows of arguments that no call is right to have: NaN, and of an optimizer also an infinite learning
    rate."""
    rows = (row for row, text in dump.value.items() if not math.isfinite(number_of(text)))
    return np.array(sorted(row for row in rows if _is_wrong(dump, row)), np.int64)


def _is_wrong(dump: Dump, row: int) -> bool:
    name = dump.calls[int(dump.call[row])]
    is_nan = math.isnan(number_of(dump.value[row]))
    if name.startswith(f"{OPTIMIZER}."):
        return is_nan or not BOUND.search(dump.item[row])
    return is_nan and name_of(name).api not in TAKES_NAN
