"""Weights, first batches and random calls as the packs have them, where msprobe cannot compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.config.checked import Row, part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.precision.config.checked import Level, Part
    from backends.precision.config.pack import Pack

HEADER = ("place", "what", "golden", "target")
FOLDERS = ("weights", "dataset", "random")
FIGURES = {"max", "min", "mean", "norm"}
DEPTH = 20


def parts(pairs: Sequence[tuple[Pack, Pack]]) -> tuple[Part, ...]:
    """Of what both sides of a pair have. Equal means equal figures to the last digit."""
    found = {folder: [row for golden, target in pairs for row in _rows(folder, golden, target)] for folder in FOLDERS}
    found["env"] = [row for golden, target in pairs[:1] for row in _variables(golden, target)]
    return tuple(part(name, HEADER, rows) for name, rows in found.items() if rows)


def _variables(golden: Pack, target: Pack) -> Iterator[Row]:
    """Of those that both sides have: another host has other ones."""
    for name in sorted((golden.env or {}).keys() & (target.env or {}).keys()):
        a, b = (golden.env or {})[name], (target.env or {})[name]
        yield Row("pass" if a == b else "warning", ("", name, a, b))


def _rows(folder: str, golden: Pack, target: Pack) -> Iterator[Row]:
    names = sorted(name for name in golden.members if name.startswith(f"{folder}/") and name in target.members)
    for name in names:
        place = name[len(folder) + 1 :].rpartition("/")[0] or name[len(folder) + 1 :].removesuffix(".json")
        sides = [dict(_figures(_value(pack.members[name]), "", DEPTH)) for pack in (golden, target)]
        yield from _compared(place, sides[0], sides[1])


def _compared(place: str, golden: Mapping[str, str], target: Mapping[str, str]) -> Iterator[Row]:
    for name in sorted({*golden, *target}):
        a, b = golden.get(name, ""), target.get(name, "")
        level: Level = "pass" if a == b else "error"
        yield Row(level, (place, name, a, b))


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
        yield name, str(sum(one.get("count", 0) for one in value if isinstance(one, dict)))
