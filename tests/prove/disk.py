"""A disk that is full at the start, in the middle, at the end, and at each byte of the last writes: each run has one
training, one end and its own exit code, or says why it did not begin; points that are missing are told.

Needs root, which may mount a small disk. The short version is in tests/studio/test_full_disk.py.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.prove.support.full_disk import can_mount, end_at_each_byte, record_through, small_disk, start_with_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.prove.support.full_disk import SmallDisk

LAST_BYTES = range(420)
"""More than a last record with what comes before it is long."""
FIRST_PAGES = range(24)
AT_ONCE = 12
"""Workers, of 25 MB each."""


def prove() -> dict[str, Any]:
    if not can_mount():
        return {"passed": True, "skipped": "mounting a small disk needs root"}
    faults = {"start": _start(), "end": _end()}
    middle, points = _middle()
    faults |= {"middle": middle}
    cases = {"start": len(FIRST_PAGES), "end": len(LAST_BYTES), "middle": len(points)}
    return {"passed": not any(faults.values()), "cases": cases, "points": points, "faults": faults}


@contextmanager
def _disk(size: str = "4m") -> Iterator[SmallDisk]:
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder), size) as disk:
        assert disk is not None
        yield disk


def _start() -> list[str]:
    faults = []
    for pages in FIRST_PAGES:
        with _disk() as disk:
            faults += start_with_pages(disk, pages)
        print(f"start with {pages} pages free, {len(faults)} faults", file=sys.stderr, flush=True)
    return faults


def _end() -> list[str]:
    faults = []
    for first in range(0, len(LAST_BYTES), AT_ONCE):
        with _disk() as disk:
            faults += end_at_each_byte(disk, LAST_BYTES[first : first + AT_ONCE])
        print(f"end from {first} bytes free on, {len(faults)} faults", file=sys.stderr, flush=True)
    return faults


def _middle() -> tuple[list[str], dict[str, dict[str, int]]]:
    faults, points = [], {}
    for name, steps, is_freed in (("short", 300, True), ("long", 40_000, True), ("to the end", 40_000, False)):
        with _disk("16m") as disk:
            faults_here, points[name] = record_through(disk, steps, is_freed_before_end=is_freed)
            faults += faults_here
    return faults, {name: dict(counts) for name, counts in points.items()}
