"""communication.json and its like as rows: their keys become columns, the last dictionaries become figures.

{step: {"p2p" | "collective": {"op@group": {part: {link: figures}}}}}, of the analysis of a cluster also
{kind: {step: {"op@group": {rank: …}}}}: what a key says is seen from the key itself.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from backends.timeline.tables.sheet_making import Making
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIME, BANDWIDTH = "Communication Time Info", "Communication Bandwidth Info"
TABLES: dict[str, tuple[str, ...]] = {
    "communication.json": (TIME, BANDWIDTH),
    "communication_matrix.json": ("",),
    "cluster_communication.json": (TIME, BANDWIDTH),
    "cluster_communication_matrix.json": ("",),
    "communication_group.json": ("",),
}
LARGEST = 64 << 20
DEEPEST = 12
MOST_COLUMNS = 200
BATCH = 1 << 11
_KINDS = ("p2p", "collective", "total")
_LINK, _STEP = re.compile(r"\d+-\d+"), re.compile(r"step\s*\d*", re.I)

Row = dict[str, str]


def tables_of(path: Path) -> tuple[str, ...]:
    """Raises OSError."""
    return TABLES.get(path.name, ()) if path.stat().st_size > len("{}") else ()


def read_json(path: Path, table: str, most: int) -> Making:
    """Raises StudioError where it is too large or no whole JSON, and OSError."""
    rows = _all_rows(path, table)
    columns = list(dict.fromkeys(column for row in rows for column in row))[:MOST_COLUMNS]
    making = Making(columns, most)
    for begin in range(0, len(rows), BATCH):
        some = rows[begin : begin + BATCH]
        making.add([[row.get(column, "") for row in some] for column in columns])
        if making.is_full:
            break
    making.total = len(rows)
    return making


def _all_rows(path: Path, table: str) -> list[Row]:
    """Figures stay as the file writes them."""
    if path.stat().st_size > LARGEST:
        raise StudioError("timeline.tables_pane.too_large", place=str(path), size=LARGEST >> 20)
    text = path.read_bytes().decode("utf-8-sig", "replace")
    try:
        return list(_rows(json.loads(text, parse_float=str, parse_int=str, parse_constant=str), table))
    except (ValueError, RecursionError) as error:
        raise StudioError("timeline.tables_pane.no_json", place=str(path), reason=str(error)) from error


def _rows(given: object, table: str) -> Iterator[Row]:
    for keys, record in _records(given, (), table):
        if table == BANDWIDTH:
            for link, figures in _items(record.get(table)):
                yield _keyed(keys) | {"Link": link} | _figures(figures)
        else:
            yield _keyed(keys) | _figures(record.get(table) if table else record)


def _records(node: object, keys: tuple[str, ...], table: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The dictionaries that hold figures, and the keys that lead to them."""
    if isinstance(node, list):
        for one in node:
            yield from _records(one if isinstance(one, dict) else {"Ranks": one}, keys, table)
    elif isinstance(node, dict):
        is_last = table in node if table else not all(isinstance(one, (dict, list)) for one in node.values())
        if is_last or (not table and "Ranks" in node):
            yield keys, node
        elif len(keys) < DEEPEST:
            for key, one in node.items():
                yield from _records(one, (*keys, key), table)


def _keyed(keys: tuple[str, ...]) -> Row:
    row: Row = {}
    for key in keys:
        named = _named(key)
        row |= {f"Key {len(row) + 1}": key} if named.keys() & row.keys() else named
    return row


def _named(key: str) -> Row:
    operation, at, group = key.partition("@")
    if at:
        return {"Operation": operation, "Group": group}
    if key in _KINDS:
        return {"Kind": key}
    if _STEP.fullmatch(key):
        return {"Step": key}
    if _LINK.fullmatch(key):
        return {"Link": key}
    return {"Rank" if key.isdecimal() else "Operation": key}


def _items(given: object) -> Iterator[tuple[str, object]]:
    if isinstance(given, dict):
        yield from given.items()


def _figures(given: object) -> Row:
    return {name: _text(value) for name, value in _items(given)}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)
