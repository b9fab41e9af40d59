"""CSV for a spreadsheet: UTF-8 with a mark, no cell that a spreadsheet would calculate."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.export.report import Report

HEAD = (
    "kind", "path", "cell", "line", "end", "category", "rule", "state", "effort", "confidence", "name", "text",
    "title", "todo", "a2", "a3", "a950", "mindspore", "suppressed", "fingerprint",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write(report: Report) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEAD)
    writer.writerows(safe(row) for row in _rows(report))
    return text.getvalue().encode("utf-8-sig", "replace")


def safe(row: tuple[object, ...]) -> tuple[object, ...]:
    """A text that begins as a formula does is shown, not calculated: OWASP's rule, an apostrophe before it."""
    return tuple(
        "'" + cell if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA) else cell for cell in row
    )


def _rows(report: Report) -> Iterator[tuple[object, ...]]:
    for one, mark in zip(report.found, report.marks, strict=True):
        yield (
            one.kind, one.path, "" if one.cell is None else one.cell, one.line, one.end, one.category, one.rule,
            one.state, one.effort, one.confidence, one.name, one.text.replace("\0", ""), report.title(one),
            report.todo(one), *(one.support.get(which, "") for which in ("a2", "a3", "a950")), one.mindspore,
            report.overview.suppressed.get(mark, ""), mark,
        )  # fmt: skip
