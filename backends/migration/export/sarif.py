"""Findings as SARIF 2.1.0 (docs.oasis-open.org/sarif), which code hosts and editors read from any tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

import studio
from backends.migration.export.certificate_section import certificate_properties
from backends.migration.scan.baseline import BaselineChanges
from backends.migration.scan.facts.rules import rule_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.export.report import Report
    from backends.migration.finding import ScanFinding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"auto": "none", "edit": "warning", "manual": "warning", "none": "error", "unverified": "note"}
NO_CHANGES = BaselineChanges(new=(), done=(), still=0)


def render_sarif(report: Report) -> bytes:
    """Return the bytes of the SARIF file."""
    rules = {finding.rule: finding for finding in (*_resolved_findings(report), *report.findings)}
    places = {rule: index for index, rule in enumerate(sorted(rules))}
    run = {
        "tool": {
            "driver": {
                "name": "Ascend Training Studio",
                "version": studio.__version__,
                "rules": [_rule(report, rules[rule]) for rule in places],
            }
        },
        "language": {"en": "en-US", "zh": "zh-CN"}[report.language],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"PROJECT": {"description": {"text": report.text("migration.report.project")}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    _notification(report, index) for index in range(len(report.overview.notes))
                ],
            }
        ],
        "results": list(_results(report, places)),
        "properties": certificate_properties(report),
    }
    return msgspec.json.format(msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})) + b"\n"


def _resolved_findings(report: Report) -> tuple[ScanFinding, ...]:
    return (report.overview.since or NO_CHANGES).done


def _rule(report: Report, finding: ScanFinding) -> dict[str, Any]:
    about = {
        "id": finding.rule,
        "shortDescription": {"text": report.title(finding)},
        "fullDescription": {"text": report.why(finding)},
        "help": {"text": report.todo(finding)},
    }
    link = rule_source(finding.rule)
    return {**about, "helpUri": link} if link else about


def _notification(report: Report, index: int) -> dict[str, Any]:
    note = report.overview.notes[index]
    return {
        "level": "note",
        "message": {"text": report.text(note.key, **note.args)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(note.path)}}],
    }


def _results(report: Report, places: dict[str, int]) -> Iterator[dict[str, Any]]:
    since = report.overview.since
    new = set(since.new) if since else set()
    for finding, mark in zip(report.findings, report.marks, strict=True):
        sarif_result = _result(report, finding, places) | {"partialFingerprints": {"ascendStudio/v1": mark}}
        if since:
            sarif_result["baselineState"] = "new" if mark in new else "unchanged"
        if mark in report.overview.suppressed:
            sarif_result["suppressions"] = [{"kind": "external", "justification": report.overview.suppressed[mark]}]
        yield sarif_result
    for finding in _resolved_findings(report):
        yield _result(report, finding, places) | {"baselineState": "absent"}


def _result(report: Report, finding: ScanFinding, places: dict[str, int]) -> dict[str, Any]:
    is_silent = finding.is_counted and finding.state == "auto"
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "kind": "informational" if is_silent else "fail",
        "level": "none" if is_silent else "note" if finding.kind == "advice" else LEVELS[finding.state],
        "message": {"text": f"{report.title(finding)} {report.todo(finding)}".strip()},
        "locations": [_location(finding)],
        "properties": {
            "kind": finding.kind,
            "category": finding.category,
            "state": finding.state,
            "effort": finding.effort,
            "confidence": finding.confidence,
            "support": finding.support,
            "mindspore": finding.mindspore,
        },
    }


def _location(finding: ScanFinding) -> dict[str, Any]:
    """Describe where a finding is; a notebook cell has line numbers of its own, so it gets a logical location."""
    if finding.cell is not None:
        where = {
            "name": f"cell {finding.cell}",
            "fullyQualifiedName": f"cells/{finding.cell}/line/{finding.line}",
            "kind": "element",
        }
        return {"physicalLocation": {"artifactLocation": _artifact(finding.path)}, "logicalLocations": [where]}
    region = {
        "startLine": finding.line,
        "startColumn": finding.column + 1,
        "endLine": finding.end,
        "endColumn": finding.end_column + 1,
        "snippet": {"text": finding.text},
    }
    if (finding.end, finding.end_column) <= (finding.line, finding.column):
        del region["endColumn"], region["startColumn"]
    return {"physicalLocation": {"artifactLocation": _artifact(finding.path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path), "uriBaseId": "PROJECT"}
