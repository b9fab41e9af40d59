"""Weights, first batches and random calls as the packs have them, where msprobe cannot compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.config.result import CheckRow, part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.precision.config.pack import Pack
    from backends.precision.config.result import Level, Part

MEMBER_HEADER = ("place", "what", "golden", "target")
FOLDERS = ("weights", "dataset", "random")
FIGURES = {"max", "min", "mean", "norm"}
MAX_NESTING = 20


def member_parts(pairs: Sequence[tuple[Pack, Pack]]) -> tuple[Part, ...]:
    """Compare what both sides of a pair have. Equal means equal figures to the last digit."""
    rows_of_folders = {
        folder: [row for golden, target in pairs for row in _rows(folder, golden, target)] for folder in FOLDERS
    }
    rows_of_folders["env"] = [row for golden, target in pairs[:1] for row in _variables(golden, target)]
    return tuple(part(name, MEMBER_HEADER, rows) for name, rows in rows_of_folders.items() if rows)


def _variables(golden: Pack, target: Pack) -> Iterator[CheckRow]:
    """Compare the variables that both sides have: another host has other ones."""
    for name in sorted((golden.env or {}).keys() & (target.env or {}).keys()):
        a, b = (golden.env or {})[name], (target.env or {})[name]
        yield CheckRow("pass" if a == b else "warning", ("", name, a, b))


def _rows(folder: str, golden: Pack, target: Pack) -> Iterator[CheckRow]:
    names = sorted(name for name in golden.members if name.startswith(f"{folder}/") and name in target.members)
    for name in names:
        location = name[len(folder) + 1 :].rpartition("/")[0] or name[len(folder) + 1 :].removesuffix(".json")
        sides = [dict(_figures(_value(pack.members[name]), "", MAX_NESTING)) for pack in (golden, target)]
        yield from _compared(location, sides[0], sides[1])


def _compared(location: str, golden: Mapping[str, str], target: Mapping[str, str]) -> Iterator[CheckRow]:
    for name in sorted({*golden, *target}):
        a, b = golden.get(name, ""), target.get(name, "")
        level: Level = "pass" if a == b else "error"
        yield CheckRow(level, (location, name, a, b))


def _value(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _figures(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """The statistics of a tensor as one text, under its place in what surrounds it; of random calls how often."""
    if isinstance(value, dict) and value.keys() == FIGURES:
        yield name, " ".join(f"{key} {value[key]}" for key in sorted(FIGURES))
    elif isinstance(value, dict) and depth:
        for key, inner in value.items():
            yield from _figures(inner, f"{name}.{key}" if name else str(key), depth - 1)
    elif isinstance(value, list) and name:
        yield name, str(sum(call.get("count", 0) for call in value if isinstance(call, dict)))
