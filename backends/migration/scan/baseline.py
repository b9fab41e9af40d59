"""What a scan says beside an earlier one: what is done, what is new, what still stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.found import Found
from backends.migration.scan.fingerprint import fingerprints
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Since(msgspec.Struct, frozen=True, kw_only=True):
    """`new`: fingerprints of findings that the baseline does not have; `done`: its findings that are gone; `still`:
    how many both have."""

    new: tuple[str, ...]
    done: tuple[Found, ...]
    still: int


def since(before: Sequence[Found], now: Sequence[Found]) -> Since:
    earlier = dict(zip(fingerprints(before), before, strict=True))
    current = fingerprints(now)
    known = set(current)
    return Since(
        new=tuple(mark for mark in current if mark not in earlier),
        done=tuple(one for mark, one in earlier.items() if mark not in known),
        still=sum(mark in earlier for mark in current),
    )


def read_findings(path: Path) -> tuple[Found, ...]:
    """findings.json of an earlier scan. Raises StudioError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Found, ...])
    except OSError as error:
        raise from_os(error, path) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError("migration.rule.no_findings", path=str(path), reason=str(error)[:200]) from error
