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

END = struct.Struct("<4s4H2IH")
END_64 = struct.Struct("<4sQ2H2I4Q")
END_64_PLACE = struct.Struct("<4sIQI")
ENTRY = struct.Struct("<4s6H3I5H2I")
LOCAL = struct.Struct("<4s5H3I2H")
LONGEST_END = END.size + 0xFFFF
DIRECTORY = 64 << 20
"""Octets of the directory that are read at most: half a million members."""
FULL = 0xFFFFFFFF
STORED = 0
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


def members(file: BinaryIO) -> dict[str, Member]:
    """By name. Raises Packed where one is compressed or encrypted, and Damaged where they overlap, lie outside of
    the file, or the directory does."""
    size = file.seek(0, 2)
    begin, length = _directory(file, size)
    if length > DIRECTORY or begin + length > size:
        raise Damaged
    found = {}
    for name, header, octets in _entries(_read(file, begin, length)):
        content = _content(file, header)
        if content + octets > begin or name in found:
            raise Damaged
        found[name] = Member(begin=content, size=octets)
    _refuse_overlap(found)
    return found


def _directory(file: BinaryIO, size: int) -> tuple[int, int]:
    """Begin and length of the directory."""
    tail = _read(file, max(0, size - LONGEST_END), min(size, LONGEST_END))
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < END.size:
        raise Damaged
    *_, length, begin, _comment = END.unpack_from(tail, at)
    if FULL not in (length, begin) or at < END_64_PLACE.size:
        return begin, length
    mark, _, where, _ = END_64_PLACE.unpack_from(tail, at - END_64_PLACE.size)
    if mark != b"PK\6\7":
        return begin, length
    mark, *_, length, begin = END_64.unpack(_read(file, where, END_64.size))
    if mark != b"PK\6\6":
        raise Damaged
    return begin, length


def _entries(directory: bytes) -> Iterator[tuple[str, int, int]]:
    """Name, place of the local header and octets of each member."""
    at = 0
    while at + ENTRY.size <= len(directory):
        mark, _, _, flags, method, _, _, _, packed, octets, name, extra, comment, _, _, _, header = ENTRY.unpack_from(
            directory, at
        )
        if mark != b"PK\1\2":
            raise Damaged
        if method != STORED or flags & ENCRYPTED:
            raise Packed
        at += ENTRY.size
        text = directory[at : at + name].decode("utf-8", "replace")
        octets, packed, header = _zip64(directory[at + name : at + name + extra], octets, packed, header)
        if packed != octets:
            raise Damaged
        at += name + extra + comment
        yield text, header, octets


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


def _refuse_overlap(found: dict[str, Member]) -> None:
    spans = sorted((one.begin, one.begin + one.size) for one in found.values())
    if any(end > begin for (_, end), (begin, _) in pairwise(spans)):
        raise Damaged


def _read(file: BinaryIO, begin: int, length: int) -> bytes:
    file.seek(begin)
    data = file.read(length)
    if len(data) != length:
        raise Damaged
    return data
