"""The digest of a file, to tell whether two dumps are the same one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

PIECE_BYTES = 1 << 20


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    with files.open_regular(path) as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
