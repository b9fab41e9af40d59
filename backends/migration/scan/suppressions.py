"""Suppressions: findings that somebody decided to leave, each with the reason.

They are kept in the project's `.ascend-studio/migration.json` where the user allows writing there, else with the
studio's own state, keyed by the project's folder. What a project brings along is only text.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from studio import files, paths
from studio.project import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LONGEST_REASON = 500


def file_in_project(project: Path) -> Path:
    return project / OURS / "migration.json"


def file_in_state(project: Path) -> Path:
    key = hashlib.blake2b(os.fsencode(os.path.realpath(project)), digest_size=10).hexdigest()
    return paths.state_home() / "migration" / f"{key}.json"


def read_suppressions(project: Path) -> dict[str, str]:
    """Return fingerprint -> reason from both files; one that cannot be read counts as empty."""
    return _read(file_in_state(project)) | _read(file_in_project(project))


def suppress_findings(project: Path, fingerprints: Iterable[str], reason: str, *, in_project: bool) -> None:
    """Remember the reason for findings with these fingerprints. Raises OSError."""
    path = file_in_project(project) if in_project else file_in_state(project)
    _write(path, _read(path) | dict.fromkeys(fingerprints, reason[:LONGEST_REASON]))


def restore_findings(project: Path, fingerprints: Iterable[str]) -> None:
    """Make findings with these fingerprints count again. Raises OSError."""
    restored = set(fingerprints)
    for path in (file_in_project(project), file_in_state(project)):
        suppressions = _read(path)
        if suppressions.keys() & restored:
            _write(
                path,
                {fingerprint: reason for fingerprint, reason in suppressions.items() if fingerprint not in restored},
            )


def _read(path: Path) -> dict[str, str]:
    value: Any = files.read_json(path)
    suppressions = value.get("suppressed") if isinstance(value, dict) else None
    if not isinstance(suppressions, dict):
        return {}
    return {
        fingerprint: reason[:LONGEST_REASON] for fingerprint, reason in suppressions.items() if isinstance(reason, str)
    }


def _write(path: Path, suppressions: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ignore = path.parent / ".gitignore"
    if path.parent.name == OURS and not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    files.write_json(path, {"suppressed": dict(sorted(suppressions.items()))})
