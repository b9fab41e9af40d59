"""What others did on this host meanwhile: a time that was measured beside them is no time of a machine left alone."""

from __future__ import annotations

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
IDLE = (3, 4)
"""Places of idle and iowait in the line `cpu` of /proc/stat (proc(5)); guest time is in user time already."""
COUNTED = 8


class Load:
    """Begins to count when it is made."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._busy, self._own = busy_seconds(), own_seconds()

    def of_others(self) -> float:
        """Cores that other processes kept busy on average; 0 where the kernel does not tell."""
        lasted = max(time.monotonic() - self._begun, 1e-3)
        return max(0.0, (busy_seconds() - self._busy) - (own_seconds() - self._own)) / lasted


def busy_seconds(stat: Path = Path("/proc/stat")) -> float:
    """Of all cores since the host started."""
    try:
        words = stat.read_text(encoding="ascii", errors="replace").partition("\n")[0].split()[1 : COUNTED + 1]
        return sum(int(word) for place, word in enumerate(words) if place not in IDLE) / TICKS
    except (OSError, ValueError):
        return 0.0


def own_seconds() -> float:
    """Of this process and of its children that have ended."""
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system
