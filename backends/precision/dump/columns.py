"""Rows of a dump, one for each tensor and argument, as columns."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import UNSET

from backends.precision.dump.decode import BROKEN, Call, Item
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, NOTHING, OUTPUT, PARAMETER, SCALAR, TENSOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEPTH = 64
NUMBERS = tuple(str(number) for number in range(64))
GROUPS = (
    ("input_args", INPUT),
    ("input", INPUT),
    ("input_kwargs", KWARG),
    ("output", OUTPUT),
    ("parameters", PARAMETER),
)

STATISTICS = (attrgetter("Max"), attrgetter("Min"), attrgetter("Mean"), attrgetter("Norm"))

_call = msgspec.json.Decoder(Call)
_any = msgspec.json.Decoder()


@dataclass(kw_only=True)
class Rows:
    """Grows call by call. `one`: what a row is, None for None. `skipped`: rows that were of no known form."""

    call: list[int] = field(default_factory=list)
    role: list[int] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    one: list[Item | None] = field(default_factory=list)
    skipped: int = 0

    def add(self, call: int, role: int, item: str, one: Item | None) -> None:
        self.call.append(call)
        self.role.append(role)
        self.item.append(item)
        self.one.append(one)


def add_call(rows: Rows, call: int, name: str, value: Any) -> bool:
    """`value`: the json of a call, or its value. False where it is no call."""
    if not isinstance(value, msgspec.Raw):
        return _add_slowly(rows, call, name, value)
    if ".parameters_grad" not in name:
        try:
            plain = _call.decode(value)
        except BROKEN:
            pass
        else:
            if _add_plain(rows, call, plain):
                return True
    return _add_slowly(rows, call, name, _value(value))


def _value(raw: msgspec.Raw) -> Any:
    """None where it is no json. A number too large for the one decoder is infinite for the other."""
    try:
        return _any.decode(raw)
    except BROKEN:
        with suppress(ValueError, RecursionError):
            return json.loads(bytes(raw).decode("utf-8", "replace"))
    return None


def _add_plain(rows: Rows, call: int, plain: Call) -> bool:
    """Most calls by far: nothing is nested. False where something is; then nothing was added."""
    found: list[tuple[int, str, Item | None]] = []
    for key, role in GROUPS:
        group = getattr(plain, key)
        if not group:
            continue
        named = group.items() if isinstance(group, dict) else zip(_numbers(len(group)), group, strict=True)
        for item, one in named:
            if one is not None and (one.__class__ is not Item or one.type is UNSET):
                return False
            found.append((role, item, one))
    for role, item, one in found:
        rows.add(call, role, item, one)
    return True


def _add_slowly(rows: Rows, call: int, name: str, value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if ".parameters_grad" in name:
        _add_gradients(rows, call, value)
        return True
    for key, role in GROUPS:
        if value.get(key):
            _add_nested(rows, call, role, "", value[key])
    return True


def _add_gradients(rows: Rows, call: int, value: dict[str, Any]) -> None:
    """{"weight": [one], …}: a list of one is no level of its own."""
    for parameter, one in value.items():
        alone = one[0] if isinstance(one, list) and len(one) == 1 else one
        _add_nested(rows, call, GRADIENT, parameter, alone)


def _add_nested(rows: Rows, call: int, role: int, item: str, value: Any, depth: int = 0) -> None:
    """`item`: the path to the value: names and numbers, joined by dots."""
    if depth > DEPTH:
        rows.skipped += 1
    elif isinstance(value, dict) and not isinstance(value.get("type"), str):
        for key, inner in value.items():
            _add_nested(rows, call, role, f"{item}.{key}" if item else str(key), inner, depth + 1)
    elif isinstance(value, list):
        for number, inner in zip(_numbers(len(value)), value, strict=True):
            _add_nested(rows, call, role, f"{item}.{number}" if item else number, inner, depth + 1)
    else:
        _add_one(rows, call, role, item, value)


def _add_one(rows: Rows, call: int, role: int, item: str, value: Any) -> None:
    try:
        if isinstance(value, dict):
            value = msgspec.convert(value, Item)
        elif value is not None:
            value = Item(type=type(value).__name__, value=value)
        rows.add(call, role, item, value)
    except msgspec.ValidationError:
        rows.skipped += 1


def _numbers(count: int) -> tuple[str, ...]:
    return NUMBERS[:count] if count <= len(NUMBERS) else tuple(map(str, range(count)))


def columns(rows: Rows) -> dict[str, Any]:
    """The fields of Dump that are of rows."""
    count = len(rows.one)
    at = [row for row, one in enumerate(rows.one) if one and one.dtype is not None and one.shape is not None]
    tensors = [one for one in map(rows.one.__getitem__, at) if one]
    kind = np.array([NOTHING if one is None else SCALAR for one in rows.one], dtype=np.uint8)
    kind[at] = TENSOR
    stats, has_stats = _stats(tensors)
    dtype, dtypes = _numbered([one.dtype for one in tensors])
    shape, shapes = _numbered([one.shape for one in tensors])
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
        "needs_grad": _spread(np.array([one.requires_grad is True for one in tensors], dtype=bool), at, count, False),
        "value": {row: text_of(rows.one[row]) for row in np.flatnonzero(kind == SCALAR).tolist()},
        "digest": {row: one.md5 for row, one in zip(at, tensors, strict=True) if one.md5},
        "file": {row: one.data_name for row, one in zip(at, tensors, strict=True) if _is_name(one.data_name)},
    }


def _spread(values: NDArray[Any], at: list[int], count: int, otherwise: float) -> NDArray[Any]:
    """A column of all rows from that of some."""
    column = np.full((count, *values.shape[1:]), otherwise, dtype=values.dtype)
    column[at] = values
    return column


def plain_dtype(dtype: str) -> str:
    """Without the framework: "torch.bfloat16" and MindSpore's "BFloat16" are the same."""
    return dtype.rpartition(".")[2].lower()


def _is_name(file: str | None) -> bool:
    """A file in the folder, not one elsewhere."""
    return file is not None and file not in ("", ".", "..") and not any(mark in file for mark in "/\\\0")


def _numbered(values: list[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Of each value its number, and the values."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int32), tuple(numbers)


def _stats(tensors: list[Item]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each the four statistics, and the bits of those that there are."""
    values = np.empty((len(tensors), 4), dtype=np.float64)
    there = np.zeros(len(tensors), dtype=np.uint8)
    for column in range(4):
        side = list(map(STATISTICS[column], tensors))
        values[:, column] = _floats(side)
        has = ~np.isnan(values[:, column])
        for row in np.flatnonzero(~has):
            has[row] = side[row] is not None and _is_number(side[row])
        there |= has.astype(np.uint8) << column
    return values, there


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


def text_of(one: Item | None) -> str:
    """What an argument is, as text: a number so that it reads back the same, a text as it is."""
    if one is None:
        return "None"
    for value in (one.value, one.format, one.group_ranks):
        if value is not UNSET:
            return str(NOT_FINITE.get(value, value)) if isinstance(value, str) else repr(value)
    return str(one.type)
