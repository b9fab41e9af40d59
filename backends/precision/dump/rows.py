"""Rows of a dump, one for each tensor and argument of its calls, however deep they are nested."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET

from backends.precision.dump.decode import BROKEN, Call, Item
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER

MAX_NESTING = 64
SMALL_NUMBERS = tuple(str(number) for number in range(64))
GROUPS = (
    ("input_args", INPUT),
    ("input", INPUT),
    ("input_kwargs", KWARG),
    ("output", OUTPUT),
    ("parameters", PARAMETER),
)

_call = msgspec.json.Decoder(Call)
_any = msgspec.json.Decoder()


@dataclass(kw_only=True)
class DumpRows:
    """Grows call by call. `entries`: what a row is, None for None. `skipped`: rows that were of no known form."""

    call: list[int] = field(default_factory=list)
    role: list[int] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    entries: list[Item | None] = field(default_factory=list)
    skipped: int = 0

    def add(self, call: int, role: int, item: str, entry: Item | None) -> None:
        self.call.append(call)
        self.role.append(role)
        self.item.append(item)
        self.entries.append(entry)


def add_call(rows: DumpRows, call: int, name: str, value: Any) -> bool:
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


def _add_plain(rows: DumpRows, call: int, plain: Call) -> bool:
    """Most calls by far: nothing is nested. False where something is; then nothing was added."""
    groups = [(role, group) for key, role in GROUPS if (group := getattr(plain, key))]
    ones = [list(group.values()) if isinstance(group, dict) else group for _, group in groups]
    if not all(map(_are_plain, ones)):
        return False
    for (role, group), values in zip(groups, ones, strict=True):
        count = len(values)
        rows.call += [call] * count
        rows.role += [role] * count
        rows.item += group if isinstance(group, dict) else _numbers(count)
        rows.entries += values
    return True


def _are_plain(values: list[Any]) -> bool:
    return not any(value is not None and (value.__class__ is not Item or value.type is UNSET) for value in values)


def _add_slowly(rows: DumpRows, call: int, name: str, value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if ".parameters_grad" in name:
        _add_gradients(rows, call, value)
        return True
    for key, role in GROUPS:
        if value.get(key):
            _add_nested(rows, call, role, "", value[key])
    return True


def _add_gradients(rows: DumpRows, call: int, value: dict[str, Any]) -> None:
    """{"weight": [one], …}: a list of one is no level of its own."""
    for parameter, gradient in value.items():
        alone = gradient[0] if isinstance(gradient, list) and len(gradient) == 1 else gradient
        _add_nested(rows, call, GRADIENT, parameter, alone)


def _add_nested(rows: DumpRows, call: int, role: int, item: str, value: Any, depth: int = 0) -> None:
    """`item`: the path to the value: names and numbers, joined by dots."""
    if depth > MAX_NESTING:
        rows.skipped += 1
    elif isinstance(value, dict) and not isinstance(value.get("type"), str):
        for key, inner in value.items():
            _add_nested(rows, call, role, f"{item}.{key}" if item else str(key), inner, depth + 1)
    elif isinstance(value, list):
        for number, inner in zip(_numbers(len(value)), value, strict=True):
            _add_nested(rows, call, role, f"{item}.{number}" if item else number, inner, depth + 1)
    else:
        _add_item(rows, call, role, item, value)


def _add_item(rows: DumpRows, call: int, role: int, item: str, value: Any) -> None:
    try:
        if isinstance(value, dict):
            value = msgspec.convert(value, Item)
        elif value is not None:
            value = Item(type=type(value).__name__, value=value)
        rows.add(call, role, item, value)
    except msgspec.ValidationError:
        rows.skipped += 1


def _numbers(count: int) -> tuple[str, ...]:
    return SMALL_NUMBERS[:count] if count <= len(SMALL_NUMBERS) else tuple(map(str, range(count)))
