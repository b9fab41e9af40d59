"""Whether a table next to a trace was cut off or damaged, by its first and last bytes: large ones are not read."""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from backends.timeline.tables.csv_table import LONGEST_RECORD, cells_of, read_csv_records
from studio import files

if TYPE_CHECKING:
    from pathlib import Path

    Damage = Literal["cut", "damaged"]

PIECE = 2 * LONGEST_RECORD  # bytes of each end; a file of two pieces is looked at from first to last
_MARK = b"\xef\xbb\xbf"
_CONTINUES = range(0x80, 0xC0)  # bytes of a character in UTF-8 after its first


def damage_of(path: Path) -> Damage | None:
    """Return "cut" for a table that ends within a row, "damaged" for one whose ends are not of a table, else None; also
    for a file that cannot be read, which its own reader reports."""
    try:
        head, tail, is_all = _ends(path)
    except OSError:
        return None
    if not head:
        return "cut"
    if not (_is_text(head) and _is_text(tail)):
        return "damaged"
    return _of_json(head, tail) if path.suffix == ".json" else _of_csv(head, tail, is_all=is_all)


def _ends(path: Path) -> tuple[bytes, bytes, bool]:
    """Return the first and the last bytes, and whether both are the whole file."""
    with files.open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= 2 * PIECE:
            data = file.read(2 * PIECE)
            return data, data, True
        head = file.read(PIECE)
        file.seek(size - PIECE)
        return head, file.read(PIECE), False


def _is_text(piece: bytes) -> bool:
    """Tell whether a piece is UTF-8 without zero bytes. It may begin and end within a character."""
    begin = next((at for at, byte in enumerate(piece[:4]) if byte not in _CONTINUES), 0)
    try:
        piece[begin:].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and b"\0" not in piece
    return b"\0" not in piece


def _of_json(head: bytes, tail: bytes) -> Damage | None:
    if head.removeprefix(_MARK).lstrip()[:1] not in (b"{", b"["):
        return "damaged"
    return None if tail.rstrip()[-1:] in (b"}", b"]") else "cut"


def _of_csv(head: bytes, tail: bytes, *, is_all: bool) -> Damage | None:
    """Lines of a tail with quotes may be parts of a cell, so that only those of a whole file are counted there."""
    if not tail.endswith(b"\n"):
        return "cut"
    first = next(read_csv_records(BytesIO(head)), (0, None))[1]
    columns = len(cells_of(first) or ()) if first else 0
    if not columns:
        return "damaged"
    if is_all:
        return _of_records(tail, columns)
    return None if b'"' in tail else _of_records(tail.partition(b"\n")[2], columns)


def _of_records(data: bytes, columns: int) -> Damage | None:
    """Look at the records of some bytes: a wrong one at the end was cut, any other is damaged."""
    records = [record for _, record in read_csv_records(BytesIO(data)) if record is None or record.strip()]
    wrong = [at for at, record in enumerate(records) if record is None or len(cells_of(record) or ()) != columns]
    return None if not wrong else "cut" if wrong == [len(records) - 1] else "damaged"
