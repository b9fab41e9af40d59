"""The certificate in a report: its state, what was proven, refused, not run, and what only a card can show."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from backends.common.page import escaped, row, section, tag
from backends.migration.certify.certificate import CHECK_TITLES
from backends.migration.certify.check_groups import GROUP_TEXTS, grouped_checks
from backends.migration.certify.standing import STANDING_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.certificate import Check
    from backends.migration.export.report import Report


def certificate_html(report: Report) -> Iterator[str]:
    """Yield the parts of the page; none without a certificate."""
    standing = report.certificate
    if standing is None:
        return
    certificate = standing.certificate
    yield tag("h2", report.text("migration.proof.checks"))
    yield tag("p", f"{report.text(STANDING_TEXTS[standing.standing])}: {shlex.join(certificate.line)}", "verdict")
    if standing.stale:
        yield tag("p", report.text("migration.proof.stale_file", path=standing.stale))
    for folder in certificate.folders:
        yield tag("p", f"{folder.path} · {folder.digest}", "dim")
    heads = [report.text("migration.proof.check"), report.text("migration.proof.reason")]
    for state, checks in grouped_checks(certificate.checks):
        rows = [
            row([escaped(report.text(CHECK_TITLES[check.name])), escaped(_reason(report, check))], [])
            for check in checks
        ]
        yield section(report.text(GROUP_TEXTS[state]), heads, rows)
    for key, reasons in (("not_run", certificate.not_run), ("no_card", certificate.unproven)):
        for reason in reasons:
            yield tag("p", f"{report.text(GROUP_TEXTS[key])}: {report.text(reason.key, **reason.args)}", "dim")  # type: ignore[index]


def _reason(report: Report, check: Check) -> str:
    position = f" ({check.path}:{check.line})" if check.path else ""
    return report.text(check.reason.key, **check.reason.args) + position


def certificate_properties(report: Report) -> dict[str, Any]:
    """Return what SARIF holds of the certificate."""
    standing = report.certificate
    if standing is None:
        return {}
    certificate = standing.certificate
    checks = [
        {"name": check.name, "state": check.state, "reason": _reason(report, check)} for check in certificate.checks
    ]
    folders = [{"path": folder.path, "digest": folder.digest} for folder in certificate.folders]
    return {"certificate": {"state": standing.standing, "folders": folders, "checks": checks}}
