"""The result of scanning one file."""

from __future__ import annotations

import msgspec

from backends.migration.finding import ScanFinding  # noqa: TC001 - msgspec reads the fields


class ScanNote(msgspec.Struct, frozen=True, kw_only=True):
    """What was not read or not understood, and why: `key` and `args` make the sentence. `line` 0: the whole file."""

    path: str
    key: str
    args: dict[str, str] = {}
    line: int = 0


class FileScan(msgspec.Struct, frozen=True, kw_only=True):
    """`libraries`: top-level names of what is imported or required, with the first line that does; `pinned`: versions
    that requirements ask for; `apis`: canonical names of torch's that are called, with how often."""

    findings: tuple[ScanFinding, ...] = ()
    libraries: dict[str, int] = {}
    pinned: dict[str, str] = {}
    apis: dict[str, int] = {}
    lines: int = 0
    notes: tuple[ScanNote, ...] = ()
