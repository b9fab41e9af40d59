"""The first NaN or Inf of a dump, from its statistics alone.

Max and Min tell: a NaN among the elements makes both NaN. Mean and Norm do not: the norm of large finite elements may
be Inf, and the mean of a mask with one -Inf is. An Inf counts only where a call makes it of finite inputs and finite
arguments: masks are filled with -Inf on purpose, by an argument that says so. A NaN counts wherever a call makes it
of inputs without one, also of infinite ones: a softmax over a wholly masked row does. A NaN that a call is given
counts where it comes through to an output: `where` and `isnan` are given one on purpose.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
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
    """Return the earliest NaN or Inf in the order in which calls ended, whether a call made it or was given it; else
    the first NaN that a call is given and does not pass on; None where all is finite or asked for."""
    is_nan, is_bad = _is_nan(dump), _is_bad(dump)
    is_input, is_output = np.isin(dump.role, INPUT_ROLES), np.isin(dump.role, OUTPUT_ROLES)
    is_asked = np.zeros(len(dump.calls), bool)
    is_asked[[dump.call[row] for row, text in dump.value.items() if _is_overflow(text)]] = True
    is_asked |= np.array([name.startswith(UNINITIALISED) for name in dump.calls], bool)
    has_output = _has(dump, is_output)
    comes_in, passes_on = _has(dump, is_nan & is_input), _has(dump, is_bad & is_output) | ~has_output
    is_infinite = _has(dump, is_bad & is_input)
    makes_nan = _has(dump, is_nan & is_output) & ~comes_in & ~is_asked
    makes_infinite = _has(dump, is_bad & is_output) & ~is_infinite & ~is_asked
    events = np.flatnonzero((comes_in & passes_on) | makes_nan | makes_infinite)
    events = events if len(events) else np.flatnonzero(comes_in)
    if not len(events):
        return None
    call = int(events[0])
    made_rows = (is_nan if makes_nan[call] else is_bad) & is_output
    rows = is_nan & is_input if comes_in[call] else made_rows
    row = int(np.flatnonzero(rows & (dump.call == call))[0])
    overflow = _overflow_at(dump, row, step, rank, is_made=not comes_in[call])
    return msgspec.structs.replace(overflow, has_infinite_inputs=bool(overflow.is_made and is_infinite[call]))


def infinite_calls(dump: Dump) -> int:
    """Return how many calls have an Inf in an output, as masks do."""
    return int(_has(dump, _is_bad(dump) & ~_is_nan(dump) & np.isin(dump.role, OUTPUT_ROLES)).sum())


def _has(dump: Dump, rows: Array) -> Array:
    """Return for each call whether one of these rows is its own."""
    calls = np.zeros(len(dump.calls), bool)
    calls[dump.call[rows]] = True
    return calls


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
