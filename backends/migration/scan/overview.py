"""The overview of a scan: artifacts/overview.json."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.migration.finding import STATES
from backends.migration.scan.baseline import BaselineChanges  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.file_scan import ScanNote  # noqa: TC001
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.hours import estimate_hours
from backends.migration.scan.project_libraries import ProjectLibrary, project_libraries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backends.migration.finding import ScanFinding
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.file_scan import FileScan
    from backends.migration.scan.project_scan import Survey

MAX_NOTES = 1000


class FileHeat(msgspec.Struct, frozen=True, kw_only=True):
    """A file with findings. `effort`: story points of its findings; `places`: how many that count per state."""

    path: str
    lines: int
    effort: int
    places: dict[str, int]
    advice: int


class ApiUse(msgspec.Struct, frozen=True, kw_only=True):
    """`count`: calls in the whole project. `a2`, `a3`, `a950`: yes, no or unverified. `mindspore`: "" where the
    mapping has no equivalent; `consistent`: whether it says that both do the same."""

    name: str
    count: int
    a2: str
    a3: str
    a950: str
    mindspore: str = ""
    consistent: bool = False


class FactsBasis(msgspec.Struct, frozen=True, kw_only=True):
    """The sentence on the source of the answers: a key of the catalogue and its arguments."""

    key: str
    args: dict[str, str]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """`places` and `advice`: how many per state, without what is suppressed. `hours`: fewest and most, an estimate.
    `facts`: what the answers rest on. `suppressed`: fingerprint -> reason, of findings that are there. `notes_more`:
    how many notes were left out."""

    folder: str
    seconds: float
    files: int
    lines: int
    kinds: dict[str, int]
    places: dict[str, int]
    advice: dict[str, int]
    hours: tuple[float, float]
    heat: tuple[FileHeat, ...]
    libraries: tuple[ProjectLibrary, ...]
    apis: tuple[ApiUse, ...]
    notes: tuple[ScanNote, ...]
    notes_more: int
    facts: FactsBasis
    suppressed: dict[str, str]
    since: BaselineChanges | None = None


def count_by_state(findings: Iterable[ScanFinding], kind: Literal["place", "advice"]) -> dict[str, int]:
    """Count findings by state: all that count for "place", else advice."""
    counts = Counter(finding.state for finding in findings if finding.is_counted == (kind == "place"))
    return {state: counts[state] for state in STATES}


def file_heat(findings: Sequence[ScanFinding], lines: Mapping[str, int]) -> tuple[FileHeat, ...]:
    """The files with findings, those that take most first."""
    by_file: dict[str, list[ScanFinding]] = {}
    for finding in findings:
        by_file.setdefault(finding.path, []).append(finding)
    files = (
        FileHeat(
            path=path,
            lines=lines.get(path, 0),
            effort=sum(finding.effort for finding in file_findings if finding.is_counted),
            places=count_by_state(file_findings, "place"),
            advice=sum(not finding.is_counted for finding in file_findings),
        )
        for path, file_findings in by_file.items()
    )
    return tuple(sorted(files, key=lambda finding: (-finding.effort, -sum(finding.places.values()), finding.path)))


def split_suppressed(
    findings: Sequence[ScanFinding], suppressed: Mapping[str, str]
) -> tuple[tuple[ScanFinding, ...], dict[str, str]]:
    """The findings that count, and fingerprint -> reason of those that do not."""
    prints = fingerprints(findings) if suppressed else ()
    remaining = (
        tuple(finding for finding, fingerprint in zip(findings, prints, strict=True) if fingerprint not in suppressed)
        if prints
        else findings
    )
    return tuple(remaining), {
        fingerprint: suppressed[fingerprint] for fingerprint in prints if fingerprint in suppressed
    }


def count_open_places(findings: Sequence[ScanFinding], suppressed: Mapping[str, str]) -> dict[str, int]:
    """Count by state what counts of a whole scan, without what is suppressed."""
    return count_by_state(split_suppressed(findings, suppressed)[0], "place")


def make_overview(folder: Path, survey: Survey, facts: Facts, suppressed: Mapping[str, str]) -> Overview:
    remaining, hidden = split_suppressed(survey.findings, suppressed)
    lines = {path: scan.lines for path, scan in survey.scans.items()}
    key, args = facts.basis_text
    return Overview(
        folder=visible_path(folder),
        seconds=round(survey.seconds, 3),
        files=len(survey.scans),
        lines=sum(lines.values()),
        kinds=survey.kinds,
        libraries=project_libraries(survey.scans, facts),
        apis=count_apis(survey.scans.values(), facts),
        notes=survey.notes[:MAX_NOTES],
        notes_more=max(0, len(survey.notes) - MAX_NOTES),
        facts=FactsBasis(key=key, args=args),
        suppressed=hidden,
        **finding_figures(remaining, lines),
    )


def finding_figures(findings: Sequence[ScanFinding], lines: Mapping[str, int]) -> dict[str, Any]:
    """The part of an overview that follows from the findings that count. `lines`: of each file."""
    return {
        "places": count_by_state(findings, "place"),
        "advice": count_by_state(findings, "advice"),
        "hours": estimate_hours(findings),
        "heat": file_heat(findings, lines),
    }


def count_apis(scans: Iterable[FileScan], facts: Facts) -> tuple[ApiUse, ...]:
    """Return the torch APIs of the project: those without support first, then by how often they are called."""
    counts: Counter[str] = Counter()
    for scan in scans:
        counts.update(scan.apis)
    uses = (_api_use(name, count, facts) for name, count in counts.items())
    return tuple(sorted(uses, key=lambda use: ("no" not in (use.a2, use.a3), -use.count, use.name)))


def count_unanswered(apis: Iterable[ApiUse]) -> int:
    """Return how many torch APIs of a project no table answers for on A2 or A3: no finding stands for them, so they are
    in no total of findings."""
    return sum("unverified" in (use.a2, use.a3) and "no" not in (use.a2, use.a3) for use in apis)


def _api_use(name: str, count: int, facts: Facts) -> ApiUse:
    support, equivalent = facts.hardware_support(name), facts.mindspore_name(name)
    return ApiUse(
        name=name,
        count=count,
        a2=support["a2"],
        a3=support["a3"],
        a950=support["a950"],
        mindspore=equivalent.removeprefix("~"),
        consistent=bool(equivalent) and not equivalent.startswith("~"),
    )


def visible_path(folder: Path) -> str:
    return os.fsencode(folder).decode("utf-8", "backslashreplace")
