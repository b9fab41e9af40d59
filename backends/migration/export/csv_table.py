"""Findings as CSV for a spreadsheet: UTF-8 with a byte order mark, and no cell that would be evaluated as a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from studio.output.spreadsheet import safe_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.export.report import Report

HEAD = (
    "kind", "path", "cell", "line", "end", "category", "rule", "state", "effort", "confidence", "name", "text",
    "title", "todo", "a2", "a3", "a950", "mindspore", "suppressed", "fingerprint",
)  # fmt: skip


def render_csv(report: Report) -> bytes:
    """Return the bytes of the CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEAD)
    writer.writerows(map(safe_row, _rows(report)))
    return text.getvalue().encode("utf-8-sig", "replace")


def _rows(report: Report) -> Iterator[tuple[object, ...]]:
    for finding, mark in zip(report.findings, report.marks, strict=True):
        yield (
            finding.kind,
            finding.path,
            "" if finding.cell is None else finding.cell,
            finding.line,
            finding.end,
            finding.category,
            finding.rule,
            finding.state,
            finding.effort,
            finding.confidence,
            finding.name,
            finding.text,
            report.title(finding),
            report.todo(finding),
            *(finding.support.get(hardware, "") for hardware in ("a2", "a3", "a950")),
            finding.mindspore,
            report.overview.suppressed.get(mark, ""),
            mark,
        )
