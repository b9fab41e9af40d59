"""The last lines of a growing log: where each lies in the file, and its level. Their texts stay in the file."""

from __future__ import annotations

import os
import re
import weakref
from array import array
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING

from studio.output.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_LINES = 200_000
AT_ONCE = 1 << 18
BLOCK = 1 << 16
"""Bytes that are read around a line: those after it are asked for next."""
FROM_END = 24 << 20
LONGEST = 1 << 16

PLAIN, WARNING, ERROR = 0, 1, 2

_LEVEL = re.compile(
    # A colour code ends in a digit and an m, which is no border of a word.
    rb"((?:\b|(?<=\dm))(?:ERROR|CRITICAL|FATAL)\b|Traceback \(most recent call last\)"
    rb"|(?:^|\n)[\w.]*(?:Error|Exception)\b)|((?:\b|(?<=\dm))WARN(?:ING)?\b|Warning\b)"
)
# A search for plain words is twenty times as fast as the pattern, and most of a log has none of them.
_WORDS = (b"ERROR", b"CRITICAL", b"FATAL", b"WARN", b"Warning", b"Traceback", b"Error", b"Exception")
# Fifty times as fast as the other: it goes first, over a whole piece.
_HINT = re.compile(rb"ERROR|CRITICAL|FATAL|WARN|Warning|Traceback|Error|Exception")
_TRACEBACK = b"Traceback (most recent call last)"
# Of MindSpore's own loggers, as they end every parallel run.
CHATTER = ("[INFO]", "[DEBUG]")


def line_text(line: bytes) -> str:
    """Return a line as a terminal would leave it: what came after the last carriage return, no colours, tabs as
    spaces."""
    line = line.rstrip(b"\r")
    return printable(line[line.rfind(b"\r") + 1 :].decode("utf-8", "replace")).expandtabs(8)


