"""Calls that a person said are the same: kept beside the project's runs, so that the next comparison of two dumps with
these calls knows."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

FILE = "precision-matches.json"
MOST = 1000
"""Pairs of dumps that are remembered; then the oldest are forgotten."""


def place_of(run: Run) -> Path:
    return run.folder.parent.parent / FILE


def mark(target: Iterable[str], golden: Iterable[str]) -> str:
    """Of two dumps, by the names of their calls: other weights or another step are the same, another model is not."""
    return "-".join(f"{zlib.crc32(chr(10).join(sorted(names)).encode()):08x}" for names in (target, golden))


def mark_of(comparison: Comparison, number: int) -> str:
    """Of the dumps of a pass."""
    begin = comparison.passes[number].first_call
    later = comparison.passes[number + 1 :]
    calls = range(begin, later[0].first_call if later else len(comparison.names))
    target = [comparison.names[call] for call in calls if comparison.target_call[call] >= 0]
    golden = [golden_name(comparison, call) for call in calls if comparison.golden_call[call] >= 0]
    return mark(target, golden)


def golden_name(comparison: Comparison, call: int) -> str:
    other = int(comparison.golden_name[call])
    return comparison.names[call] if other < 0 else comparison.texts[other]


def matches(place: Path, which: str) -> dict[str, str]:
    """Names of the target's calls, and of the golden side's that they are; none where nothing is remembered or the file
    is damaged."""
    known = _read(place).get(which)
    if not isinstance(known, dict):
        return {}
    return {name: other for name, other in known.items() if isinstance(name, str) and isinstance(other, str)}


def remember(place: Path, which: str, changed: Mapping[str, str | None]) -> None:
    """Adds matches, or takes those with None away. Raises OSError."""
    known = _read(place)
    kept = {name: other for name, other in {**matches(place, which), **changed}.items() if other is not None}
    known.pop(which, None)
    if kept:
        known[which] = kept
    files.write_json(place, {"format": 1, "matches": dict(list(known.items())[-MOST:])})


def _read(place: Path) -> dict[str, Any]:
    found = files.read_json(place)
    known = found.get("matches") if isinstance(found, dict) else None
    return known if isinstance(known, dict) else {}
