"""The official tool's tables, compared with our findings."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backends.migration.finding import ScanFinding

TABLES = ("unsupported_api", "unknown_api", "api_precision_advice", "api_performance_advice")
MAX_TABLE_BYTES = 64_000_000
MAX_TEXT = 500


class OpinionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the tool's tables. `path`: relative to the project; `rules`: the rules of our findings on these
    lines."""

    table: str
    path: str
    line: int
    end: int
    name: str
    tips: str
    rules: tuple[str, ...] = ()


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison. `matched`: rows on whose lines we have a finding; `unmatched`: rows without one; `unmentioned`:
    findings that the tool does not mention. The tool lists unsupported torch APIs, not what has to change."""

    version: str
    rows: tuple[OpinionRow, ...]
    matched: int = msgspec.field(name="both")
    unmatched: int = msgspec.field(name="theirs")
    unmentioned: int = msgspec.field(name="ours")


def read_rows(out: Path, project: Path) -> tuple[OpinionRow, ...]:
    """Read all tables of the tool below a folder; damaged ones are left out."""
    rows: list[OpinionRow] = []
    for table in TABLES:
        for path in sorted(out.rglob(f"{table}.csv")):
            with suppress(UnreadableFile):
                rows += _rows(table, decode_source(read_regular_file(path, MAX_TABLE_BYTES)).text, project)
    return tuple(sorted(rows, key=lambda row: (row.path, row.line, row.table, row.name)))


def _rows(table: str, text: str, project: Path) -> Iterator[OpinionRow]:
    """Yield the rows of one table with the columns File, Start Line, End Line, OP, Tips; advice about the whole
    project has "NA" for a file and is skipped."""
    with suppress(csv.Error):
        for row in csv.DictReader(io.StringIO(text, newline="")):
            begin, end = _number(row.get("Start Line")), _number(row.get("End Line"))
            if row.get("File", "NA") not in (None, "", "NA") and begin:
                name, tips = str(row.get("OP") or "")[:MAX_TEXT], str(row.get("Tips") or "")[:MAX_TEXT]
                path = _relative(row["File"], project)
                yield OpinionRow(table=table, path=path, line=begin, end=max(begin, end), name=name, tips=tips)


def _number(text: object) -> int:
    word = str(text or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 9 else 0


def _relative(file: str, project: Path) -> str:
    path = PurePosixPath(file)
    return str(path.relative_to(project)) if path.is_relative_to(project) else str(path)


def compare_findings(rows: Iterable[OpinionRow], findings: Sequence[ScanFinding], version: str) -> Opinion:
    """Match the tool's rows with our findings by file and line."""
    by_line: dict[tuple[str, int], set[str]] = {}
    for finding in findings:
        for line in range(finding.line, finding.end + 1) if finding.cell is None else ():
            by_line.setdefault((finding.path, line), set()).add(finding.rule)
    compared_rows = tuple(msgspec.structs.replace(row, rules=_rules(row, by_line)) for row in rows)
    mentioned = {(row.path, line) for row in compared_rows for line in _lines(row)}
    places = [finding for finding in findings if finding.is_counted]
    matched = sum(bool(row.rules) for row in compared_rows)
    return Opinion(
        version=version,
        rows=compared_rows,
        matched=matched,
        unmatched=len(compared_rows) - matched,
        unmentioned=sum(not _is_mentioned(finding, mentioned) for finding in places),
    )


def _rules(row: OpinionRow, by_line: dict[tuple[str, int], set[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*(by_line.get((row.path, line), set()) for line in _lines(row)))))


def _lines(row: OpinionRow) -> range:
    return range(row.line, min(row.end, row.line + MAX_TEXT) + 1)


def _is_mentioned(finding: ScanFinding, mentioned: set[tuple[str, int]]) -> bool:
    """Tell whether the tool has a row on the finding's lines; it does not read notebooks."""
    return finding.cell is None and any(
        (finding.path, line) in mentioned for line in range(finding.line, finding.end + 1)
    )
