"""How the Python processes of a run ended, from the lines that the guest leaves of them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

# As studio/guest/ascend_studio/writer/process_record.py writes them; a line that a full disk cut off says nothing.
_LINE = re.compile(rb"(\d{10}) (\d{10}) (\d{19}) (\d{19}) ([scp]) (?:([-rx]) (\d{3,4})|l (.{4}))\n", re.DOTALL)
# What stands where the C library has written no exit status: the process ended before, behind its last line of Python.
_NO_STATUS = b"----"
_MAX_BYTES = 1 << 23


@dataclass(frozen=True, kw_only=True)
class ProcessRecord:
    """`begun`, `ended`: ns since the epoch, `ended` 0 where the process did not come to its end. `is_command`: of
    `python -c`. `way`: regular, at_once (by os._exit), or none; `code`: its exit code as far as a Python knew it."""

    pid: int
    parent: int
    begun: int
    ended: int
    is_command: bool
    way: Literal["regular", "at_once", "none"]
    code: int

    @property
    def has_succeeded(self) -> bool:
        return self.way != "none" and not self.code


_WAYS: dict[bytes, Literal["regular", "at_once", "none"]] = {b"r": "regular", b"x": "at_once", b"-": "none"}


def process_records(folder: Path, attempt: int) -> tuple[ProcessRecord, ...]:
    """Return the records of an attempt in the order in which the processes began, of each pid the last: a program that
    was replaced by another one has no end. What a parent saw of its child counts more than what that knew. Raises
    OSError."""
    path = folder / f"processes.a{attempt}"
    if not path.exists():
        return ()
    with files.open_regular(path) as file:
        matches = list(_LINE.finditer(file.read(_MAX_BYTES)))
    records: dict[int, ProcessRecord] = {}
    for match in matches:
        record = _record(match)
        if match[5] != b"p":
            records.pop(record.pid, None)
            records[record.pid] = record
        elif begun_record := records.get(record.pid):
            records[record.pid] = replace(begun_record, ended=record.ended, way="regular", code=record.code)
    return tuple(records.values())


def _record(match: re.Match[bytes]) -> ProcessRecord:
    pid, parent, begun, ended, kind, way, code, status = match.groups()
    if way is None:
        way, code = (b"-", 0) if status == _NO_STATUS else (b"r", int.from_bytes(status, sys.byteorder) & 0xFF)
    return ProcessRecord(
        pid=int(pid), parent=int(parent), begun=int(begun), ended=int(ended), is_command=kind == b"c", way=_WAYS[way],
        code=int(code),
    )  # fmt: skip


def left_at_once(folder: Path, attempt: int) -> frozenset[int]:
    """Return the pids of the processes that left by os._exit(0). Raises OSError."""
    records = process_records(folder, attempt)
    return frozenset(record.pid for record in records if record.way == "at_once" and not record.code)
