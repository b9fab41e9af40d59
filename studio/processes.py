"""Processes of this host, as /proc shows them: which are alive, which descend from which, and how to end them all.

A pid alone identifies a process only for a while: a process is its pid and its start time, in this boot and pid
namespace.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN_VARIABLE = "ASCEND_STUDIO_RUN"
WORKER_VARIABLE = "ASCEND_STUDIO_WORKER"
ATTEMPT_VARIABLE = "ASCEND_STUDIO_ATTEMPT"
LARGEST_MARK = 1 << 16
"""Bytes of the record of a process."""
FOLDER_DESCRIPTOR = 3
"""By which a shim holds the run's folder open."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, kw_only=True)
class Process:
    """`start`: clock ticks after boot, as field 22 of /proc/<pid>/stat gives it."""

    pid: int
    parent: int
    start: int
    state: str


def process(pid: int) -> Process | None:
    """Return the process with this pid now, also a zombie, or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - a Path costs more than the read
            text = file.read()
    except OSError:
        return None
    rest = text[text.rindex(b")") + 2 :].split()
    return Process(pid=pid, parent=int(rest[1]), start=int(rest[19]), state=rest[0].decode())


def everyone() -> list[Process]:
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [running for pid in pids if (running := process(pid)) is not None]


def descendants(roots: Iterable[int]) -> list[Process]:
    """Return all processes below these pids, without the roots themselves."""
    children: dict[int, list[Process]] = {}
    for candidate in everyone():
        children.setdefault(candidate.parent, []).append(candidate)
    children_: list[Process] = []
    waiting = list(roots)
    while waiting:
        for child in children.pop(waiting.pop(), []):
            children_.append(child)
            waiting.append(child.pid)
    return children_


def marked(folder: Path) -> list[Process]:
    """Return this user's processes that carry this run in their environment: a later worker finds by it what it did
    not start."""
    variable = _run_setting(folder)
    return [candidate for candidate in everyone() if candidate.state != "Z" and _carries(candidate.pid, variable)]


def is_of_run(target: Process, folder: Path) -> bool:
    """Return whether a process belongs to this user and was started for the training of the run in `folder`: by its
    environment or, where the folder was moved since, as a shim that holds it open."""
    return is_same(target) and (_carries(target.pid, _run_setting(folder)) or _is_shim_of(target.pid, folder))


def _is_shim_of(pid: int, folder: Path) -> bool:
    if not _read(pid, "cmdline").startswith(b"/bin/sh\0-c\0") or not _is_own(pid):
        return False
    try:
        return os.path.samefile(f"/proc/{pid}/fd/{FOLDER_DESCRIPTOR}", folder)  # noqa: PTH121 - a link
    except OSError:
        return False


def run_folder_of(target: Process) -> Path | None:
    """Return the run folder that a process has in its environment: where it was when the process was started."""
    beginning = os.fsencode(f"{RUN_VARIABLE}=")
    settings = [setting for setting in _read(target.pid, "environ").split(b"\0") if setting.startswith(beginning)]
    return Path(os.fsdecode(settings[0].removeprefix(beginning))) if settings else None


def is_worker_of(target: Process, folder: Path) -> bool:
    """Return whether a process belongs to this user and is a worker of the run in `folder`: by its command line, and
    by its environment or its working directory, which goes where the folder goes."""
    if not is_same(target) or b"work" not in _read(target.pid, "cmdline").split(b"\0"):
        return False
    setting = os.fsencode(f"{WORKER_VARIABLE}={os.path.realpath(folder)}")
    if _carries(target.pid, setting):
        return True
    try:
        return _is_own(target.pid) and os.path.samefile(f"/proc/{target.pid}/cwd", folder)  # noqa: PTH121 - a link
    except OSError:
        return False


def may_be_worker_of(target: Process, folder: Path) -> bool:
    """Return whether a process can be the worker of a run: one of this user must show it, see `is_worker_of`; nothing
    can be told of somebody else's."""
    return not _is_own(target.pid) or is_worker_of(target, folder)


def _run_setting(folder: Path) -> bytes:
    return os.fsencode(f"{RUN_VARIABLE}={os.path.realpath(folder)}")


def _carries(pid: int, setting: bytes) -> bool:
    """Return whether a process of this user has a setting in its environment."""
    return setting in _read(pid, "environ").split(b"\0") and _is_own(pid)


