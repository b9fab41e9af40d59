"""Processes that failed, although the program that started them ended well."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.launch.own.process_records import process_records
from studio import files
from studio.events import Ended, Finding, Metric, decode, process_of
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from backends.launch.own.process_records import ProcessRecord

RULE = "launch.own.process_failed"
GONE_RULE = "launch.own.process_gone"
PYTHON_RULE = "launch.own.python_failed"
PYTHON_GONE_RULE = "launch.own.python_gone"
# What such a process leaves: studio/guest/ascend_studio/writer/failed_process.py.
_NAME = re.compile(r"failed\.a(\d{1,9})\.r(\d{1,9})\.p(\d{1,10})\.json")
_END_BYTES = 8192
UNKNOWN = "–"


class FailedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """`time` in ns since the epoch; `error`: the exception, or "exit code n" of a child of multiprocessing."""

    time: int
    error: str


@dataclass(frozen=True, kw_only=True)
class Failure:
    """`error`: "" of a process that did not come to its own end, as one that a signal kills. `rank`: None of one that
    recorded no step."""

    time: int
    pid: int
    rank: int | None
    error: str

    def finding(self) -> Finding:
        if self.rank is None:
            rule, args = (PYTHON_RULE, {"error": self.error}) if self.error else (PYTHON_GONE_RULE, {})
            return Finding(rule=rule, severity="error", args=args)
        rule = RULE if self.error else GONE_RULE
        return Finding(rule=rule, severity="error", args={"rank": self.rank, "error": self.error or UNKNOWN})


def judged_by_processes(
    folder: Path, attempt: int, ended: Ended, leftovers: Collection[int] = ()
) -> tuple[Ended, list[Finding]]:
    """Return the end of a program whose exit code hides that a process failed, and why: one that trained and whose
    rank no other process went on with or, where none trained, a Python that nobody tried again. `leftovers`: pids of
    processes that lived on, and were ended by the studio. Raises OSError."""
    if ended.code or ended.reason:
        return ended, []
    processes = _Processes(folder, attempt, leftovers)
    failure = min(processes.failures(), key=lambda failure: failure.time, default=None)
    return (Ended(code=1), [failure.finding()]) if failure else (ended, [])


def first_ended_rank(folder: Path, attempt: int) -> int | None:
    """Return the rank of the process of a training that ended before all others, None where there is one rank alone or
    where that is not known. Raises OSError."""
    ranks = trained_ranks(folder, attempt)
    records = [record for record in process_records(folder, attempt) if record.pid in ranks]
    killed = [record for record in records if not record.ended]
    if len(set(ranks.values())) < 2 or not records or len(killed) > 1:
        return None
    return ranks[min(records, key=lambda record: record.ended).pid]


class _Processes:
    """What the processes of an attempt left: their records, their errors, and the ranks of those that trained."""

    def __init__(self, folder: Path, attempt: int, leftovers: Collection[int]) -> None:
        self._folder, self._attempt = folder, attempt
        self._records = [record for record in process_records(folder, attempt) if record.pid not in leftovers]
        failed = _failed(folder, attempt)
        self._errors = {pid: process for _, pid, process in failed}
        pids = {record.pid for record in self._records}
        self._ranks = {pid: rank for rank, pid, _ in failed if pid not in pids} | trained_ranks(folder, attempt)

    def failures(self) -> Iterator[Failure]:
        records = {record.pid: record for record in self._records}
        for pid, rank in self._ranks.items():
            failure = self._failure(pid, rank, records.get(pid))
            if failure and not self._has_successor(rank, failure):
                yield failure
        if not self._ranks.keys() & records.keys():
            yield from self._untrained()

    def _has_successor(self, rank: int, failure: Failure) -> bool:
        """Tell whether another process of this rank recorded a step later, and began later or came as far: a launcher
        started it again, or a script tried something else. Of a process that began before, the last steps may be
        written only as it ends."""
        begun = {record.pid: record.begun for record in self._records}
        last: dict[int, Metric] = {}
        for name in os.listdir(self._folder):
            owner = process_of(name)
            if owner and owner[:2] == (self._attempt, rank) and (metric := _last_metric(self._folder / name)):
                last[owner[2]] = metric
        reached = last[failure.pid].step if failure.pid in last else 0
        return any(
            metric.time > failure.time and (begun.get(pid, failure.time) >= failure.time or metric.step >= reached)
            for pid, metric in last.items()
            if pid != failure.pid
        )

    def _failure(self, pid: int, rank: int | None, record: ProcessRecord | None) -> Failure | None:
        if error := self._errors.get(pid):
            return Failure(time=error.time, pid=pid, rank=rank, error=error.error)
        if record is None or record.has_succeeded:
            return None
        text = f"exit code {record.code}" if record.code else ""
        return Failure(time=record.ended or record.begun, pid=pid, rank=rank, error=text)

    def _untrained(self) -> Iterator[Failure]:
        """Yield the failures of Pythons that no Python started, and after which none began that ended well."""
        pids = {record.pid for record in self._records}
        for record in self._records:
            failure = self._failure(record.pid, None, record)
            is_program = record.parent not in pids and not record.is_command
            if is_program and failure and not self._is_compensated(failure):
                yield failure

    def _is_compensated(self, failure: Failure) -> bool:
        return any(record.begun > failure.time and record.has_succeeded for record in self._records)


def _failed(folder: Path, attempt: int) -> list[tuple[int, int, FailedProcess]]:
    """Return rank, pid and failure of each process of an attempt that left one."""
    matches = [match for name in os.listdir(folder) if (match := _NAME.fullmatch(name)) and int(match[1]) == attempt]
    return [(int(match[2]), int(match[3]), _read(folder / match[0])) for match in matches]


def _read(path: Path) -> FailedProcess:
    """Only a process that failed makes the file: one that a full disk cut off tells that, too. Raises OSError."""
    unknown = FailedProcess(time=path.stat().st_mtime_ns, error=UNKNOWN)
    return files.read_as(path, FailedProcess) or unknown


def trained_ranks(folder: Path, attempt: int) -> dict[int, int]:
    """Return the rank of each process of an attempt that recorded a step, by its pid."""
    owners = [(name, process_of(name)) for name in os.listdir(folder)]
    own = [(name, owner) for name, owner in owners if owner and owner[0] == attempt]
    return {pid: rank for name, (_, rank, pid) in own if has_metric(folder / name)}


def has_metric(path: Path) -> bool:
    """Raises OSError."""
    with path.open("rb") as lines:
        return any(line.startswith(b'{"type":"metric"') for line in lines)


def _last_metric(path: Path) -> Metric | None:
    events, _ = decode(b"\n".join(last_lines(path, _END_BYTES)))
    return max((event for event in events if isinstance(event, Metric)), key=lambda event: event.time, default=None)
