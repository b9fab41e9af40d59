"""Findings that somebody decided to leave, each with the reason.

They are kept in the project's `.ascend-studio/migration.json` where the user allows writing there, else beside the
studio's own state, keyed by the project's folder. What a project brings along is only text.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from studio import files, places
from studio.project import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LONGEST_REASON = 500


def file_in(project: Path) -> Path:
    return project / OURS / "migration.json"


def file_outside(project: Path) -> Path:
    key = hashlib.blake2b(os.fsencode(os.path.realpath(project)), digest_size=10).hexdigest()
    return places.state_home() / "migration" / f"{key}.json"


def suppressed(project: Path) -> dict[str, str]:
    """Fingerprint -> reason, of both places; what cannot be read counts as nothing."""
    return _read(file_outside(project)) | _read(file_in(project))


def suppress(project: Path, marks: Iterable[str], reason: str, *, in_project: bool) -> None:
    """Remembers the reason for findings with these fingerprints. Raises OSError."""
    path = file_in(project) if in_project else file_outside(project)
    _write(path, _read(path) | dict.fromkeys(marks, reason[:LONGEST_REASON]))


def restore(project: Path, marks: Iterable[str]) -> None:
    """They count again, wherever it was written that they do not. Raises OSError."""
    gone = set(marks)
    for path in (file_in(project), file_outside(project)):
        known = _read(path)
        if known.keys() & gone:
            _write(path, {mark: reason for mark, reason in known.items() if mark not in gone})


def _read(path: Path) -> dict[str, str]:
    value: Any = files.read_json(path)
    kept = value.get("suppressed") if isinstance(value, dict) else None
    if not isinstance(kept, dict):
        return {}
    return {mark: reason[:LONGEST_REASON] for mark, reason in kept.items() if isinstance(reason, str)}


def _write(path: Path, kept: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ignore = path.parent / ".gitignore"
    if path.parent.name == OURS and not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    files.write_json(path, {"suppressed": dict(sorted(kept.items()))})
