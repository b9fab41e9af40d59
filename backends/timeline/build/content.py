"""A profile's content as a key: what was read once under it need not be read again."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING

from backends.timeline.trace import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.timeline.find import Found

PIECES = 16
PIECE = 4096
BESIDE = ("-wal", "-journal")  # of a db: what was written to it and is not in it yet


def key_of(sources: Iterable[Found], root: Path) -> str:
    """Of all sources together: how they are called below `root`, their sizes, times and samples of their bytes."""
    total = blake2b(f"{FORMAT}".encode(), digest_size=16)
    for found in sources:
        name = os.fsencode(os.path.relpath(found.path, root))
        total.update(b"\0".join([b"", name, found.kind.encode(), str(found.rank).encode(), _content(found.path)]))
    return total.hexdigest()


def _content(path: Path) -> bytes:
    """Nothing where it cannot be read: whoever reads it says so."""
    try:
        return _state(path)
    except OSError:
        return b""


def _state(path: Path) -> bytes:
    state = path.stat()
    said = f"{state.st_size} {state.st_mtime_ns}"
    for ending in BESIDE:
        beside = path.with_name(path.name + ending)
        if path.suffix == ".db" and beside.exists():
            said += f" {beside.stat().st_size} {beside.stat().st_mtime_ns}"
    return said.encode() + _samples(path, state.st_size)


def _samples(path: Path, size: int) -> bytes:
    """Head, tail and what lies evenly between them."""
    samples = blake2b(digest_size=16)
    with path.open("rb", buffering=0) as file:
        for number in range(PIECES + 2):
            samples.update(os.pread(file.fileno(), PIECE, max(0, size - PIECE) * number // (PIECES + 1)))
    return samples.digest()
