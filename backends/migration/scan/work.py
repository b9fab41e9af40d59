"""A scan, in the worker: artifacts/findings.json, artifacts/overview.json, and the report that was asked for."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.baseline import read_findings, since
from backends.migration.scan.facts.facts import facts_in
from backends.migration.scan.overview import overview_of
from backends.migration.scan.scan import Stopped, survey
from backends.migration.scan.spec import format_of
from backends.migration.scan.suppress import suppressed
from backends.migration.scan.verdict import refused
from studio import files, texts
from studio.errors import from_os
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.overview import Overview
    from backends.migration.scan.spec import ScanSpec
    from studio.run import Run

FINDINGS = "artifacts/findings.json"
OVERVIEW = "artifacts/overview.json"
MOST_HANDS = 4
NO = 3  # done, and the answer is no
BETWEEN = 0.2
"""Seconds between two events of progress."""


def scan(spec: ScanSpec, run: Run) -> Ended:
    journal = Journal(run.folder, 1)
    try:
        found, overview = answered(spec, _Told(journal))
    except Stopped:
        return Ended(code=128 + signal.SIGTERM, reason="stopped")
    keep(spec, run, journal, found, overview)
    journal.write(Note(key="migration.scan.done", args=_figures(overview)))
    return Ended(code=NO, reason="no") if refused(spec.output.fail_on, found, overview) else Ended(code=0)


def answered(spec: ScanSpec, told: _Told) -> tuple[tuple[Found, ...], Overview]:
    """Raises Stopped, and StudioError where the baseline cannot be read."""
    folder = spec.scanned.path
    before = read_findings(spec.output.baseline) if spec.output.baseline != Path() else None
    facts = facts_of(spec)
    done = survey(folder, facts, hands=_hands(spec.speed.jobs), progress=told.progress, stopped=told.stopped)
    overview = overview_of(folder, done, facts, suppressed(folder))
    return done.found, overview if before is None else _beside(overview, before, done.found)


def facts_of(spec: ScanSpec) -> Facts:
    against = spec.against
    return facts_in(spec.scanned.path, against.interpreter, against.torch_version)


def _beside(overview: Overview, before: tuple[Found, ...], found: tuple[Found, ...]) -> Overview:
    return msgspec.structs.replace(overview, since=since(before, found))


def _hands(asked: int | None) -> int:
    return asked or max(1, min(MOST_HANDS, len(os.sched_getaffinity(0))))


class _Told:
    """What the scan tells the run, now and then, and is told by it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._last = 0.0

    def progress(self, done: int, total: int, phase: str) -> None:
        if done == total or time.monotonic() - self._last > BETWEEN:
            self._last = time.monotonic()
            with suppress(OSError):
                self._journal.write(Progress(done=done, total=total, phase=phase))

    def stopped(self) -> bool:
        return bool(STOP.asked)


def keep(spec: ScanSpec, run: Run, journal: Journal, found: tuple[Found, ...], overview: Overview) -> None:
    """Raises StudioError; each file is there whole or not at all."""
    from backends.migration.export.report import as_json, report

    written = {run.folder / FINDINGS: as_json(found), run.folder / OVERVIEW: msgspec.json.encode(overview) + b"\n"}
    if spec.output.out != Path():
        language = spec.output.report_language
        chosen = texts.system_language() if language == "system" else language
        written[spec.output.out] = report(found, overview, format_of(spec.output), chosen)
    for path, data in written.items():
        try:
            files.write_whole(path, data)
        except OSError as error:
            raise from_os(error, path) from error
    journal.write(Artifact(kind="findings", path=FINDINGS), Artifact(kind="overview", path=OVERVIEW))


def _figures(overview: Overview) -> dict[str, Any]:
    counts = overview.places
    return {
        "auto": counts["auto"], "total": sum(counts.values()), "edit": counts["edit"], "manual": counts["manual"],
        "none": counts["none"], "unverified": counts["unverified"], "files": overview.files, "lines": overview.lines,
    }  # fmt: skip


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the counts of the overview and where the files are."""
    try:
        overview: Any = msgspec.json.decode((run.folder / OVERVIEW).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return {}
    wanted = ("places", "advice", "hours", "files", "lines", "seconds", "facts", "notes")
    answers = {name: overview[name] for name in wanted} | {"suppressed": len(overview["suppressed"])}
    if overview["since"]:
        answers["since"] = {
            "new": len(overview["since"]["new"]), "done": len(overview["since"]["done"]),
            "still": overview["since"]["still"],
        }  # fmt: skip
    return answers | {"findings": str(run.folder / FINDINGS)}
