"""What the runs of a project left for this page: read off the UI thread, as findings.json may hold many thousands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from backends.migration.certify import certificate
from backends.migration.found import STATES
from backends.migration.official.rows import Opinion
from backends.migration.scan.baseline import read_findings, since
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.overview import Overview
from backends.migration.scan.suppress import suppressed
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.migration.certify.certificate import Certificate
    from backends.migration.found import Found, State
    from backends.migration.scan.spec import ScanSpec
    from studio.run import Glance, Run

FINDINGS, OVERVIEW = "artifacts/findings.json", "artifacts/overview.json"
OPINION = "artifacts/second-opinion.json"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """`marks`: the fingerprint of each finding; `reasons`: of those that somebody decided to leave; `new`: those that
    the scan before did not have, `done` how many of its findings are gone; None without a scan before."""

    run: Path
    findings: tuple[Found, ...]
    marks: tuple[str, ...]
    reasons: dict[str, str] = field(default_factory=dict)
    overview: Overview | None = None
    new: int | None = None
    done: int | None = None

    def left(self) -> set[int]:
        """The `id` of each finding that somebody decided to leave."""
        pairs = zip(self.findings, self.marks, strict=True)
        return {id(found) for found, mark in pairs if mark in self.reasons}

    def counted(self) -> tuple[Found, ...]:
        """Without those that are left."""
        pairs = zip(self.findings, self.marks, strict=True)
        return tuple(found for found, mark in pairs if mark not in self.reasons)

    def mark_of(self, found: Found) -> str:
        return next(mark for one, mark in zip(self.findings, self.marks, strict=True) if one is found)


def read_scan(project: Path, run: Path, before: Path | None) -> Scan | StudioError:
    """`before`: the run of an earlier scan of the same project."""
    try:
        findings = read_findings(run / FINDINGS)
    except StudioError as error:
        return error
    made = Scan(
        run=run, findings=findings, marks=fingerprints(findings), reasons=suppressed(project),
        overview=read_overview(run),
    )  # fmt: skip
    try:
        earlier = read_findings(before / FINDINGS) if before else None
    except StudioError:
        earlier = None
    if earlier is None:
        return made
    changed = since(earlier, findings)
    return replace(made, new=len(changed.new), done=len(changed.done))


def read_overview(run: Path) -> Overview | None:
    """None where it is missing, damaged or of a newer studio: the findings are shown without it."""
    try:
        return msgspec.json.decode((run / OVERVIEW).read_bytes(), type=Overview)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def scan_again(project: Path, spec: ScanSpec, last: Scan) -> Scan | StudioError:
    """After a file was saved: only what changed is read anew. Beside the scan that is in the run."""
    if not project.is_dir():
        return gone(project)
    from backends.migration.scan.overview import overview_of
    from backends.migration.scan.scan import survey
    from backends.migration.scan.work import facts_of

    facts, reasons = facts_of(spec), suppressed(project)
    done = survey(project, facts)
    made = Scan(
        run=last.run, findings=done.found, marks=fingerprints(done.found), reasons=reasons,
        overview=overview_of(project, done, facts, reasons),
    )  # fmt: skip
    try:
        changed = since(read_findings(last.run / FINDINGS), done.found)
    except StudioError:
        return made
    return replace(made, new=len(changed.new), done=len(changed.done))


def gone(project: Path) -> StudioError:
    """Its folder is not there any more: without saying so, a scan of it would find nothing to do."""
    return StudioError("migration.rule.no_folder", path=str(project))


def counts_of(findings: Iterable[Found]) -> dict[State, int]:
    """Of places; advice is not among them."""
    counts = dict.fromkeys(STATES, 0)
    for found in findings:
        if found.kind == "place":
            counts[found.state] += 1
    return counts


def newest(listed: list[tuple[Run, Glance]], commands: Iterable[str]) -> tuple[Run, Glance] | None:
    wanted = tuple(commands)
    return next(((run, glance) for run, glance in listed if run.asked.command in wanted), None)


def read_proof(runs: list[Run]) -> Certificate | None:
    """Of the first of them."""
    return next((certificate.read(run.folder) for run in runs), None)


def read_opinion(runs: list[Run]) -> Opinion | None:
    """Of the first of them; None where it is missing or damaged."""
    try:
        return msgspec.json.decode((runs[0].folder / OPINION).read_bytes(), type=Opinion) if runs else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def last_line(listed: list[tuple[Run, Glance]]) -> tuple[str, ...]:
    """What was run last behind `--`, the certificates' own first; empty where nothing was."""
    mine = [run for run, _ in listed if run.asked.command == "certify"]
    lines = (_line_of(run) for run in (*mine, *(run for run, _ in listed)))
    return next((line for line in lines if line), ())


def _line_of(run: Run) -> tuple[str, ...]:
    cards = [card for card in run.asked.values.values() if isinstance(card, dict)]
    found: list[object] = next((card["line"] for card in cards if isinstance(card.get("line"), list)), [])
    return tuple(map(str, found))
