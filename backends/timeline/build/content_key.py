"""Key of a profile's content: what was read under a key need not be read again."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import TYPE_CHECKING

from backends.timeline.trace import FORMAT
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.timeline.source_discovery import SourceFile

PIECES = 16
PIECE = 4096
JOURNALS = ("-wal", "-journal")  # of a db: what was written to it and is not in it yet


def key_of(sources: Iterable[SourceFile], root: Path) -> str:
    """Hash all sources together: their paths below `root`, sizes, modification times and samples of their bytes."""
    total = blake2b(f"{FORMAT}".encode(), digest_size=16)
    for source in sources:
        name = os.fsencode(os.path.relpath(source.path, root))
        total.update(b"\0".join([b"", name, source.kind.encode(), str(source.rank).encode(), _content(source.path)]))
    return total.hexdigest()


def _content(path: Path) -> bytes:
    """Return nothing where the file cannot be read: the reader will report it."""
    try:
        return _state(path)
    except OSError:
        return b""


def _state(path: Path) -> bytes:
    state = path.stat()
    text = f"{state.st_size} {state.st_mtime_ns}"
    for ending in JOURNALS:
        journal = path.with_name(path.name + ending)
        if path.suffix == ".db" and journal.exists():
            text += f" {journal.stat().st_size} {journal.stat().st_mtime_ns}"
    return text.encode() + _samples(path, state.st_size)


def _samples(path: Path, size: int) -> bytes:
    """Hash the head, the tail and evenly spaced samples between them."""
    samples = blake2b(digest_size=16)
    with files.open_regular(path) as file:
        for number in range(PIECES + 2):
            samples.update(os.pread(file.fileno(), PIECE, max(0, size - PIECE) * number // (PIECES + 1)))
    return samples.digest()
