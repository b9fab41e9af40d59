"""What a scan comes to: artifacts/overview.json."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.found import STATES
from backends.migration.scan.baseline import Since  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.hours import hours
from backends.migration.scan.libraries import Library, libraries
from backends.migration.scan.reading import Note  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backends.migration.found import Found
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.reading import Reading
    from backends.migration.scan.scan import Survey

MOST_NOTES = 1000


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """A file with findings. `effort`: story points of its places; `places`: how many per state."""

    path: str
    lines: int
    effort: int
    places: dict[str, int]
    advice: int


class Api(msgspec.Struct, frozen=True, kw_only=True):
    """`count`: calls in the whole project. `a2`, `a3`, `a950`: yes, no or unverified. `mindspore`: "" where the
    mapping has no equivalent; `consistent`: whether it says that both do the same."""

    name: str
    count: int
    a2: str
    a3: str
    a950: str
    mindspore: str = ""
    consistent: bool = False


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """The sentence that says what the answers rest on: a key of the catalogue and its arguments."""

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
    heat: tuple[Heat, ...]
    libraries: tuple[Library, ...]
    apis: tuple[Api, ...]
    notes: tuple[Note, ...]
    notes_more: int
    facts: Basis
    suppressed: dict[str, str]
    since: Since | None = None


def per_state(found: Iterable[Found], kind: str) -> dict[str, int]:
    counts = Counter(one.state for one in found if one.kind == kind)
    return {state: counts[state] for state in STATES}


def heat(found: Sequence[Found], lines: Mapping[str, int]) -> tuple[Heat, ...]:
    """The files with findings, those that take most first."""
    by_file: dict[str, list[Found]] = {}
    for one in found:
        by_file.setdefault(one.path, []).append(one)
    files = (
        Heat(
            path=path,
            lines=lines.get(path, 0),
            effort=sum(one.effort for one in ones if one.kind == "place"),
            places=per_state(ones, "place"),
            advice=sum(one.kind == "advice" for one in ones),
        )
        for path, ones in by_file.items()
    )
    return tuple(sorted(files, key=lambda one: (-one.effort, -sum(one.places.values()), one.path)))


def standing(found: Sequence[Found], suppressed: Mapping[str, str]) -> tuple[tuple[Found, ...], dict[str, str]]:
    """The findings that count, and fingerprint -> reason of those that do not."""
    marks = fingerprints(found) if suppressed else ()
    left = tuple(one for one, mark in zip(found, marks, strict=True) if mark not in suppressed) if marks else found
    return tuple(left), {mark: suppressed[mark] for mark in marks if mark in suppressed}


def overview_of(folder: Path, survey: Survey, facts: Facts, suppressed: Mapping[str, str]) -> Overview:
    left, gone = standing(survey.found, suppressed)
    lines = {path: reading.lines for path, reading in survey.readings.items()}
    key, args = facts.says
    return Overview(
        folder=shown(folder),
        seconds=round(survey.seconds, 3),
        files=len(survey.readings),
        lines=sum(lines.values()),
        kinds=survey.kinds,
        libraries=libraries(survey.readings, facts),
        apis=apis(survey.readings.values(), facts),
        notes=survey.notes[:MOST_NOTES],
        notes_more=max(0, len(survey.notes) - MOST_NOTES),
        facts=Basis(key=key, args=args),
        suppressed=gone,
        **counted(left, lines),
    )


def counted(found: Sequence[Found], lines: Mapping[str, int]) -> dict[str, Any]:
    """The part of an overview that follows from the findings that count. `lines`: of each file."""
    return {
        "places": per_state(found, "place"),
        "advice": per_state(found, "advice"),
        "hours": hours(found),
        "heat": heat(found, lines),
    }


def apis(readings: Iterable[Reading], facts: Facts) -> tuple[Api, ...]:
    """Those without support first, then those that are called most."""
    counts: Counter[str] = Counter()
    for reading in readings:
        counts.update(reading.apis)
    found = (_api(name, count, facts) for name, count in counts.items())
    return tuple(sorted(found, key=lambda one: ("no" not in (one.a2, one.a3), -one.count, one.name)))


def _api(name: str, count: int, facts: Facts) -> Api:
    support, equivalent = facts.support(name), facts.mindspore(name)
    return Api(
        name=name,
        count=count,
        a2=support["a2"],
        a3=support["a3"],
        a950=support["a950"],
        mindspore=equivalent.removeprefix("~"),
        consistent=bool(equivalent) and not equivalent.startswith("~"),
    )


def shown(folder: Path) -> str:
    return os.fsencode(folder).decode("utf-8", "backslashreplace")
