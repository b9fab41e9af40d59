"""Recognition of a file by its first bytes."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 1 << 16
_SQLITE = b"SQLite format 3\0"
_GZIP = b"\x1f\x8b"
_EVENTS = re.compile(rb'"traceEvents"\s*:|"ph"\s*:\s*"')


def looks_like(path: Path, *, within: bool) -> Literal["text", "db"] | None:
    """Return whether a file is a text trace or a database. `within`: among other files of a folder, where a file that
    only might be a trace does not count. Raises OSError."""
    if not path.is_file():  # a pipe would wait for somebody to write
        return None
    head = head_of(path)
    if head.startswith(_SQLITE) or (path.suffix.lower() == ".db" and not within):
        return "db"
    if _EVENTS.search(head):
        return "text"
    return None if within or not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{")) else "text"


def head_of(path: Path) -> bytes:
    """Return the first bytes, unpacked where the file is packed. Raises OSError."""
    with files.open_regular(path) as file:
        head = file.read(HEAD)
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return b""
