"""communication.json and similar files as rows: their keys become columns, their innermost dictionaries become figures.

{step: {"p2p" | "collective": {"op@group": {part: {link: figures}}}}}; in the analysis of a cluster also {kind: {step:
{"op@group": {rank: …}}}}. The meaning of a level shows in its keys.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from backends.timeline.tables.sheet_builder import SheetBuilder
from studio import files
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
LARGEST_JSON = 64 << 20
DEEPEST = 12
MAX_JSON_COLUMNS = 200
ROWS_AT_ONCE = 1 << 11
_KINDS = ("p2p", "collective", "total")
_LINK, _STEP = re.compile(r"\d+-\d+"), re.compile(r"step\s*\d*", re.I)

JsonRow = dict[str, str]


def json_tables(path: Path) -> tuple[str, ...]:
    """Return the parts that have rows. Raises OSError."""
    return TABLES.get(path.name, ()) if path.stat().st_size > len("{}") else ()


def read_json_sheet(path: Path, table: str, max_rows: int) -> SheetBuilder:
    """Read a part of a file. Raises StudioError where it is too large or not complete JSON, and OSError."""
    rows = _all_rows(path, table)
    columns = list(dict.fromkeys(column for row in rows for column in row))[:MAX_JSON_COLUMNS]
    making = SheetBuilder(columns, max_rows)
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[begin : begin + ROWS_AT_ONCE]
        making.add([[row.get(column, "") for row in some] for column in columns])
        if making.is_full:
            break
    making.total = len(rows)
    return making


def _all_rows(path: Path, table: str) -> list[JsonRow]:
    """Read all rows; figures stay as the file writes them."""
    if path.stat().st_size > LARGEST_JSON:
        raise StudioError("timeline.tables_pane.too_large", place=str(path), size=LARGEST_JSON >> 20)
    text = files.read_bytes(path).decode("utf-8-sig", "replace")
    try:
        return list(_rows(json.loads(text, parse_float=str, parse_int=str, parse_constant=str), table))
    except (ValueError, RecursionError) as error:
        raise StudioError("timeline.tables_pane.no_json", place=str(path), reason=str(error)) from error


def _rows(data: object, table: str) -> Iterator[JsonRow]:
    for keys, record in _records(data, (), table):
        if table == BANDWIDTH:
            for link, figures in _items(record.get(table)):
                yield _keyed(keys) | {"Link": link} | _figures(figures)
        else:
            yield _keyed(keys) | _figures(record.get(table) if table else record)


def _records(node: object, keys: tuple[str, ...], table: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the dictionaries that hold figures, with the keys that lead to them."""
    if isinstance(node, list):
        for child in node:
            yield from _records(child if isinstance(child, dict) else {"Ranks": child}, keys, table)
    elif isinstance(node, dict):
        is_last = table in node if table else not all(isinstance(child, (dict, list)) for child in node.values())
        if is_last or (not table and "Ranks" in node):
            yield keys, node
        elif len(keys) < DEEPEST:
            for key, child in node.items():
                yield from _records(child, (*keys, key), table)


def _keyed(keys: tuple[str, ...]) -> JsonRow:
    row: JsonRow = {}
    for key in keys:
        named = _named(key)
        row |= {f"Key {len(row) + 1}": key} if named.keys() & row.keys() else named
    return row


def _named(key: str) -> JsonRow:
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


def _items(node: object) -> Iterator[tuple[str, object]]:
    if isinstance(node, dict):
        yield from node.items()


def _figures(node: object) -> JsonRow:
    return {name: _text(value) for name, value in _items(node)}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(cell)}" for name, cell in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)
