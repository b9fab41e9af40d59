"""Calls that a person said are the same, stored next to the project's runs for the next comparison of such dumps."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

MATCHES_FILE = "precision-matches.json"
MAX_DUMPS = 1000
"""Pairs of dumps that are remembered; then the oldest are forgotten."""


def path_of(run: Run) -> Path:
    return run.folder.parent.parent / MATCHES_FILE


def mark(target: Iterable[str], golden: Iterable[str]) -> str:
    """Return a key of two dumps by the names of their calls: other weights or another step have the same, another model
    has not."""
    return "-".join(f"{zlib.crc32(chr(10).join(sorted(names)).encode()):08x}" for names in (target, golden))


def mark_of(comparison: Comparison, number: int) -> str:
    """Return the key of the dumps of a pass."""
    begin = comparison.passes[number].first_call
    following = comparison.passes[number + 1 :]
    calls = range(begin, following[0].first_call if following else len(comparison.names))
    target = [comparison.names[call] for call in calls if comparison.target_call[call] >= 0]
    golden = [golden_name(comparison, call) for call in calls if comparison.golden_call[call] >= 0]
    return mark(target, golden)


def golden_name(comparison: Comparison, call: int) -> str:
    other = int(comparison.golden_name[call])
    return comparison.names[call] if other < 0 else comparison.texts[other]


def read_matches(path: Path, which: str) -> dict[str, str]:
    """Return the names of the target's calls, and of the golden side's that they are, of the dumps with the key
    `which`; none where nothing is stored or the file is damaged."""
    matches = _read(path).get(which)
    if not isinstance(matches, dict):
        return {}
    return {name: other for name, other in matches.items() if isinstance(name, str) and isinstance(other, str)}


def store_matches(path: Path, which: str, changed: Mapping[str, str | None]) -> None:
    """Add matches, or remove those with None. Raises OSError."""
    stored = _read(path)
    matches = {name: other for name, other in {**read_matches(path, which), **changed}.items() if other is not None}
    stored.pop(which, None)
    if matches:
        stored[which] = matches
    files.write_json(path, {"format": 1, "matches": dict(list(stored.items())[-MAX_DUMPS:])})


def _read(path: Path) -> dict[str, Any]:
    content = files.read_json(path)
    stored = content.get("matches") if isinstance(content, dict) else None
    return stored if isinstance(stored, dict) else {}
