"""What the processes of a run could not record, as on a full disk.

A process of the training keeps such records for a while, see `backlog.py` of the guest. What it could not keep it
counts and tells in a finding as soon as it can write again; a process that ends before leaves the count as the target
of a link, for which a full disk has room: `points=111 first=60 last=200 others=0 errno=28`.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeGuard

from studio.events import Finding, attempt_and_rank, decode
from studio.sentences import sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.events import Event, Journal

POINTS, OTHERS = RULES = ("run.points_lost", "run.others_lost")
FULL = "run.why.disk_full"
_LINK = re.compile(r"lost\.a\d{1,9}\.r\d{1,9}\.p\d{1,10}")
_END_OF_LINE = re.compile(rb'"rule":"run\.(?:points|others)_lost"[^\n]*')
_COUNT = re.compile(r"(points|first|last|others|errno)=(-?\d{1,18})")


@dataclass(frozen=True, kw_only=True)
class LostRecords:
    """`points`: lost metrics, from step `first` to step `last`, which say nothing where there are none. `others`: lost
    notes, findings and artifacts. `why`: a key of the catalogue, or what the system says.
    """

    points: int = 0
    first: int = 0
    last: int = 0
    others: int = 0
    why: str = ""

    def __bool__(self) -> bool:
        return self.points > 0 or self.others > 0

    def __add__(self, other: LostRecords) -> LostRecords:
        ranges = [(part.first, part.last) for part in (self, other) if part.points]
        return LostRecords(
            points=self.points + other.points,
            first=min((first for first, _ in ranges), default=0),
            last=max((last for _, last in ranges), default=0),
            others=self.others + other.others,
            why=other.why or self.why,
        )

    def findings(self) -> tuple[Finding, ...]:
        points = {"points": self.points, "first": self.first, "last": self.last, "why": self.why}
        others = {"others": self.others, "why": self.why}
        parts = ((POINTS, points, self.points), (OTHERS, others, self.others))
        return tuple(Finding(rule=rule, severity="warning", args=args) for rule, args, count in parts if count)

    def sentences(self) -> list[str]:
        """Return what was lost and why."""
        return [sentence_of(finding) for finding in self.findings()]


NOTHING = LostRecords()


def is_loss(event: Event) -> TypeGuard[Finding]:
    return isinstance(event, Finding) and event.rule in RULES


def lost_in(events: Iterable[Event]) -> LostRecords:
    """Return all that findings of lost records tell, from any number of processes."""
    parts = (_from_args(event.args) for event in events if is_loss(event))
    return reduce(LostRecords.__add__, parts, NOTHING)


def lost_of(folder: Path) -> LostRecords:
    """Return what a run has lost. Its event files are searched, not decoded: they may be large."""
    try:
        paths = [folder / name for name in os.listdir(folder) if attempt_and_rank(name)]
    except OSError:
        return NOTHING
    return lost_in(event for path in paths for event in _findings_in(path))


def _findings_in(path: Path) -> list[Event]:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            ends = [(data.rfind(b"\n", 0, match.start()) + 1, match.end()) for match in _END_OF_LINE.finditer(data)]
            lines = [data[begin:end] for begin, end in ends]
    except (OSError, ValueError):  # an empty file cannot be mapped
        return []
    return decode(b"\n".join(lines))[0]


def collect(folder: Path, journal: Journal) -> None:
    """Turn the links that ended processes left into findings of the run. Raises OSError."""
    for name in sorted(os.listdir(folder)):
        if _LINK.fullmatch(name):
            if lost := _from_link(folder / name):
                journal.write(*lost.findings())
            (folder / name).unlink(missing_ok=True)


def _from_link(path: Path) -> LostRecords:
    try:
        counts = {name: int(number) for name, number in _COUNT.findall(str(path.readlink()))}
    except OSError:
        return NOTHING
    reason = counts.pop("errno", errno.ENOSPC)
    return LostRecords(why=FULL if reason in (errno.ENOSPC, errno.EDQUOT) else os.strerror(reason), **counts)


def _from_args(args: dict[str, Any]) -> LostRecords:
    """Return what a finding says; numbers of a damaged one count as none."""
    counts = {name: args.get(name) for name in ("points", "first", "last", "others")}
    plain = {name: value for name, value in counts.items() if isinstance(value, int)}
    return LostRecords(why=str(args.get("why", "")), **plain)
