"""Bytes of a trace from first to last, plain or gzip, in pieces. Nothing is mapped: if somebody truncated a mapped file
while it is read, SIGBUS would end the process."""

from __future__ import annotations

import os
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

GZIP = b"\x1f\x8b"
LARGEST_RATIO = 100  # of a gzip; real traces shrink to a tenth or a thirtieth, and a bomb to a thousandth
ALWAYS_ALLOWED = 64 << 20


class Stream(Protocol):
    """`size`, `done`: bytes as stored. `cut_off`: the data ended prematurely. `limit`: unpacked bytes after which
    reading was stopped because there are too many; else 0."""

    size: int
    done: int
    cut_off: bool
    limit: int

    def read(self, count: int) -> bytes:
        """Return at most `count` bytes, or a few more; none at the end. Raises OSError."""


class Plain:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size
        self.done = 0
        self.cut_off = False
        self.limit = 0

    def read(self, count: int) -> bytes:
        data = self._file.read(count)
        self.done += len(data)
        return data


class Gzipped:
    """Several members are read as one. A file that unpacks to more than a hundred times its size is cut off there."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(wbits=31)
        self._packed = b""
        self.size = os.fstat(file.fileno()).st_size
        self.done = 0
        self.cut_off = False
        self.limit = 0
        self._unpacked = 0
        self._allowed = LARGEST_RATIO * self.size + ALWAYS_ALLOWED

    def read(self, count: int) -> bytes:
        while not self.cut_off and not self.limit and (self._packed or self._fetch()):
            data = self._unpack(count)
            if data:
                return self._within_bounds(data)
        return b""

    def _fetch(self) -> bool:
        self._packed = self._file.read(1 << 16)
        self.done += len(self._packed)
        self.cut_off = not self._packed and not self._unpacker.eof
        return bool(self._packed)

    def _unpack(self, count: int) -> bytes:
        if self._unpacker.eof:
            self._packed = self._packed.lstrip(b"\0")  # what a tape or dd fills its last block with
            if not self._packed:
                return b""
            self._unpacker = zlib.decompressobj(wbits=31)
        try:
            data = self._unpacker.decompress(self._packed, count)
        except zlib.error:
            self.cut_off, data = True, b""
        self._packed = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
        return data

    def _within_bounds(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        self.limit = self._unpacked if self._unpacked > self._allowed else 0
        return data


@contextmanager
def open_stream(path: Path) -> Iterator[Stream]:
    """Open a trace, plain or gzip. Raises OSError."""
    with files.open_regular(path) as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        yield Gzipped(file) if packed else Plain(file)


def part(path: Path, begin: int, end: int) -> bytes:
    """Return bytes `begin` to `end` - 1 of the stream; a gzip is unpacked from its beginning. Raises OSError."""
    with open_stream(path) as stream:
        if isinstance(stream, Plain):
            with files.open_regular(path) as file:
                file.seek(begin)
                return file.read(end - begin)
        return _unpacked_part(stream, begin, end)


def _unpacked_part(stream: Stream, begin: int, end: int) -> bytes:
    at, parts = 0, []
    while at < end and (data := stream.read(1 << 20)):
        parts.append(data[max(0, begin - at) : max(0, end - at)])
        at += len(data)
    return b"".join(parts)
