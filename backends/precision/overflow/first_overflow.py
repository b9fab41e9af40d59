"""The first NaN or Inf of a dump, from its statistics alone.

Max and Min tell: a NaN among the elements makes both NaN. Mean and Norm do not: the norm of large finite elements may
be Inf, and the mean of a mask with one -Inf is. An Inf counts only where a call makes it of finite inputs and finite
arguments: masks are filled with -Inf on purpose, by an argument that says so. Of inputs with a -Inf alone a forward
call makes +Inf only where it turns signs: else, as of the loss of a masked class, it counts too. A NaN counts wherever
a call makes it of inputs without one, also of infinite ones: a softmax over a wholly masked row does. A NaN that a call
is given counts where it comes through to an output: `where` and `isnan` are given one on purpose. So does +Inf that no
call before it had as an output, and any Inf in a weight. A call that hides an Inf which no call before it had as an
output counts too, be it of data, weights or untraced code, unless it is there to take one: a mask that is made before
the step holds -Inf, and softmax or attention take it. What an optimizer is given counts always, and so does an argument
that is NaN, unless the call is there to write one or to look for one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.precision.compare.alignment.parameters import is_parameter_input
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, MAX, MEAN, MIN, NORM, OUTPUT, PARAMETER, TENSOR
from backends.precision.dump.names import name_of, source_of
from backends.precision.dump.optimizer import OPTIMIZER
from backends.precision.measure.formats import FLOATS
from backends.precision.overflow.arguments import nonfinite_arguments, number_of
from backends.precision.overflow.result import Overflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from backends.precision.dump.dump import Dump
    from backends.precision.overflow.result import OverflowPlace

    Array = NDArray[Any]

INPUT_ROLES, OUTPUT_ROLES = (INPUT, KWARG, PARAMETER), (OUTPUT, GRADIENT)
TURNS_SIGNS = frozenset(
    ("neg", "negative", "abs", "sub", "rsub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "square",
     "pow", "maximum", "max", "where", "masked_fill", "cat", "concat", "stack")
)  # fmt: skip
"""Calls that make +Inf of -Inf, or take it from another input."""
WRITES_ARGUMENT = frozenset(
    ("full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "index_fill", "index_fill_")
)
"""Calls that write an Inf of the sign of their argument, and none of the other."""
TAKES_INFINITE = frozenset(
    ("softmax", "log_softmax", "logsoftmax", "logsumexp", "npu_fusion_attention", "npu_scaled_masked_softmax",
     "where", "masked_fill",
     "masked_fill_", "minimum", "maximum", "min", "max", "amin", "amax", "fmin", "fmax", "clamp", "clamp_", "clip",
     "isinf", "isfinite", "isnan", "isneginf", "isposinf", "eq", "ne", "lt", "le", "gt", "ge", "argmax", "argmin",
     "topk", "sort", "argsort", "copy_", "__setitem__", "multi_head_attention_forward", "scaled_dot_product_attention")
)  # fmt: skip
"""Calls that are there to take an Inf: those that a mask is for, and those that compare."""
MODULES = ("Module", "Cell")
UNINITIALISED = ("Torch.empty.", "Torch.empty_like.", "Torch.empty_strided.")
"""They give memory as it is."""


def first_overflow(dump: Dump, step: int, rank: int) -> Overflow | None:
    """Return the earliest NaN or Inf in the order in which calls ended, whether a call made it or was given it; else
    the first NaN that a call is given and does not pass on; None where all is finite or asked for."""
    is_nan, is_bad = _is_nan(dump), _is_bad(dump)
    is_input, is_output = np.isin(dump.role, INPUT_ROLES), np.isin(dump.role, OUTPUT_ROLES)
    unwritten = np.array([name.startswith(UNINITIALISED) for name in dump.calls], bool)
    asks_other = _asks_for_low(dump) & ~_has(dump, _is_high(dump) & is_input) & _has(dump, _is_high(dump) & is_output)
    is_asked = (unwritten | _asks(dump, math.isinf) | _asks(dump, math.isnan)) & ~asks_other
    has_output = _has(dump, is_output)
    comes_in, passes_on = _has(dump, is_nan & is_input), _has(dump, is_bad & is_output) | ~has_output
    is_infinite = _has(dump, is_bad & is_input)
    makes_nan = _has(dump, is_nan & is_output) & ~comes_in & ~unwritten & ~_asks(dump, math.isnan)
    turned = _has_turned(dump, is_input, is_output)
    makes_infinite = _has(dump, is_bad & is_output) & (~is_infinite | turned) & ~is_asked
    given_rows = _given_infinite(dump, is_input, is_output)
    hidden_rows = _hidden_infinite(dump, is_input, is_output)
    is_given = _has(dump, given_rows) & passes_on & has_output & ~comes_in & ~makes_nan
    is_given |= _has(dump, hidden_rows) & ~comes_in & ~makes_nan
    is_given |= is_infinite & _of_optimizer(dump) & ~comes_in & ~makes_nan
    arguments = nonfinite_arguments(dump)
    has_argument = _has(dump, arguments)
    events = np.flatnonzero((comes_in & passes_on) | makes_nan | makes_infinite | is_given | has_argument)
    events = events if len(events) else np.flatnonzero(comes_in)
    if not len(events):
        return None
    call = int(events[0])
    if has_argument[call] and not comes_in[call]:
        row = int(arguments[dump.call[arguments] == call][0])
        return _overflow_at(dump, row, step, rank, is_made=False)
    made_rows = (is_nan if makes_nan[call] else is_bad) & is_output
    given_rows = given_rows | hidden_rows | (is_bad & is_input & _of_optimizer(dump)[dump.call])
    rows = is_nan & is_input if comes_in[call] else given_rows if is_given[call] else made_rows
    row = int(np.flatnonzero(rows & (dump.call == call))[0])
    overflow = _overflow_at(dump, row, step, rank, is_made=not (comes_in[call] or is_given[call]))
    return msgspec.structs.replace(overflow, has_infinite_inputs=bool(overflow.is_made and is_infinite[call]))


def infinite_calls(dump: Dump) -> int:
    """Return how many calls have an Inf in an output, as masks do."""
    return _infinite_count(dump, OUTPUT_ROLES)


def infinite_inputs(dump: Dump) -> int:
    """Return how many calls have an Inf in an input, as those do that take a mask."""
    return _infinite_count(dump, INPUT_ROLES)


def _infinite_count(dump: Dump, roles: tuple[int, ...]) -> int:
    return int(_has(dump, _is_bad(dump) & ~_is_nan(dump) & np.isin(dump.role, roles)).sum())


def _has(dump: Dump, rows: Array) -> Array:
    """Return for each call whether one of these rows is its own."""
    calls = np.zeros(len(dump.calls), bool)
    calls[dump.call[rows]] = True
    return calls


def blind_tensors(dump: Dump) -> int:
    """Return how many tensors of floating numbers have elements and no Max, so that nothing tells of a NaN in them."""
    floats = np.array([name in FLOATS for name in dump.dtypes] + [False], bool)
    filled = np.array([math.prod(shape) > 0 for shape in dump.shapes] + [False], bool)
    unwritten = np.array([name.startswith(UNINITIALISED) for name in dump.calls], bool)
    rows = (dump.kind == TENSOR) & floats[dump.dtype] & filled[dump.shape] & ((dump.has_stats & (1 << MAX)) == 0)
    return int((rows & ~unwritten[dump.call]).sum())


def has_statistics(dump: Dump) -> bool:
    """Return whether a call has them; the record of the optimizer is no dump."""
    has_rows = _has(dump, (dump.has_stats & (1 << MAX)) != 0)
    return bool((has_rows & ~_of_optimizer(dump)).any())


def _of_optimizer(dump: Dump) -> Array:
    """Mark the calls that are groups of an optimizer."""
    return np.array([name.startswith(f"{OPTIMIZER}.") for name in dump.calls], bool)


def _is_bad(dump: Dump) -> Array:
    return np.asarray(_among(dump, ~np.isfinite(dump.stats)) | _is_nan(dump))


def _is_nan(dump: Dump) -> Array:
    """Mark the rows with a NaN. The extremes that MindSpore takes leave it out, and its mean and norm do not."""
    rows = _among(dump, np.isnan(dump.stats))
    if dump.framework != "mindspore":
        return rows
    is_finite = np.isfinite(dump.stats[:, (MAX, MIN)]).all(axis=1)
    return np.asarray(rows | (is_finite & _among(dump, np.isnan(dump.stats), (MEAN, NORM))))


def _among(dump: Dump, cells: Array, columns: tuple[int, int] = (MAX, MIN)) -> Array:
    """Rows with such a Max or Min, or other `columns`, where the dump has one."""
    first, second = (cells[:, column] & ((dump.has_stats & (1 << column)) != 0) for column in columns)
    rows: Array = first | second
    return rows


def _asks(dump: Dump, is_asked: Callable[[float], bool]) -> Array:
    """Return for each call whether one of its arguments is such a number."""
    calls = np.zeros(len(dump.calls), bool)
    calls[[dump.call[row] for row, text in dump.value.items() if is_asked(number_of(text))]] = True
    return calls


def _has_turned(dump: Dump, is_input: Array, is_output: Array) -> Array:
    """Return for each call whether it is a forward that makes +Inf of inputs of which none has one, and turns no
    signs."""
    names = [name_of(name) for name in dump.calls]
    may_turn = np.array([name.direction != "forward" or name.api in TURNS_SIGNS for name in names], bool)
    is_high = _is_high(dump)
    return np.asarray(_has(dump, is_high & is_output) & ~_has(dump, is_high & is_input) & ~may_turn)


def _given_infinite(dump: Dump, is_input: Array, is_output: Array) -> Array:
    """Return the rows of inputs with +Inf before any call has it as an output, and those of weights with an Inf."""
    is_high = _is_high(dump)
    outputs = dump.call[is_high & is_output]
    first = int(outputs.min()) if len(outputs) else len(dump.calls)
    is_given = is_input & is_high & (dump.call <= first)
    is_given[[row for row in np.flatnonzero(_is_bad(dump) & is_input) if _is_weight(dump, int(row))]] = True
    return np.asarray(is_given & ~_is_nan(dump))


def _hidden_infinite(dump: Dump, is_input: Array, is_output: Array) -> Array:
    """Return the rows of inputs with an Inf that no call before has as an output, of forward calls whose outputs are
    finite, and which are not there to take one. A module takes its masks behind its first input."""
    rows = np.zeros(len(dump.call), bool)
    is_bad = _is_bad(dump)
    hides = ~_has(dump, is_bad & is_output) & _has(dump, is_output)
    for is_signed in (_is_high(dump), _is_low(dump)):
        outputs = dump.call[is_signed & is_output]
        first = int(outputs.min()) if len(outputs) else len(dump.calls)
        rows |= is_signed & is_input & (dump.call < first) & hides[dump.call]
    rows[[row for row in np.flatnonzero(rows) if not _is_hidden(dump, int(row))]] = False
    return np.asarray(rows & ~_is_nan(dump))


def _is_hidden(dump: Dump, row: int) -> bool:
    name = name_of(dump.calls[int(dump.call[row])])
    if name.direction != "forward" or not TAKES_INFINITE.isdisjoint((name.api.strip("_"), name.api, name.type.lower())):
        return False
    return name.kind not in MODULES or (dump.role[row] == INPUT and dump.item[row].partition(".")[0] == "0")


def _asks_for_low(dump: Dump) -> Array:
    """Return for each call whether it writes the -Inf of an argument, and no argument is +Inf."""
    writes = np.array([name_of(name).api in WRITES_ARGUMENT for name in dump.calls], bool)
    is_low, is_high = (_asks(dump, end.__eq__) for end in (-math.inf, math.inf))
    return np.asarray(writes & is_low & ~is_high)


def _is_weight(dump: Dump, row: int) -> bool:
    name = name_of(dump.calls[int(dump.call[row])])
    return name.direction == "forward" and is_parameter_input(name.api, name.type, int(dump.role[row]), dump.item[row])


def _is_high(dump: Dump) -> Array:
    return _among(dump, np.isposinf(dump.stats))


def _is_low(dump: Dump) -> Array:
    return _among(dump, np.isneginf(dump.stats))


def _overflow_at(dump: Dump, row: int, step: int, rank: int, *, is_made: bool) -> Overflow:
    call = int(dump.call[row])
    stack = int(dump.stacks[call])
    place: OverflowPlace = "output" if dump.role[row] in OUTPUT_ROLES else "input"
    value = _value(dump.stats[row])
    if row in dump.value:
        place, value = "argument", _value_of_number(number_of(dump.value[row]))
    return Overflow(
        step=step, rank=rank, call=dump.calls[call], is_made=is_made, value=value, place=place, item=dump.item[row],
        source=source_of(dump.stack_lines[stack]) if stack >= 0 else "",
    )  # fmt: skip


def _value(stats: Array) -> str:
    high, low = float(stats[MAX]), float(stats[MIN])
    if math.isnan(high) or math.isnan(low) or (math.isfinite(high) and math.isfinite(low)):
        return "NaN"
    return "Inf" if high == math.inf else "-Inf"


def _value_of_number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Inf" if number > 0 else "-Inf"
