"""The zip container that torch.save writes: where its members lie in the file. Nothing is unpacked.

Format: APPNOTE.TXT 6.3 of PKWARE, sections 4.3 and 4.5.3 (zip64). torch stores all members, none is compressed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

END_RECORD = struct.Struct("<4s4H2IH")
END_64 = struct.Struct("<4sQ2H2I4Q")
ZIP64_LOCATOR = struct.Struct("<4sIQI")
ENTRY = struct.Struct("<4s6H3I5H2I")
LOCAL = struct.Struct("<4s5H3I2H")
LONGEST_END = END_RECORD.size + 0xFFFF
DIRECTORY = 64 << 20
"""Bytes of the directory that are read at most: half a million members."""
FULL = 0xFFFFFFFF
STORED_METHOD = 0
ENCRYPTED = 1


@dataclass(frozen=True, kw_only=True)
class Member:
    """`begin`: where its content begins in the file."""

    begin: int
    size: int


class Damaged(Exception):
    """The container is not what it says it is."""


class Packed(Exception):
    """A member is compressed or encrypted."""


def read_members(file: BinaryIO) -> dict[str, Member]:
    """Return the members by name. Raises Packed where one is compressed or encrypted, and Damaged where they overlap,
    lie outside of the file, or the directory does."""
    size = file.seek(0, 2)
    begin, length = _directory(file, size)
    if length > DIRECTORY or begin + length > size:
        raise Damaged
    by_name = {}
    for name, header, member_size in _entries(_read(file, begin, length)):
        content = _content(file, header)
        if content + member_size > begin or name in by_name:
            raise Damaged
        by_name[name] = Member(begin=content, size=member_size)
    _refuse_overlap(by_name)
    return by_name


def _directory(file: BinaryIO, size: int) -> tuple[int, int]:
    """Begin and length of the directory."""
    tail = _read(file, max(0, size - LONGEST_END), min(size, LONGEST_END))
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < END_RECORD.size:
        raise Damaged
    *_, length, begin, _comment = END_RECORD.unpack_from(tail, at)
    if FULL not in (length, begin) or at < ZIP64_LOCATOR.size:
        return begin, length
    mark, _, where, _ = ZIP64_LOCATOR.unpack_from(tail, at - ZIP64_LOCATOR.size)
    if mark != b"PK\6\7":
        return begin, length
    mark, *_, length, begin = END_64.unpack(_read(file, where, END_64.size))
    if mark != b"PK\6\6":
        raise Damaged
    return begin, length


def _entries(directory: bytes) -> Iterator[tuple[str, int, int]]:
    """Name, place of the local header and bytes of each member."""
    at = 0
    while at + ENTRY.size <= len(directory):
        mark, _, _, flags, method, _, _, _, packed, size, name, extra, comment, _, _, _, header = ENTRY.unpack_from(
            directory, at
        )
        if mark != b"PK\1\2":
            raise Damaged
        if method != STORED_METHOD or flags & ENCRYPTED:
            raise Packed
        at += ENTRY.size
        text = directory[at : at + name].decode("utf-8", "replace")
        size, packed, header = _zip64(directory[at + name : at + name + extra], size, packed, header)
        if packed != size:
            raise Damaged
        at += name + extra + comment
        yield text, header, size


def _zip64(extra: bytes, *values: int) -> list[int]:
    """Values that did not fit are in the field of id 1, in their order."""
    at = 0
    wide: list[int] = []
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            wide = [number for (number,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length // 8 * 8])]
        at += 4 + length
    if values.count(FULL) > len(wide):
        raise Damaged
    return [wide.pop(0) if value == FULL else value for value in values]


def _content(file: BinaryIO, header: int) -> int:
    mark, *_, name, extra = LOCAL.unpack(_read(file, header, LOCAL.size))
    if mark != b"PK\3\4":
        raise Damaged
    return int(header + LOCAL.size + name + extra)


def _refuse_overlap(by_name: dict[str, Member]) -> None:
    spans = sorted((member.begin, member.begin + member.size) for member in by_name.values())
    if any(end > begin for (_, end), (begin, _) in pairwise(spans)):
        raise Damaged


def _read(file: BinaryIO, begin: int, length: int) -> bytes:
    file.seek(begin)
    data = file.read(length)
    if len(data) != length:
        raise Damaged
    return data
