"""A command that is ended when it takes too much memory, time or disk, and that never outlives its worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from studio import processes
from studio.supervisor import STOP, child_environment

if TYPE_CHECKING:
    from pathlib import Path

    from studio.command import Command
    from studio.run import Run

# The worker holds the other end of this pipe: when it dies, however it dies, the whole group follows.
_SHIM = 'exec 3<&0; (cat <&3 >/dev/null; kill -KILL -$$) & "$@" </dev/null 3<&-; exit $?'
POLL_SECONDS = 0.05
CHILDREN_POLL_SECONDS = 1.0
PAGE = os.sysconf("SC_PAGE_SIZE")

Cut = Literal["", "memory", "time", "space", "stopped"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bytes that all processes together may hold resident, seconds, and bytes that stay free on the disk.

    The memory is watched, not limited by setrlimit(2): RLIMIT_AS counts the address space, of which MindSpore maps
    many times what it uses, and at either limit its allocator ends the process without a word.
    """

    memory: int
    seconds: float
    space: int


@dataclass(frozen=True, kw_only=True)
class Guarded:
    """`cut`: which limit ended it, '' where it ended by itself with `code`; `peak`: bytes, the most that was seen."""

    code: int
    cut: Cut
    peak: int
    seconds: float


def run_guarded(command: Command, run: Run, log: Path, limits: Limits) -> Guarded:
    """Runs a command in a run's folder to its end or to a limit; afterwards nothing of it is left. Raises OSError."""
    processes.become_subreaper()
    others = frozenset(process.pid for process in processes.descendants([os.getpid()]))
    begun = time.monotonic()
    with log.open("ab") as output:
        child = subprocess.Popen(
            ("/bin/sh", "-c", _SHIM, "sh", *command.argv), cwd=command.cwd, stdin=subprocess.PIPE, stdout=output,
            stderr=output, env=child_environment(run, 1, command.env), start_new_session=True,
        )  # fmt: skip
    watch = _Watch(run.folder, limits, others)
    try:
        cut = watch.until_the_end(child)
    finally:
        _end_all(run.folder, others)
        assert child.stdin is not None
        child.stdin.close()
        child.wait()
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return Guarded(code=code, cut=cut, peak=watch.peak, seconds=time.monotonic() - begun)


class _Watch:
    """`others`: children that this process had before, which are not the command's."""

    def __init__(self, folder: Path, limits: Limits, others: frozenset[int]) -> None:
        self._folder = folder
        self._others = others
        self._limits = limits
        self._end = time.monotonic() + limits.seconds
        self._pids: list[int] = []
        self._listed = 0.0
        self.peak = 0

    def until_the_end(self, child: subprocess.Popen[bytes]) -> Cut:
        while True:
            try:
                child.wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            else:
                return ""
            if cut := self._over():
                return cut

    def _over(self) -> Cut:
        used = self._resident()
        self.peak = max(self.peak, used)
        if STOP.stop_requests:
            return "stopped"
        if used > self._limits.memory:
            return "memory"
        if time.monotonic() > self._end:
            return "time"
        return "space" if shutil.disk_usage(self._folder).free < self._limits.space else ""

    def _resident(self) -> int:
        """Looking through all of /proc costs milliseconds, so who is there is asked less often."""
        now = time.monotonic()
        if now > self._listed + CHILDREN_POLL_SECONDS or len(self._pids) < 3:
            self._listed = now
            self._pids = [process.pid for process in _below(self._others)]
        return sum(map(resident, self._pids))


def resident(pid: int) -> int:
    """Bytes of a process in memory; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - twenty times a second
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _below(others: frozenset[int]) -> list[processes.Process]:
    """Also children that left the group, and those whose parent is gone: this process is their reaper."""
    return [process for process in processes.descendants([os.getpid()]) if process.pid not in others]


def _end_all(folder: Path, others: frozenset[int]) -> None:
    """Until nobody is there."""
    while members := [process for process in (*_below(others), *processes.marked(folder)) if process.state != "Z"]:
        processes.kill_all(members)
        time.sleep(0.01)


def end_left_over(folder: Path) -> None:
    """What a killed worker may have left: processes that carry the mark of a trial in this folder."""
    for trial in folder.glob("*"):
        while members := processes.marked(trial):
            processes.kill_all(members)
            time.sleep(0.01)
