"""What this host has left for one more process, and what others do on it meanwhile, from files alone.

A time that was measured beside others is no time of a machine left alone.
"""

from __future__ import annotations

import os
import time
from pathlib import Path, PurePosixPath

PART = 0.9
"""Share of the free memory: the rest is for whatever else grows meanwhile."""
TICKS = os.sysconf("SC_CLK_TCK")
IDLE = (3, 4)
"""Places of idle and iowait in the line `cpu` of /proc/stat (proc(5)); guest time is in user time already."""
COUNTED = 8


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that a new process may take: what the kernel calls available (proc(5), /proc/meminfo), and no more than
    each memory cgroup above this process leaves (cgroups(7), versions 1 and 2). `root`: of the files read."""
    available = _numbers(root / "proc" / "meminfo").get("MemAvailable:", 0) * 1024
    return min([available, *_left_in_cgroups(root)])


def _left_in_cgroups(root: Path) -> list[int]:
    left = []
    for version, path in _cgroups(root / "proc" / "self" / "cgroup"):
        base = root / "sys" / "fs" / "cgroup" / ("memory" if version == 1 else "")
        for folder in (path, *path.parents):
            remaining = _left(base / str(folder).lstrip("/"), version)
            left += [] if remaining is None else [remaining]
    return left


def _cgroups(path: Path) -> list[tuple[int, PurePosixPath]]:
    remaining = []
    for line in _lines(path):
        _, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            remaining.append((1, PurePosixPath(group)))
        elif not controllers:
            remaining.append((2, PurePosixPath(group)))
    return remaining


def _left(folder: Path, version: int) -> int | None:
    """None where the group has no limit, or is not to be seen from here. Cached files are given up on demand."""
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    limit_name, used_name, cached_name = names if version == 1 else ("memory.max", "memory.current", "inactive_file")
    limit, used = "".join(_lines(folder / limit_name)), "".join(_lines(folder / used_name))
    if not limit.isdigit() or not used.isdigit():
        return None
    cached = _numbers(folder / "memory.stat").get(cached_name, 0)
    return max(0, int(limit) - int(used) + cached)


def _numbers(path: Path) -> dict[str, int]:
    words = (line.split() for line in _lines(path))
    return {pair[0]: int(pair[1]) for pair in words if len(pair) >= 2 and pair[1].isdigit()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


class Load:
    """Begins to count when it is made."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._busy, self._own = busy_seconds(), own_seconds()

    def cores_of_others(self) -> float:
        """Cores that other processes kept busy on average; 0 where the kernel does not tell."""
        lasted = max(time.monotonic() - self._begun, 1e-3)
        return max(0.0, (busy_seconds() - self._busy) - (own_seconds() - self._own)) / lasted


def busy_seconds(stat: Path = Path("/proc/stat")) -> float:
    """Return the busy seconds of all cores since the host started."""
    try:
        words = stat.read_text(encoding="ascii", errors="replace").partition("\n")[0].split()[1 : COUNTED + 1]
        return sum(int(word) for column, word in enumerate(words) if column not in IDLE) / TICKS
    except (OSError, ValueError):
        return 0.0


def own_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
