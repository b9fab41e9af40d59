"""What a program may take of this host: cores, which the kernel keeps to, and memory, which is watched."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.check.guard import resident
from studio import processes
from studio.events import Finding
from studio.supervisor import TooMuch
from studio.units import size

if TYPE_CHECKING:
    from studio.events import Journal

POLL_SECONDS = 0.2
OVER = "memory_limit"


def keep_to_cores(count: int | None) -> None:
    """This process, and all that it starts from now on, uses only so many cores: those that are idlest now. A program
    may undo it: it is no fence against a hostile one."""
    allowed = os.sched_getaffinity(0)
    if count is None or count >= len(allowed):
        return
    with suppress(OSError):
        os.sched_setaffinity(0, idlest(allowed, count))


def idlest(allowed: set[int], count: int) -> set[int]:
    before = _idle()
    time.sleep(POLL_SECONDS)
    after = _idle()
    return set(sorted(allowed, key=lambda core: before.get(core, 0) - after.get(core, 0))[:count])


def _idle() -> dict[int, int]:
    """Ticks that each core was idle, from proc(5)'s /proc/stat: user, nice, system, idle, iowait, ..."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines if line.startswith("cpu"))
    return {int(row[0][3:]): int(row[4]) for row in words if row[0][3:].isdigit()}


class Memory:
    """Ends a program whose processes together hold more than `limit` bytes. It is watched, not limited by
    setrlimit(2): RLIMIT_AS counts address space, of which the frameworks map many times what they use. What grows
    faster than twice a second is looked at meets the limits of the host instead."""

    def __init__(self, limit: int, folder: Path, journal: Journal) -> None:
        self._limit = limit
        self._folder = folder
        self._journal = journal

    def tick(self) -> None:
        """Raises TooMuch."""
        marked = processes.marked(self._folder)
        below = processes.descendants([os.getpid(), *(process.pid for process in marked)])
        pids = {process.pid for process in (*marked, *below)} - {os.getpid()}
        if sum(map(resident, pids)) <= self._limit:  # what is shared counts for each of them: the most that it can be
            return
        used = sum(map(resident_bytes, pids))
        if used > self._limit:
            args = {"count": len(pids), "used": size(used), "limit": size(self._limit)}
            self._journal.write_or_keep(Finding(rule="launch.own.over_memory", severity="error", args=args))
            raise TooMuch(OVER)


def resident_bytes(pid: int) -> int:
    """Bytes of a process in memory, what several share counted in parts, from /proc/pid/smaps_rollup of proc(5): it
    walks all pages, so it is asked only where it may decide. Kernels before 4.14 have only what is resident."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return resident(pid)
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:")), 0)
