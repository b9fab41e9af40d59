"""Processes that trained and failed, although the program that started them ended well."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import msgspec

from studio import files
from studio.events import Ended, Finding, Metric, decode, process_of
from studio.tail import last_lines

if TYPE_CHECKING:
    from pathlib import Path

RULE = "launch.own.process_failed"
# What such a process leaves: studio/guest/ascend_studio/writer/failed_process.py.
_NAME = re.compile(r"failed\.a(\d{1,9})\.r(\d{1,9})\.p(\d{1,10})\.json")
_END_BYTES = 8192


class FailedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """`time` in ns since the epoch; `error`: the exception, or "exit code n" of a child of multiprocessing."""

    time: int
    error: str


def judged_by_processes(folder: Path, attempt: int, ended: Ended) -> tuple[Ended, list[Finding]]:
    """Return the end of a program whose exit code hides that a process of its training failed, and why: one whose rank
    no other process went on with. Raises OSError."""
    if ended.code or ended.reason:
        return ended, []
    for rank, pid, process in _failed(folder, attempt):
        if not _has_successor(folder, attempt, rank, pid, process.time):
            args = {"rank": rank, "error": process.error}
            return Ended(code=1), [Finding(rule=RULE, severity="error", args=args)]
    return ended, []


def _failed(folder: Path, attempt: int) -> list[tuple[int, int, FailedProcess]]:
    """Return rank, pid and failure of each process of an attempt that left one, the first failure first."""
    matches = [match for name in os.listdir(folder) if (match := _NAME.fullmatch(name)) and int(match[1]) == attempt]
    failed = [(int(match[2]), int(match[3]), _read(folder / match[0])) for match in matches]
    return sorted(failed, key=lambda item: item[2].time)


def _read(path: Path) -> FailedProcess:
    """Only a process that failed makes the file: one that a full disk cut off tells that, too. Raises OSError."""
    unknown = FailedProcess(time=path.stat().st_mtime_ns, error="–")
    return files.read_as(path, FailedProcess) or unknown


def _has_successor(folder: Path, attempt: int, rank: int, pid: int, time: int) -> bool:
    """Tell whether another process of this rank recorded a step later: a launcher started it again, or a script tried
    something else."""
    owners = [(name, process_of(name)) for name in os.listdir(folder)]
    others = [name for name, owner in owners if owner and owner[:2] == (attempt, rank) and owner[2] != pid]
    return any(_last_step(folder / name) > time for name in others)


def _last_step(path: Path) -> int:
    """Return when the last step of a process was recorded, 0 without any."""
    events, _ = decode(b"\n".join(last_lines(path, _END_BYTES)))
    return max((event.time for event in events if isinstance(event, Metric)), default=0)
