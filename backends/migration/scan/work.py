"""The work of a scan run: artifacts/findings.json, artifacts/overview.json, and the requested report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.baseline import changes_since, read_findings
from backends.migration.scan.facts.facts import facts_of_project
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.overview import ApiUse, count_unanswered, make_overview
from backends.migration.scan.project_scan import survey_project
from backends.migration.scan.spec import folder_of, format_of
from backends.migration.scan.suppressions import read_suppressions
from studio import files, texts
from studio.errors import Stopped, from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.exit_codes import NO, STOPPED
from studio.progress import ThrottledProgress
from studio.supervisor import is_stop_requested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.finding import ScanFinding
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.overview import Overview
    from backends.migration.scan.spec import ScanSpec
    from studio.run import Run


FINDINGS = "artifacts/findings.json"
OVERVIEW = "artifacts/overview.json"
MAX_WORKERS = 4


def scan(spec: ScanSpec, run: Run) -> Ended:
    journal = Journal(run.folder, 1)
    try:
        findings, overview = run_scan(spec, ThrottledProgress(journal))
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    write_results(spec, run, journal, findings, overview)
    journal.write(Note(key="migration.scan.done", args=_finding_counts(overview)))
    if unanswered := count_unanswered(overview.apis):
        journal.write(Note(key="migration.scan.apis", args={"count": unanswered, "total": len(overview.apis)}))
    return Ended(code=NO, reason="no") if is_refused(spec.output.fail_on, findings, overview) else Ended(code=0)


def run_scan(spec: ScanSpec, progress: ThrottledProgress) -> tuple[tuple[ScanFinding, ...], Overview]:
    """Raises Stopped, and StudioError where the baseline cannot be read."""
    path, folder = spec.scanned.path, folder_of(spec.scanned.path)
    baseline = read_findings(spec.output.baseline) if spec.output.baseline != Path() else None
    facts = facts_of(spec)
    surveyed = survey_project(
        path, facts, max_workers=_max_workers(spec.speed.jobs), progress=progress.report, is_stopped=is_stop_requested
    )
    overview = make_overview(folder, surveyed, facts, read_suppressions(folder))
    return surveyed.findings, overview if baseline is None else _with_changes(overview, baseline, surveyed.findings)


def facts_of(spec: ScanSpec) -> Facts:
    against = spec.against
    return facts_of_project(folder_of(spec.scanned.path), against.interpreter, against.torch_version)


def _with_changes(overview: Overview, baseline: tuple[ScanFinding, ...], findings: tuple[ScanFinding, ...]) -> Overview:
    return msgspec.structs.replace(overview, since=changes_since(baseline, findings))


def _max_workers(jobs: int | None) -> int:
    return jobs or max(1, min(MAX_WORKERS, len(os.sched_getaffinity(0))))


def write_results(
    spec: ScanSpec, run: Run, journal: Journal, findings: tuple[ScanFinding, ...], overview: Overview
) -> None:
    """Raises StudioError; each file is there whole or not at all."""
    from backends.migration.certify.standing import certificate_of_project
    from backends.migration.export.report import findings_json, render_report

    written = {
        run.folder / FINDINGS: findings_json(findings),
        run.folder / OVERVIEW: msgspec.json.encode(overview) + b"\n",
    }
    if spec.output.out != Path():
        language = spec.output.report_language
        chosen = texts.system_language() if language == "system" else language
        written[spec.output.out] = render_report(
            findings, overview, format_of(spec.output), chosen, certificate_of_project(spec.scanned.path, run)
        )
    for path, data in written.items():
        try:
            files.write_whole(path, data)
        except OSError as error:
            raise from_os(error, path) from error
    journal.write(Artifact(kind="findings", path=FINDINGS), Artifact(kind="overview", path=OVERVIEW))


def _finding_counts(overview: Overview) -> dict[str, Any]:
    counts = overview.places
    return {
        "auto": counts["auto"], "total": sum(counts.values()), "edit": counts["edit"], "manual": counts["manual"],
        "none": counts["none"], "unverified": counts["unverified"],
        "advice": sum(overview.advice.values()), "files": overview.files, "lines": overview.lines,
    }  # fmt: skip


def _api_counts(apis: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many torch APIs are called, and how many of them no table answers for."""
    return {"called": len(apis), "unverified": count_unanswered(msgspec.convert(apis, list[ApiUse]))}


def scan_answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the counts of the overview and where the files are."""
    try:
        overview: Any = msgspec.json.decode(files.read_bytes(run.folder / OVERVIEW))
    except (OSError, msgspec.MsgspecError):
        return {}
    results: dict[str, Any] = {"apis": _api_counts(overview["apis"])}
    names = ("places", "advice", "hours", "files", "lines", "seconds", "facts", "notes")
    results |= {name: overview[name] for name in names} | {"suppressed": len(overview["suppressed"])}
    if overview["since"]:
        results["since"] = {
            "new": len(overview["since"]["new"]), "done": len(overview["since"]["done"]),
            "still": overview["since"]["still"],
        }  # fmt: skip
    return results | {"findings": str(run.folder / FINDINGS)}


FROM_EASY_TO_HARD = ("auto", "edit", "unverified", "manual", "none")


def is_refused(fail_on: str, findings: Sequence[ScanFinding], overview: Overview) -> bool:
    """Whether a finding is in the state `fail_on` or a harder one, and neither suppressed nor in the baseline."""
    if fail_on == "never":
        return False
    states = FROM_EASY_TO_HARD[FROM_EASY_TO_HARD.index(fail_on) :]
    new = None if overview.since is None else set(overview.since.new)
    return any(
        finding.is_counted
        and finding.state in states
        and mark not in overview.suppressed
        and (new is None or mark in new)
        for finding, mark in zip(findings, fingerprints(findings), strict=True)
    )
