"""The digests of files, to tell whether two dumps are the same one."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIECE_BYTES = 1 << 20
MAX_DIGEST_BYTES = 1 << 30
DIGESTED = ("dump.json", "optimizer.json", "stack.json", "construct.json")
"""Files of a dump whose digests a comparison keeps."""
TENSORS, TENSOR_SIZES = "tensors", "tensor sizes"
"""Under what it keeps the digest of all tensors' files: of names, sizes and contents, or of names and sizes alone."""


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    with files.open_regular(path) as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def dump_digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file of a dump that is there and not larger than MAX_DIGEST_BYTES."""
    digests = {}
    for name in DIGESTED:
        path = folder / name
        with suppress(OSError):
            if path.stat().st_size <= MAX_DIGEST_BYTES:
                digests[name] = file_digest(path)
    return digests


def tensors_digest(folder: Path, report: Callable[[], object], *, has_contents: bool) -> str:
    """Return a digest of the files in the folders of a dump: of their names and sizes, and of the contents of those not
    larger than MAX_DIGEST_BYTES. `report` is called for each file, and may raise."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.glob("*/*") if path.is_file()):
        report()
        content = ""
        with suppress(OSError):
            size = path.stat().st_size
            content = f"{size} {file_digest(path) if has_contents and size <= MAX_DIGEST_BYTES else ''}"
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()
