"""Records that could not be written, as on a full disk.

They wait in memory until the disk has room, so that a disk that is full for minutes costs nothing. What finds no room
here either is counted: the first write that succeeds also writes how many points are missing, and between which steps.
Until then a link beside the event file says what is not written yet, for a process that ends or is killed before; a
full disk has room for a link. The worker reads it, see lost_records.py of the studio.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict

LIMIT = 1 << 20  # bytes of points that wait; half of that again for other records, which are few and matter more
EVERY = 0.5  # seconds between two tries

_METRIC = b'{"type":"metric"'
_PROGRESS = b'{"type":"progress"'
_STEP = rb'"step":(-?\d+)'  # compiled where it is needed: every start of a Python would pay for it


class Backlog:
    """The records of one process that wait. `path`: its event file; `begun`: what is written of the first of them."""

    def __init__(self, path: str, begun: bytes, reason: int) -> None:
        folder, name = os.path.split(path)
        self.link = os.path.join(folder, re.sub(r"^events(.*)\.jsonl$", r"lost\1", name))
        self.begun = begun
        self.waiting = bytearray()
        self.reason = reason
        self.lost = dict.fromkeys(("points", "first", "last", "others"), 0)
        self.is_writing = False
        self.due = 0.0

    def add(self, line: bytes) -> None:
        """Keep a line, or count it. After the first point that is lost none is kept, so that there is one gap."""
        is_point = line.startswith(_METRIC)
        room = LIMIT if is_point else LIMIT + LIMIT // 2
        if len(self.waiting) + len(line) <= room and not (is_point and self.lost["points"]):
            self.waiting += line
        else:
            _count(self.lost, line)

    def write(self, write: Callable[[bytes], int]) -> bool:
        """Write what waits, then what was lost. Return whether nothing is left. `write` returns how many bytes it wrote
        or raises OSError.
        """
        self.is_writing = True
        try:
            while self.waiting:
                data = bytes(self.waiting)
                written = write(data)
                self.begun = (self.begun + data[:written]).rpartition(b"\n")[2]
                del self.waiting[:written]
            self._write_lost(write)
        except OSError as error:
            self.reason = error.errno or 0
            self.leave_link()
        finally:
            self.is_writing = False
        return not self.waiting and not any(self.lost.values())

    def _write_lost(self, write: Callable[[bytes], int]) -> None:
        if any(self.lost.values()):
            findings = _findings(self.lost, self.reason)
            written = write(findings)
            self.lost = dict.fromkeys(self.lost, 0)
            self.begun = findings[:written].rpartition(b"\n")[2]
            self.waiting[:0] = findings[written:]

    def leave_link(self) -> None:
        """Leave what would be missing if the process ended now."""
        self.due = time.monotonic() + EVERY
        counts = dict.fromkeys(self.lost, 0)
        _count(counts, self.begun + self.waiting)
        if self.lost["points"]:
            counts["first"] = counts["first"] if counts["points"] else self.lost["first"]
            counts["last"] = self.lost["last"]
        counts["points"] += self.lost["points"]
        counts["others"] += self.lost["others"]
        text = " ".join(["%s=%d" % pair for pair in counts.items()]) + " errno=%d" % self.reason
        making = self.link + ".tmp"
        with contextlib.suppress(OSError):
            os.symlink(text, making)
            os.replace(making, self.link)

    def remove_link(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.link)


def _count(counts: Dict[str, int], lines: bytes) -> None:
    """Add what whole lines hold; no string in JSON holds the beginning of a record."""
    points = lines.count(_METRIC)
    counts["others"] += lines.count(b"\n") - points - lines.count(_PROGRESS)
    if points:
        first, last = (re.search(_STEP, lines[place:]) for place in (lines.find(_METRIC), lines.rfind(_METRIC)))
        if first and last:
            counts["first"] = counts["first"] if counts["points"] else int(first.group(1))
            counts["last"] = int(last.group(1))
        counts["points"] += points


def _findings(lost: Dict[str, int], reason: int) -> bytes:
    """Return the records that tell what was lost."""
    why = "run.why.disk_full" if reason in (errno.ENOSPC, errno.EDQUOT) else os.strerror(reason)
    points = {name: lost[name] for name in ("points", "first", "last")}
    others = {"others": lost["others"]}
    parts = (("run.points_lost", points, lost["points"]), ("run.others_lost", others, lost["others"]))
    return b"".join([_finding(rule, dict(args, why=why)) for rule, args, count in parts if count])


def _finding(rule: str, args: Dict[str, Any]) -> bytes:
    record = {"type": "finding", "time": time.time_ns(), "rule": rule, "severity": "warning", "path": "", "line": 0}
    return json.dumps(dict(record, args=args), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
