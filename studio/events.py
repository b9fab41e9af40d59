"""The protocol: one event is one JSON line, appended with one write. docs/design.md shows examples."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from studio import files
from studio.faults.held_folder import current_folder, held_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Number: TypeAlias = float | Literal["NaN", "Infinity", "-Infinity"]
# A number that fits no column is a damaged one.
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    time: Whole = 0
    """ns since the epoch. 0 stands for now, which `Journal.write` fills in: a line that was read always has one."""


class Metric(_Event, frozen=True, tag="metric"):
    """Values of a step. JSON has no NaN: non-finite values are the three strings."""

    step: Whole
    values: dict[str, Number]


class Progress(_Event, frozen=True, tag="progress"):
    """`log_unit`: "steps" or "epochs" where the training's own log counts so; "" of what counts steps by itself."""

    done: Whole
    total: Whole
    phase: str
    log_unit: str = ""


class Finding(_Event, frozen=True, tag="finding"):
    """`rule` is a key of the catalogue; the sentence is made by whoever shows it."""

    rule: str
    severity: str = "info"
    """info, warning or error; a newer studio may know more."""
    path: str = ""
    line: int = 0
    args: dict[str, Any] = {}


class Artifact(_Event, frozen=True, tag="artifact"):
    """`path` is relative to the run's folder."""

    kind: str
    path: str


class Note(_Event, frozen=True, tag="note"):
    key: str
    args: dict[str, Any] = {}


class Ended(_Event, frozen=True, tag="ended"):
    """The end of a run. `code`: as a shell gives it, 128+n for signal n. `reason`: "", stopped, lost, failed_to_start;
    "no" where the work was done and the answer is no; "incomplete" where not all could be judged, or a training ended
    well before its last step; "nonfinite" where a
    training ended well, and its losses were no numbers; else the limit that ended it.
    """

    code: int
    reason: str = ""


Event: TypeAlias = Metric | Progress | Finding | Artifact | Note | Ended
KINDS = ("metric", "progress", "finding", "artifact", "note", "ended")

_decoder = msgspec.json.Decoder(Event)
_encoder = msgspec.json.Encoder()
_NAME = re.compile(r"events\.a(\d{1,9})\.r(\d{1,9})\.p(\d{1,10})\.jsonl")


def decode(lines: bytes) -> tuple[list[Event], int]:
    """Return the events of whole lines, and how many lines were damaged. Unknown kinds are left out and not counted.

    A line that is not UTF-8 or has no time is damaged: msgspec skips a key that it does not know without reading its
    bytes, and a default would then stand for what the key held.
    """
    try:
        str(lines, "utf-8")
        events: list[Event] = _decoder.decode_lines(lines)
        if all(event.time for event in events):
            return events, 0
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    return _decode_lines(lines)


def _decode_lines(lines: bytes) -> tuple[list[Event], int]:
    events: list[Event] = []
    damaged = 0
    for line in lines.split(b"\n"):
        if not line.strip():
            continue
        try:
            str(line, "utf-8")
            event = _decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            damaged += not _is_newer(line)
            continue
        if event.time:
            events.append(event)
        else:
            damaged += 1
    return events, damaged


def _is_newer(line: bytes) -> bool:
    """Return whether a line is whole JSON of a kind that this version does not know."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in KINDS


def name_of(attempt: int, rank: int, pid: int) -> str:
    return f"events.a{attempt}.r{rank}.p{pid}.jsonl"


def process_of(name: str) -> tuple[int, int, int] | None:
    """Return attempt, rank and pid from a file's name, or None where it is no event file."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def attempt_and_rank(name: str) -> tuple[int, int] | None:
    """Return attempt and rank from a file's name, or None where it is no event file."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def _encoded(event: Event) -> bytes:
    """Return the line of an event. A path may hold bytes that are not UTF-8: they become question marks, the event
    stays.
    """
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(event), ensure_ascii=False).encode("utf-8", "replace")


class Journal:
    """Appends the events of this process to a run, each whole or not at all.

    Journals of one process and attempt share a file; what one of them keeps, the next that can write writes first.
    """

    _kept: ClassVar[dict[Path, deque[bytes]]] = {}

    def __init__(self, folder: Path, attempt: int) -> None:
        self._folder = held_path(folder)
        self._name = name_of(attempt, 0, os.getpid())

    def write(self, *events: Event) -> None:
        """Write what is kept, then these. Raises OSError; the event that failed and those behind it are not kept."""
        lines = [_line(event) for event in events]
        self._write_kept()
        for line in lines:
            self._append(line)

    def write_or_keep(self, *events: Event) -> None:
        """Write events, or keep them in memory until the file can be written again, as after a full disk."""
        self._kept.setdefault(self._path, deque()).extend(map(_line, events))
        with suppress(OSError):
            self._write_kept()

    @property
    def _path(self) -> Path:
        return self._folder / self._name

    def _write_kept(self) -> None:
        kept = self._kept.get(self._path)
        while kept:
            self._append(kept[0])
            kept.popleft()

    def _append(self, line: bytes) -> None:
        file = files.open_append(current_folder(self._folder) / self._name)
        try:
            _write_record(file, line)
        finally:
            os.close(file)


def _line(event: Event) -> bytes:
    return _encoded(event if event.time else msgspec.structs.replace(event, time=time.time_ns())) + b"\n"


def _open_for_records(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _write_record(file: int, line: bytes) -> None:
    """Append a line. A disk that has room for a part of it only must not leave that part: a later record would be
    appended to it and be unreadable. Raises OSError.
    """
    size = os.fstat(file).st_size
    is_torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
    rest = b"\n" + line if is_torn else line
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        with suppress(OSError):
            os.ftruncate(file, size)
        raise


def last_error(events: Iterable[Event]) -> Finding | None:
    """Return why a run failed, as far as its events tell."""
    error: Finding | None = last_of((event for event in events if is_error(event)), Finding)
    return error


def is_error(event: Event) -> bool:
    """Return whether an event tells why some rank failed. Rank 0 reports everything else for all ranks."""
    return isinstance(event, Finding) and event.severity == "error"


def last_of(events: Iterable[Event], kind: type[Any]) -> Any:
    """Return the last event of a kind, or None."""
    last = None
    for event in events:
        if isinstance(event, kind):
            last = event
    return last
