"""Growing files of lines that somebody else appends to, read from the last position on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from studio import events, files
from studio.events import attempt_and_rank, process_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studio.events import Event

CHUNK = 1 << 19
LONGEST_LINE = 1 << 24


class Tail:
    """Whole lines of a growing file. Half a line waits for its end; the file may not be there yet."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self.dropped = 0
        self._scan_offset = offset

    def read(self, limit: int = CHUNK) -> bytes:
        """Return whole new lines, about `byte_limit` bytes of them, or b"" where there are none. Never raises."""
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return b""
        try:
            return self._whole_lines(file, limit)
        except OSError:
            return b""
        finally:
            os.close(file)

    def pending(self) -> int:
        """Return how many bytes of the file have not been scanned. Half a line counts only once: the end of a line that
        a killed process began never comes.
        """
        try:
            size = self.path.stat().st_size
            return size - self._offsets(size)[1]
        except OSError:
            return 0

    def _offsets(self, size: int) -> tuple[int, int]:
        """Return from where to read and to scan in a file of this size. It is shorter than what was scanned where its
        writer took back half a line, as on a full disk, or where somebody deleted it and another was begun."""
        if size >= self._scan_offset:
            return self.offset, self._scan_offset
        begin = self.offset if size >= self.offset else 0
        return begin, begin

    def _whole_lines(self, file: int, limit: int) -> bytes:
        size = os.fstat(file).st_size
        self.offset, self._scan_offset = self._offsets(size)
        if size <= self._scan_offset:
            return b""
        while True:
            data = os.pread(file, limit, self.offset)
            end = data.rfind(b"\n") + 1
            self._scan_offset = self.offset + (end if len(data) == limit else len(data))
            if end or len(data) < limit:
                self.offset += end
                return data[:end]
            if limit >= LONGEST_LINE:  # a line without an end is no line of ours: leave it behind
                self.offset += len(data)
                self._scan_offset = self.offset
                self.dropped += 1
                return b""
            limit *= 4


class RunTail:
    """All events of a run, file by file, each with the attempt and rank that its file's name gives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tails: dict[str, Tail] = {}
        self.damaged = 0

    def read(self, limit: int = CHUNK) -> Iterator[tuple[int, int, list[Event]]]:
        """(attempt, rank, events) of each file with news; at most `limit` bytes of each file."""
        for (attempt, rank, _), batch in self.read_processes(limit):
            yield attempt, rank, batch

    def read_processes(self, limit: int = CHUNK) -> Iterator[tuple[tuple[int, int, int], list[Event]]]:
        """The same with (attempt, rank, pid): two processes may claim one rank."""
        for name in self._names():
            tail = self._tail(name)
            dropped = tail.dropped
            lines = tail.read(limit)
            self.damaged += tail.dropped - dropped
            if lines:
                batch, damaged = events.decode(lines)
                self.damaged += damaged
                yield process_of(name) or (1, 0, 0), batch

    def pending(self) -> int:
        """Return how many bytes have not been scanned, in all files that exist now."""
        return sum(self._tail(name).pending() for name in self._names())

    def offset(self) -> int:
        """Return how many bytes have been read."""
        return sum(tail.offset for tail in self._tails.values())

    def _tail(self, name: str) -> Tail:
        return self._tails.setdefault(name, Tail(self._folder / name))

    def _names(self) -> list[str]:
        try:
            names = [name for name in os.listdir(self._folder) if attempt_and_rank(name)]
        except OSError:
            return []
        return sorted(names, key=lambda name: (attempt_and_rank(name), name))


def last_lines(path: Path, max_bytes: int = 8192) -> list[bytes]:
    """The last whole lines of a file, at most `max_bytes` of them; [] where it cannot be read."""
    try:
        with files.open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - max_bytes))
            lines = file.read(max_bytes).split(b"\n")
    except OSError:
        return []
    return lines[1 if size > max_bytes else 0 : -1]
