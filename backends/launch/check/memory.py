"""How much memory this host has left for one more process, from files alone."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

PART = 0.9
"""Of what is free: the rest is for whatever else grows meanwhile."""


def free_memory(root: Path = Path("/")) -> int:
    """Octets that a new process may take: what the kernel calls available (proc(5), /proc/meminfo), and no more than
    each memory cgroup above this process leaves (cgroups(7), versions 1 and 2). `root`: of the files read."""
    available = _numbers(root / "proc" / "meminfo").get("MemAvailable:", 0) * 1024
    return min([available, *_left_in_cgroups(root)])


def _left_in_cgroups(root: Path) -> list[int]:
    left = []
    for version, path in _cgroups(root / "proc" / "self" / "cgroup"):
        base = root / "sys" / "fs" / "cgroup" / ("memory" if version == 1 else "")
        for folder in (path, *path.parents):
            found = _left(base / str(folder).lstrip("/"), version)
            left += [] if found is None else [found]
    return left


def _cgroups(path: Path) -> list[tuple[int, PurePosixPath]]:
    found = []
    for line in _lines(path):
        _, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            found.append((1, PurePosixPath(group)))
        elif not controllers:
            found.append((2, PurePosixPath(group)))
    return found


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
