"""The first NaN or Inf of a dump, from its statistics alone.

Max and Min tell: a NaN among the elements makes both NaN. Mean and Norm do not: the norm of large finite elements may
be Inf, and the mean of a mask with one -Inf is. An Inf counts only where a call makes it of finite inputs and finite
arguments: masks are filled with -Inf on purpose, by an argument that says so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, MAX, MIN, OUTPUT, PARAMETER
from backends.precision.dump.names import source_of
from backends.precision.overflow.result import Overflow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.dump.dump import Dump

    Array = NDArray[Any]

INPUT_ROLES, OUTPUT_ROLES = (INPUT, KWARG, PARAMETER), (OUTPUT, GRADIENT)
UNINITIALISED = ("Torch.empty.", "Torch.empty_like.", "Torch.empty_strided.")
"""They give memory as it is."""


def first_overflow(dump: Dump, step: int, rank: int) -> Overflow | None:
    """In the order in which calls ended: the first call that makes one; else the first that is given a NaN."""
    is_bad = _is_bad(dump)
    came = np.zeros(len(dump.calls), bool)
    came[dump.call[is_bad & np.isin(dump.role, INPUT_ROLES)]] = True
    came[[dump.call[row] for row, text in dump.value.items() if _is_overflow(text)]] = True
    for row in np.flatnonzero(is_bad & np.isin(dump.role, OUTPUT_ROLES)).tolist():
        call = int(dump.call[row])
        if not came[call] and not dump.calls[call].startswith(UNINITIALISED):
            return _overflow_at(dump, row, step, rank, is_made=True)
    inputs = np.flatnonzero(_is_nan(dump) & np.isin(dump.role, INPUT_ROLES))
    return _overflow_at(dump, int(inputs[0]), step, rank, is_made=False) if len(inputs) else None


def has_statistics(dump: Dump) -> bool:
    return bool((dump.has_stats & (1 << MAX)).any())


def _is_bad(dump: Dump) -> Array:
    return _among(dump, ~np.isfinite(dump.stats))


def _is_nan(dump: Dump) -> Array:
    return _among(dump, np.isnan(dump.stats))


def _among(dump: Dump, cells: Array) -> Array:
    """Rows with such a Max or Min, where the dump has one."""
    columns = [cells[:, column] & ((dump.has_stats & (1 << column)) != 0) for column in (MAX, MIN)]
    rows: Array = columns[0] | columns[1]
    return rows


def _is_overflow(text: str) -> bool:
    try:
        return not math.isfinite(float(text))
    except (ValueError, OverflowError):
        return False


def _overflow_at(dump: Dump, row: int, step: int, rank: int, *, is_made: bool) -> Overflow:
    call = int(dump.call[row])
    stack = int(dump.stacks[call])
    return Overflow(
        step=step, rank=rank, call=dump.calls[call], is_made=is_made, value=_value(dump.stats[row]),
        place="output" if dump.role[row] in OUTPUT_ROLES else "input", item=dump.item[row],
        source=source_of(dump.stack_lines[stack]) if stack >= 0 else "",
    )  # fmt: skip


def _value(stats: Array) -> str:
    high, low = float(stats[MAX]), float(stats[MIN])
    if math.isnan(high) or math.isnan(low):
        return "NaN"
    return "Inf" if high == math.inf else "-Inf"