def _is_own(pid: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()  # noqa: PTH116 - a Path costs more than the call
    except OSError:
        return False


def _read(pid: int, name: str) -> bytes:
    """Return a file of /proc/<pid>, b"" where the process is gone or somebody else's."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def become_subreaper() -> None:
    """Make orphans below this process its children instead of those of pid 1. Best effort: old kernels lack it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap() -> dict[int, int]:
    """Return the exit codes of children that ended, by pid, so that no zombies stay; minus its number for a signal."""
    codes: dict[int, int] = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    return codes


def _handle(pid: int) -> int | None:
    """Return a pidfd, or None where the process is gone or the kernel (before 5.3) or Python has none."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None


def is_same(target: Process) -> bool:
    """Return whether this very process still runs and is no zombie."""
    now = process(target.pid)
    return now is not None and now.start == target.start and now.state != "Z"


def send(target: Process, number: int) -> None:
    """Send a signal to exactly this process, never to a later one with its pid."""
    handle = _handle(target.pid)
    try:
        if not is_same(target):
            return
        if handle is None:
            os.kill(target.pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        if handle is not None:
            os.close(handle)


def kill_all(members: Iterable[Process]) -> None:
    """Freeze all processes first, so that forkers cannot run away, then kill them."""
    members = list(members)
    for member in members:
        send(member, signal.SIGSTOP)
    for member in members:
        send(member, signal.SIGKILL)


def wait_end(target: Process, seconds: float) -> bool:
    """Return whether a process, a child of ours or not, ended within this time."""
    handle = _handle(target.pid)
    try:
        if not is_same(target):
            return True
        if handle is None:
            time.sleep(min(seconds, 0.05))
            return not is_same(target)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        if handle is not None:
            os.close(handle)


@dataclass(frozen=True, kw_only=True)
class HostIdentity:
    """Where a pid means something: this host, this boot, this pid namespace."""

    host: str
    boot: str
    namespace: str


def current_host() -> HostIdentity:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123
            boot = file.read().strip()
        return HostIdentity(host=os.uname().nodename, boot=boot, namespace=str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        return HostIdentity(host=os.uname().nodename, boot="", namespace="")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """The record of a process on disk, by which a later studio recognises it. `is_copy`: its folder is a copy of the
    folder in which it was written, with which the process has nothing to do.
    """

    pid: int
    start: int
    host: HostIdentity
    attempt: int = 1
    is_copy: bool = False

    def is_local(self) -> bool:
        return self.host == current_host()

    def is_remote(self) -> bool:
        """Return whether the process is on a host or in a container that this studio cannot see. An earlier boot of
        this host is not remote.
        """
        now = current_host()
        return self.host.host != now.host or (self.host.boot == now.boot and self.host.namespace != now.namespace)

    def process(self) -> Process | None:
        """Return the living process that this mark stands for."""
        now = process(self.pid) if self.is_local() and not self.is_copy else None
        return now if now and now.start == self.start and now.state != "Z" else None


def mark_of(pid: int, attempt: int = 1) -> dict[str, Any]:
    """Return the mark of a process as JSON keeps it. One that is gone already gets start 0, which no process has."""
    running = process(pid)
    start = running.start if running else 0
    return {"pid": pid, "start": start, "place": vars(current_host()), "attempt": attempt}


def mark_from(value: Any) -> Mark | None:
    """Return the mark in a JSON value; None where it holds none."""
    try:
        home = HostIdentity(**{name: str(value["place"][name]) for name in ("host", "boot", "namespace")})
        return Mark(pid=int(value["pid"]), start=int(value["start"]), host=home, attempt=int(value["attempt"]))
    except (TypeError, KeyError, ValueError):
        return None


def write_mark(path: Path, pid: int, attempt: int = 1) -> None:
    """Write the mark of a process into the folder that it works on. Raises OSError."""
    files.write_json(path, mark_of(pid, attempt) | {"folder": path.parent.stat().st_ino})


def read_mark(path: Path) -> Mark | None:
    """Return the mark in a file; None where it holds none."""
    value = files.read_json(path, LARGEST_MARK)
    mark = mark_from(value)
    return replace(mark, is_copy=True) if mark and _is_copied(path, value) else mark


def _is_copied(path: Path, value: dict[str, Any]) -> bool:
    """Return whether a mark names another folder than the one it lies in: a folder that is moved keeps its inode."""
    try:
        return value.get("folder") not in (None, path.parent.stat().st_ino)
    except OSError:
        return False
