"""A scan as a report in one of four formats and one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.fingerprint import fingerprints
from studio import texts

if TYPE_CHECKING:
    from backends.migration.certify.standing import StandingCertificate
    from backends.migration.finding import ScanFinding
    from backends.migration.scan.overview import Overview


@dataclass(frozen=True, kw_only=True)
class Report:
    """What every format is rendered from. `marks`: the fingerprint of each finding; `certificate`: of the project,
    where there is one."""

    findings: tuple[ScanFinding, ...]
    marks: tuple[str, ...]
    overview: Overview
    language: texts.Language
    certificate: StandingCertificate | None = None

    def text(self, key: str, /, **args: object) -> str:
        return texts.t_in(self.language, key, **args)

    def title(self, finding: ScanFinding) -> str:
        return texts.t_in(self.language, f"rule.{finding.rule}.title", **rule_arguments(finding))

    def why(self, finding: ScanFinding) -> str:
        return texts.t_in(self.language, f"rule.{finding.rule}.why", **rule_arguments(finding))

    def todo(self, finding: ScanFinding) -> str:
        return texts.t_in(self.language, f"rule.{finding.rule}.todo", **rule_arguments(finding))


def rule_arguments(finding: ScanFinding) -> dict[str, object]:
    """Return the values that the sentences of a finding's rule may name."""
    return {"name": finding.name, "text": finding.text, **finding.args}


def render_report(
    findings: tuple[ScanFinding, ...],
    overview: Overview,
    format: str,
    language: texts.Language,
    certificate: StandingCertificate | None = None,
) -> bytes:
    """Return the bytes of the whole file. `format`: one of `backends.migration.scan.spec.FORMATS`."""
    if format == "json":
        return findings_json(findings)
    from backends.migration.export import csv_table, html_report, sarif

    whole = Report(
        findings=findings,
        marks=fingerprints(findings),
        overview=overview,
        language=language,
        certificate=certificate,
    )
    writers = {"csv": csv_table.render_csv, "sarif": sarif.render_sarif, "html": html_report.render_html}
    return writers[format](whole)


def findings_json(findings: tuple[ScanFinding, ...]) -> bytes:
    """Return findings.json: one finding per line, so that two files can be compared as text."""
    encoder = msgspec.json.Encoder()
    return b"[\n" + b",\n".join(map(encoder.encode, findings)) + b"\n]\n" if findings else b"[]\n"
