"""Weights, first batches and random calls as the packs have them: where msprobe cannot compare them, and where it calls
different what only rounding sets apart."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from backends.precision.config.result import CheckRow, part
from backends.precision.config.statistics import FIGURES, statistics_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.precision.config.pack import Pack
    from backends.precision.config.result import Level, Part

    Figures = Mapping[str, Any]
    """Values by their place in a member: statistics of a tensor, or how often a random function was called."""

MEMBER_HEADER = ("place", "what", "golden", "target")
FOLDERS = ("weights", "dataset", "random")
BUFFERS = "buffers"
"""The folder of a pack that msprobe does not know."""
OF_TENSORS = ("weights", "dataset")
MAX_NESTING = 20
_PLACE = re.compile(r"(weights|dataset)/step(\d+)/rank(\d+)/")


def member_parts(pairs: Sequence[tuple[Pack, Pack]]) -> tuple[Part, ...]:
    """Compare what both sides of a pair have; tensors by their statistics."""
    rows_of_folders = {folder: _rows_of_pairs(folder, pairs) for folder in FOLDERS}
    rows_of_folders["env"] = [row for golden, target in pairs[:1] for row in _variables(golden, target)]
    return tuple(part(name, MEMBER_HEADER, rows) for name, rows in rows_of_folders.items() if rows)


def buffer_part(pairs: Sequence[tuple[Pack, Pack]]) -> Part | None:
    """Compare the buffers of both sides of a pair by their statistics, None where there are none."""
    rows = _rows_of_pairs(BUFFERS, pairs)
    return part(BUFFERS, MEMBER_HEADER, rows) if rows else None


def _rows_of_pairs(folder: str, pairs: Sequence[tuple[Pack, Pack]]) -> list[CheckRow]:
    return [row for golden, target in pairs for row in _rows(folder, golden, target)]


def rounding_levels(pairs: Sequence[tuple[Pack, Pack]]) -> dict[str, dict[tuple[str, ...], Level]]:
    """Return, for weights and dataset, the level of each tensor whose statistics differ by rounding alone; by step,
    rank and name, as a table of msprobe's begins."""
    levels: dict[str, dict[tuple[str, ...], Level]] = {folder: {} for folder in OF_TENSORS}
    for golden, target in pairs:
        for member in golden.members.keys() & target.members.keys():
            if match := _PLACE.match(member):
                sides = [_figures_of(pack, member) for pack in (golden, target)]
                for name in sides[0].keys() & sides[1].keys():
                    level = _level(sides[0][name], sides[1][name])
                    if level != "error" and sides[0][name] != sides[1][name]:
                        levels[match[1]][str(int(match[2])), str(int(match[3])), name] = level
    return levels


def _variables(golden: Pack, target: Pack) -> Iterator[CheckRow]:
    """Compare the variables that both sides have: another host has other ones."""
    for name in sorted((golden.env or {}).keys() & (target.env or {}).keys()):
        a, b = (golden.env or {})[name], (target.env or {})[name]
        yield CheckRow("pass" if a == b else "warning", ("", name, a, b))


def _rows(folder: str, golden: Pack, target: Pack) -> Iterator[CheckRow]:
    names = sorted(name for name in golden.members if name.startswith(f"{folder}/") and name in target.members)
    for name in names:
        location = name[len(folder) + 1 :].rpartition("/")[0] or name[len(folder) + 1 :].removesuffix(".json")
        yield from _compared(location, *(_figures_of(pack, name) for pack in (golden, target)))


def _compared(location: str, golden: Figures, target: Figures) -> Iterator[CheckRow]:
    for name in sorted({*golden, *target}):
        a, b = golden.get(name, ""), target.get(name, "")
        yield CheckRow(_level(a, b), (location, name, _text(a), _text(b)))


def _level(golden: Any, target: Any) -> Level:
    if isinstance(golden, dict) and isinstance(target, dict):
        return statistics_level(golden, target)
    return "pass" if golden == target else "error"


def _text(value: Any) -> str:
    return " ".join(f"{key} {value[key]}" for key in sorted(FIGURES)) if isinstance(value, dict) else value


def _figures_of(pack: Pack, member: str) -> dict[str, Any]:
    return dict(_figures(_value(pack.members[member]), "", MAX_NESTING))


def _value(data: bytes) -> Any:
    """Return what a member holds, NaN and infinity as Python's json writes them; None where it is damaged."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _figures(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The statistics of a tensor, under its place in what surrounds it; of random calls how often, as a text."""
    if isinstance(value, dict) and value.keys() == FIGURES:
        yield name, value
    elif isinstance(value, dict) and depth:
        for key, inner in value.items():
            yield from _figures(inner, f"{name}.{key}" if name else str(key), depth - 1)
    elif isinstance(value, list) and name:
        yield name, str(sum(call.get("count", 0) for call in value if isinstance(call, dict)))
