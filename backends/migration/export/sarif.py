"""SARIF 2.1.0 (docs.oasis-open.org/sarif), for code hosts and editors that show findings of any tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

import studio
from backends.migration.scan.baseline import Since
from backends.migration.scan.facts.rules import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.export.report import Report
    from backends.migration.found import Found

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"auto": "none", "edit": "warning", "manual": "warning", "none": "error", "unverified": "note"}
NOTHING = Since(new=(), done=(), still=0)


def write(report: Report) -> bytes:
    rules = {one.rule: one for one in (*_done(report), *report.found)}
    places = {rule: index for index, rule in enumerate(sorted(rules))}
    run = {
        "tool": {"driver": {
            "name": "Ascend Training Studio", "version": studio.__version__,
            "rules": [_rule(report, rules[rule]) for rule in places],
        }},
        "language": {"en": "en-US", "zh": "zh-CN"}[report.language],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"PROJECT": {"description": {"text": report.say("migration.report.project")}}},
        "invocations": [{
            "executionSuccessful": True,
            "toolExecutionNotifications": [_notification(report, index) for index in range(len(report.overview.notes))],
        }],
        "results": list(_results(report, places)),
    }  # fmt: skip
    return msgspec.json.format(msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})) + b"\n"


def _done(report: Report) -> tuple[Found, ...]:
    return (report.overview.since or NOTHING).done


def _rule(report: Report, one: Found) -> dict[str, Any]:
    about = {
        "id": one.rule,
        "shortDescription": {"text": report.title(one)},
        "fullDescription": {"text": report.why(one)},
        "help": {"text": report.todo(one)},
    }
    link = source(one.rule)
    return {**about, "helpUri": link} if link else about


def _notification(report: Report, index: int) -> dict[str, Any]:
    note = report.overview.notes[index]
    return {
        "level": "note",
        "message": {"text": report.say(note.key, **note.args)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(note.path)}}],
    }


def _results(report: Report, places: dict[str, int]) -> Iterator[dict[str, Any]]:
    since = report.overview.since
    new = set(since.new) if since else set()
    for one, mark in zip(report.found, report.marks, strict=True):
        made = _result(report, one, places) | {"partialFingerprints": {"ascendStudio/v1": mark}}
        if since:
            made["baselineState"] = "new" if mark in new else "unchanged"
        if mark in report.overview.suppressed:
            made["suppressions"] = [{"kind": "external", "justification": report.overview.suppressed[mark]}]
        yield made
    for one in _done(report):
        yield _result(report, one, places) | {"baselineState": "absent"}


def _result(report: Report, one: Found, places: dict[str, int]) -> dict[str, Any]:
    is_silent = one.kind == "place" and one.state == "auto"
    return {
        "ruleId": one.rule,
        "ruleIndex": places[one.rule],
        "kind": "informational" if is_silent else "fail",
        "level": "none" if is_silent else "note" if one.kind == "advice" else LEVELS[one.state],
        "message": {"text": f"{report.title(one)} {report.todo(one)}".strip()},
        "locations": [_location(one)],
        "properties": {
            "kind": one.kind, "category": one.category, "state": one.state, "effort": one.effort,
            "confidence": one.confidence, "support": one.support, "mindspore": one.mindspore,
        },
    }  # fmt: skip


def _location(one: Found) -> dict[str, Any]:
    """A cell of a notebook has lines of its own, which no line of the file is."""
    if one.cell is not None:
        where = {
            "name": f"cell {one.cell}",
            "fullyQualifiedName": f"cells/{one.cell}/line/{one.line}",
            "kind": "element",
        }
        return {"physicalLocation": {"artifactLocation": _artifact(one.path)}, "logicalLocations": [where]}
    region = {
        "startLine": one.line, "startColumn": one.column + 1, "endLine": one.end,
        "endColumn": one.end_column + 1, "snippet": {"text": one.text},
    }  # fmt: skip
    if (one.end, one.end_column) <= (one.line, one.column):
        del region["endColumn"], region["startColumn"]
    return {"physicalLocation": {"artifactLocation": _artifact(one.path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path), "uriBaseId": "PROJECT"}
