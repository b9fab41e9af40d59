"""A trace cut into pieces of whole events: most are decoded by a typed decoder at once, what it refuses one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.timeline.text.event import UNREADABLE, Event, aside, events_of, loose_event
from backends.timeline.text.lenient_json import (
    BAD,
    FIRST_KEY,
    LenientItems,
    Patience,
    parse_leniently,
)
from backends.timeline.text.timestamps import LAST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.timeline.text.byte_stream import Stream


PIECE = 256 << 10  # bytes: larger ones leave the processor's cache, and take half as long again
LOOSE_WINDOW = 8 << 10  # bytes
LARGEST_EVENT = 128 << 20

_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*"?(\d{1,19})\b')
_ARRAY_OF_OBJECT = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY = re.compile(rb"[\s,]*\[")
_CUT = re.compile(rb"\}\s*,\s*(?=\{" + FIRST_KEY.encode() + b")")
_NOTHING = b"\xef\xbb\xbf \t\r\n\x00"


@dataclass(frozen=True, kw_only=True)
class Piece:
    """`begin`, `end`: byte offsets in the stream, from one event to after another. `data`: those bytes."""

    begin: int
    end: int
    data: bytes | memoryview
    events: list[Event]


class TracePieces:
    """`truncated`: the trace has no end, or continues after it. `foreign`: bytes in its events that are no UTF-8.
    `base_ns`: what times are relative to, according to the
    head; `late_base_ns`: according to what follows the events."""

    def __init__(self, stream: Stream, piece: int = PIECE) -> None:
        self._stream = stream
        self._piece = piece
        self._data = b""
        self._begin = 0  # of the data, in the stream
        self._at_end = False
        self._has_events = False
        self._patience = Patience()
        self._nesting = Nesting()
        self.truncated = False
        self.arrays = 0  # that hold events
        self.foreign = 0
        self.base_ns = 0
        self.late_base_ns = 0

    def __iter__(self) -> Iterator[Piece]:
        self._read(self._piece)
        self._use(len(self._data) - len(self._data.lstrip(_NOTHING)))
        is_object = self._data[:1] == b"{"
        while self._reach_object_array() if is_object else self._reach_array():
            has_events, self._has_events = self._has_events, False
            yield from self._of_array()
            self.arrays += self._has_events
            self._has_events = self._has_events or has_events
        self.truncated = (self.truncated or self._stream.cut_off) and not self._stream.limit

    def _read(self, count: int) -> None:
        data = self._stream.read(count)
        self._at_end = not data
        self._data += data

    def _use(self, count: int) -> None:
        self._data = self._data[count:]
        self._begin += count

    def _reach_array(self) -> bool:
        while not self._data.strip() and not self._at_end:
            self._use(len(self._data))
            self._read(self._piece)
        array = _ARRAY.match(self._data)
        if array is None:  # a stray bracket may have closed it before its end
            self.truncated = self.truncated or bool(self._data.strip(_NOTHING + b","))
            return False
        self._use(array.end())
        return True

    def _reach_object_array(self) -> bool:
        """Reach the array of the outermost object; deeper arrays of that name belong to something else."""
        while True:
            at = 0
            for array in _ARRAY_OF_OBJECT.finditer(self._data):
                self._nesting.take_key(self._data[at : array.start()])
                at = array.start()
                if self._nesting.depth == 1:
                    self._find_base(at)
                    self._use(array.end())
                    return True
            self._find_base(len(self._data))
            if self._at_end:
                return False
            behind = max(at, len(self._data) - 4096)
            self._nesting.take(self._data[at:behind])
            self._use(behind)
            self._read(self._piece)

    def _find_base(self, bound: int) -> None:
        base = _BASE.search(self._data, 0, bound)
        if base is None or self.base_ns or int(base[1]) > LAST:
            return
        if self._has_events:
            self.late_base_ns = int(base[1])
        else:
            self.base_ns = int(base[1])

    def _of_array(self) -> Iterator[Piece]:
        state, needed = "more", self._piece
        while state == "more":
            if len(self._data) < needed:
                self._read(needed - len(self._data))
            piece = self._strictly()
            if piece is None:
                piece, state = self._loosely()
            if piece is not None:
                self._has_events = True
                yield piece
            elif self._at_end and state == "more":
                self.truncated, state = True, "closed"
            needed = self._piece if piece else 2 * max(self._piece, len(self._data))

    def _strictly(self) -> Piece | None:
        """Decode up to the last cut, or an earlier one where the last is inside an event."""
        for end, begin_of_next in self._cuts():
            array = b"".join((b"[", memoryview(self._data)[:end], b"]"))
            try:
                events = events_of(array)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                continue
            return self._piece_of(begin_of_next, events, memoryview(array)[1:-1])
        return None

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """Yield ends of events and begins of the next: the last three, then halfway to the first and so on."""
        yield from self._cuts_before(len(self._data))
        bound = len(self._data) // 2
        while bound > LOOSE_WINDOW:
            yield from self._cuts_before(bound)[:1]
            bound //= 2

    def _cuts_before(self, bound: int) -> list[tuple[int, int]]:
        """Return at most three cuts, the last first."""
        window = 4096
        while True:
            cuts = [match.span() for match in _CUT.finditer(self._data, max(0, bound - window), bound)]
            if len(cuts) >= 3 or window >= bound:
                return [(begin + 1, end) for begin, end in cuts[-1:-4:-1]]
            window *= 8

    def _loosely(self) -> tuple[Piece | None, str]:
        last = self._at_end or len(self._data) > LARGEST_EVENT
        window = LOOSE_WINDOW
        parsed, used = self._parse_window(window, last)
        while used == 0 and window < len(self._data):
            window *= 8
            parsed, used = self._parse_window(window, last)
        events = [aside(UNREADABLE) if item is BAD else loose_event(item) for item in parsed.items]
        if last and not self._at_end and not events:
            used, events = len(self._data), [aside(UNREADABLE)]
        if not events:
            self._use(used)
            return None, parsed.state
        return self._piece_of(used, events, self._data[:used]), parsed.state

    def _parse_window(self, window: int, last: bool) -> tuple[LenientItems, int]:
        """Parse the first part leniently; return the items and how many bytes they took."""
        text = self._data[:window].decode("utf-8", "surrogateescape")
        parsed = parse_leniently(text, last and window >= len(self._data), self._patience)
        return parsed, len(text[: parsed.end].encode("utf-8", "surrogateescape"))

    def _piece_of(self, used: int, events: list[Event], data: bytes | memoryview) -> Piece:
        begin = self._begin
        self.foreign += foreign_bytes(bytes(data))
        self._use(used)
        return Piece(begin=begin, end=self._begin, data=data, events=events)


_FOREIGN = re.compile("[\udc80-\udcff]")


def foreign_bytes(data: bytes) -> int:
    """Return how many bytes are no UTF-8: the typed decoder does not look into arguments."""
    return 0 if data.isascii() else len(_FOREIGN.findall(data.decode("utf-8", "surrogateescape")))


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)


class Nesting:
    """Nesting depth of a position in JSON text, without decoding what precedes it. `depth`: open brackets and braces. A
    piece may end within a string."""

    def __init__(self) -> None:
        self.depth = 0
        self._opened = b""

    def take(self, data: bytes) -> None:
        rest, strings = _STRING.subn(rb"\1", self._opened + data)
        self.depth += rest.count(b"{") + rest.count(b"[") - rest.count(b"}") - rest.count(b"]")
        is_cut = strings > rest.count(b'"')
        self._opened = b'"\\' if is_cut and rest.endswith(b"\\") else b'"' * is_cut

    def take_key(self, data: bytes) -> None:
        """Take what ends before a key: a string that is open there was never closed, and ends there."""
        self.take(data)
        self._opened = b""
