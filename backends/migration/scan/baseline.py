"""A scan compared with an earlier one: which findings are gone, new, or still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.finding import ScanFinding
from backends.migration.scan.fingerprint import fingerprints
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class BaselineChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`new`: fingerprints of findings that the baseline does not have; `done`: its findings that are gone; `still`:
    how many both have."""

    new: tuple[str, ...]
    done: tuple[ScanFinding, ...]
    still: int


def changes_since(baseline: Sequence[ScanFinding], findings: Sequence[ScanFinding]) -> BaselineChanges:
    earlier = dict(zip(fingerprints(baseline), baseline, strict=True))
    current = fingerprints(findings)
    current_set = set(current)
    return BaselineChanges(
        new=tuple(fingerprint for fingerprint in current if fingerprint not in earlier),
        done=tuple(finding for fingerprint, finding in earlier.items() if fingerprint not in current_set),
        still=sum(fingerprint in earlier for fingerprint in current),
    )


def read_findings(path: Path) -> tuple[ScanFinding, ...]:
    """findings.json of an earlier scan. Raises StudioError."""
    try:
        return msgspec.json.decode(files.read_bytes(path), type=tuple[ScanFinding, ...])
    except OSError as error:
        raise from_os(error, path) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError("migration.rule.no_findings", path=str(path), reason=str(error)[:200]) from error
