"""What the official tool wrote, beside our findings."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.read import Unread, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backends.migration.found import Found

TABLES = ("unsupported_api", "unknown_api", "api_precision_advice", "api_performance_advice")
LARGEST = 64_000_000
LONGEST = 500


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row of its tables. `path`: relative to the project; `rules`: of our findings on these lines."""

    table: str
    path: str
    line: int
    end: int
    name: str
    tips: str
    rules: tuple[str, ...] = ()


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """`both`: rows on whose lines we found something; `theirs`: rows on whose lines we did not; `ours`: places that it
    says nothing about. Its mode asks which torch APIs are unsupported, not what must change."""

    version: str
    rows: tuple[Row, ...]
    both: int
    theirs: int
    ours: int


def read_rows(out: Path, project: Path) -> tuple[Row, ...]:
    """Of all its tables below a folder; what is damaged is left out."""
    found: list[Row] = []
    for table in TABLES:
        for path in sorted(out.rglob(f"{table}.csv")):
            with suppress(Unread):
                found += _rows(table, decode(read_bytes(path, LARGEST)).text, project)
    return tuple(sorted(found, key=lambda row: (row.path, row.line, row.table, row.name)))


def _rows(table: str, text: str, project: Path) -> Iterator[Row]:
    """Columns: File, Start Line, End Line, OP, Tips; advice about the whole project has "NA" for a file."""
    with suppress(csv.Error):
        for row in csv.DictReader(io.StringIO(text, newline="")):
            begin, end = _number(row.get("Start Line")), _number(row.get("End Line"))
            if row.get("File", "NA") not in (None, "", "NA") and begin:
                name, tips = str(row.get("OP") or "")[:LONGEST], str(row.get("Tips") or "")[:LONGEST]
                path = _relative(row["File"], project)
                yield Row(table=table, path=path, line=begin, end=max(begin, end), name=name, tips=tips)


def _number(text: object) -> int:
    word = str(text or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 9 else 0


def _relative(file: str, project: Path) -> str:
    path = PurePosixPath(file)
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)


def compared(rows: Iterable[Row], found: Sequence[Found], version: str) -> Opinion:
    by_line: dict[tuple[str, int], set[str]] = {}
    for one in found:
        for line in range(one.line, one.end + 1) if one.cell is None else ():
            by_line.setdefault((one.path, line), set()).add(one.rule)
    matched = tuple(msgspec.structs.replace(row, rules=_rules(row, by_line)) for row in rows)
    said = {(row.path, line) for row in matched for line in _lines(row)}
    silent = [one for one in found if one.kind == "place" and not _is_said(one, said)]
    agreed = sum(bool(row.rules) for row in matched)
    return Opinion(version=version, rows=matched, both=agreed, theirs=len(matched) - agreed, ours=len(silent))


def _rules(row: Row, by_line: dict[tuple[str, int], set[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*(by_line.get((row.path, line), set()) for line in _lines(row)))))


def _lines(row: Row) -> range:
    return range(row.line, min(row.end, row.line + LONGEST) + 1)


def _is_said(one: Found, said: set[tuple[str, int]]) -> bool:
    """It reads no notebooks."""
    return one.cell is None and any((one.path, line) in said for line in range(one.line, one.end + 1))
