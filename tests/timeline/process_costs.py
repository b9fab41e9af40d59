"""A command measured from outside: processor time and memory of it and of all that it starts."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, kw_only=True)
class Measured:
    """`cpu`: user and system seconds, children that were waited for included. `private`: the most MB of anonymous
    memory that the tree held at once, `resident`: the most MB of the first process, both as sampled. (`ru_maxrss` would
    begin with what the process that starts it has.)"""

    code: int
    out: str
    error: str
    cpu: float
    private: float
    resident: float


def measure(
    line: Sequence[str], *, seconds: float = 600, pause: float = 0.005, prepare: Callable[[], Any] | None = None
) -> Measured:
    """Runs a command to its end; one that takes longer than `seconds` is killed, and its code is -9."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=out, stderr=error, preexec_fn=prepare)
        code, usage, private, resident = _followed(child.pid, seconds, pause)
        child.returncode = code
        texts = []
        for file in (out, error):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(code=code, out=texts[0], error=texts[1], cpu=cpu, private=private, resident=resident)


def _followed(pid: int, seconds: float, pause: float) -> tuple[int, Any, float, float]:
    end, private, resident = time.monotonic() + seconds, 0.0, 0.0
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage, private, resident
        private, resident = max(private, private_of(pid)), max(resident, _megabytes(pid, "VmHWM:"))
        if time.monotonic() > end:
            os.kill(pid, 9)
        time.sleep(pause)


def private_of(pid: int) -> float:
    """MB of anonymous memory of a process and its children; 0 where it is gone."""
    return _megabytes(pid, "RssAnon:") + sum(map(private_of, _children(pid)))


def _megabytes(pid: int, line: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0.0
    return sum(int(one.split()[1]) for one in lines if one.startswith(line)) / 1024


def _children(pid: int) -> list[int]:
    processes: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            processes += map(int, task.read_text("ascii").split())
        except OSError:
            continue
    return processes
