"""A person's marks and notes: stored in the folder of the run that a profile belongs to, else with the studio's state.
Never among the profile's own files."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from backends.timeline.build.locks import lock
from studio.errors import from_os
from studio.files import read_json, write_json
from studio.paths import state_home

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.timeline.trace import Trace

NOTES_FORMAT = 1
COLORS = 8
_LARGEST = 1 << 63


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A moment (`begin` == `end`) or a range, in ns as the source counts them, so that they stay valid where the origin
    changes. `color`: 0 to COLORS - 1, of the palette of marks."""

    begin: int
    end: int
    text: str = ""
    color: int = 0


def notes_file(trace: Trace) -> Path:
    """Return the file that notes are stored in, whether it exists or not."""
    run = _run_around(trace.root)
    folder = run / "timeline" if run is not None else state_home() / "timeline"
    return folder / f"{_content(trace)}.json"


def _run_around(root: Path) -> Path | None:
    return next(
        (folder for folder in (root.absolute(), *root.absolute().parents) if (folder / "run.json").is_file()), None
    )


def _content(trace: Trace) -> str:
    """Hash what happened in the trace, not where it is: a copy or a renamed folder has the same notes."""
    meta = trace.meta
    facts = (
        meta.origin_ns,
        meta.last_ns,
        meta.events,
        sorted((source.kind, source.rank or 0) for source in meta.sources),
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def read_notes(path: Path) -> tuple[Mark, ...]:
    """Return the marks in order of time. A missing or damaged file has none; of an edited file, valid marks count."""
    stored = read_json(path)
    marks = stored.get("marks") if isinstance(stored, dict) else None
    return _ordered(mark for entry in (marks if isinstance(marks, list) else ()) if (mark := _mark(entry)) is not None)


def _mark(value: Any) -> Mark | None:
    try:
        mark = msgspec.convert(value, Mark)
    except msgspec.ValidationError:
        return None
    fits = mark.begin <= mark.end and max(abs(mark.begin), abs(mark.end)) < _LARGEST
    return msgspec.structs.replace(mark, color=mark.color % COLORS) if fits else None


def write_notes(path: Path, marks: Iterable[Mark]) -> None:
    """Write all notes or nothing. Raises StudioError (full disk, no permission)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"format": NOTES_FORMAT, "marks": _ordered(marks)})
    except OSError as error:
        raise from_os(error, path) from error


def merge_notes(path: Path, base: Iterable[Mark], marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Write what changed from `base` to `marks`, and return all notes: those that another window wrote meanwhile stay.
    Of a note that both changed, both versions stay. Raises StudioError."""
    before, after = Counter(base), Counter(marks)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = lock(path.with_name(f"{path.name}.lock"))
    except OSError as error:
        raise from_os(error, path) from error
    try:
        stored = Counter(read_notes(path))
        merged = _ordered(((stored - (before - after)) | (after - before)).elements())
        write_notes(path, merged)
        return merged
    finally:
        if held:
            held.close()


def _ordered(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda mark: (mark.begin, mark.end, mark.text)))