def log_end(path: Path, max_bytes: int = 1 << 16) -> list[str]:
    """Return the last lines of a log; the first of them is the end of a line where the rest of it is further away than
    `max_bytes`. Never raises.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        begin = max(0, os.fstat(file).st_size - max_bytes)
        lines = [line_text(line) for line in os.pread(file, max_bytes, begin).split(b"\n")]
    except OSError:
        return []
    finally:
        os.close(file)
    return [f"… {lines[0]}", *lines[1:]] if begin else lines


class LogLines:
    """Reads on in the file. Lines are numbered from 0 over all that were read; `first` is the oldest still kept.

    Of a long file only the end is read (`is_cut`); the file keeps everything, and is held open, so that what was read
    can be shown wherever it was moved."""

    def __init__(self, path: Path, max_lines: int = MAX_LINES, from_end: int = FROM_END) -> None:
        self.path = path
        self.first = 0
        self.is_cut = False
        self._max_lines = max_lines
        self._from_end = from_end
        self._starts, self._lengths = array("q"), array("I")
        self._levels = bytearray()
        self._descriptor: int | None = None
        self._close: Callable[[], object] = lambda: None
        self._block, self._block_start = b"", 0
        self._offset = 0
        self._half = b""
        self._in_traceback = False
        self._skip_half = False

    def __len__(self) -> int:
        """The number after the last line; half a line counts."""
        return self.whole() + bool(self._half)

    def whole(self) -> int:
        """The number after the last whole line."""
        return self.first + len(self._starts)

    def last(self) -> str:
        """The last line with something in it; a framework's own messages only where there is nothing else."""
        numbers = range(max(self.first, self.whole() - 20), len(self))
        texts = [text for number in numbers if (text := line_text(self.line(number)).strip())][::-1]
        return next((text for text in texts if not text.startswith(CHATTER)), texts[0] if texts else "")

    def line(self, number: int) -> bytes:
        index = number - self.first
        if index >= len(self._starts):
            return self._half
        start, length = self._starts[index], self._lengths[index]
        if not self._block_start <= start <= start + length <= self._block_start + len(self._block):
            self._read_block(start, max(length, BLOCK))
        begin = start - self._block_start
        return self._block[begin : begin + length]

    def _read_block(self, start: int, size: int) -> None:
        """Read from a line on. Where the file cannot be read any more the lines are empty."""
        self._block, self._block_start = b"", start
        if self._descriptor is not None:
            with suppress(OSError):
                self._block = os.pread(self._descriptor, size, start)

    def level(self, number: int) -> int:
        index = number - self.first
        return self._levels[index] if index < len(self._levels) else PLAIN

    def read(self) -> int:
        """Reads at most AT_ONCE bytes on; returns how many. Never raises."""
        try:
            is_same = self._open()
            assert self._descriptor is not None
            size = os.fstat(self._descriptor).st_size
            if not is_same or size < self._offset:
                self._forget_all()
            self._set_position(size)
            data = os.pread(self._descriptor, AT_ONCE, self._offset) if size > self._offset else b""
        except OSError:
            return 0
        if data:
            self._add(data)
        return len(data)

    def _open(self) -> bool:
        """Open the file that has the path now; return whether it is the one of before. Raises OSError."""
        descriptor, before = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), self._descriptor
        is_same = before is None or os.path.sameopenfile(descriptor, before)
        self._close()
        self._descriptor, self._close = descriptor, weakref.finalize(self, os.close, descriptor)
        return is_same

    def _forget_all(self) -> None:
        """Somebody emptied the file, or put another in its place: it is read from its beginning."""
        self.first = self.whole()
        self._offset, self._half, self._block = 0, b"", b""
        self._in_traceback = self._skip_half = False
        del self._starts[:], self._lengths[:], self._levels[:]

    def pending(self) -> int:
        try:
            return max(0, self.path.stat().st_size - self._offset)
        except OSError:
            return 0

    def _set_position(self, size: int) -> None:
        """At first, and when a flood was faster than the reading, near the end."""
        if size - self._offset > self._from_end:
            self._offset = size - self._from_end
            self._half = b""
            self.is_cut = True
            self._skip_half = True

    def _add(self, data: bytes) -> None:
        self._offset += len(data)
        if self._skip_half:
            _, newline, data = data.partition(b"\n")
            self._skip_half = not newline
        start = self._offset - len(data) - len(self._half)
        *lines, half = (self._half + data).split(b"\n")
        # A progress bar writes carriage returns for hours: only its last state is worth keeping.
        self._half = half[half.rfind(b"\r", 0, -1) + 1 :][-LONGEST:]
        self._levels += self._levels_of(lines, data)
        lengths = list(map(len, lines))
        self._lengths.extend(lengths)
        self._starts.extend(accumulate((length + 1 for length in lengths[:-1]), initial=start) if lines else ())
        self._drop()

    def _levels_of(self, lines: list[bytes], data: bytes) -> bytes:
        first = lines[0] if lines else b""
        if not self._in_traceback and not any(word in data or word in first for word in _WORDS):
            return bytes(len(lines))
        return bytes(map(self._level_of, lines))

    def _level_of(self, line: bytes) -> int:
        """Sequential: the indented lines under a traceback's head belong to it, and the first other one ends it."""
        if self._in_traceback:
            self._in_traceback = line.startswith((b" ", b"\t")) or not line.strip()
            return ERROR
        match = _LEVEL.search(line) if _HINT.search(line) else None
        if match is None:
            return PLAIN
        self._in_traceback = _TRACEBACK in line
        return ERROR if match[1] else WARNING

    def _drop(self) -> None:
        """A tenth more than the maximum is stored before the oldest are dropped: cutting a list costs its length."""
        if len(self._starts) > self._max_lines * 11 // 10:
            excess = len(self._starts) - self._max_lines
            del self._starts[:excess], self._lengths[:excess], self._levels[:excess]
            self.first += excess
            self.is_cut = True
