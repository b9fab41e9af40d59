"""The starts that this user asked for, one file each under XDG_STATE_HOME: what may be worked on without asking again.

Of files whose content decides what is run or written long after, such as the request of a run, the digest stays.

A run folder says of itself what it likes; an entry here says that this user started it. It names the folder by device
and inode, which a copy or another folder at the same path does not have, and the content of run.json by its digest.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from studio import files, paths, processes

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_WORKERS = 3
"""The first worker of a start and two more, where a worker was killed before anything began."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One start. `digest`: SHA-256 of run.json, hexadecimal; `time`: ns since the epoch; `workers`: the processes that
    were started for it, oldest first, as `processes.mark_of` gives them."""

    folder: str
    digest: str
    time: int
    workers: tuple[dict[str, object], ...] = ()


def record(folder: Path, worker_pid: int) -> None:
    """Record that this user started a worker for the run in `folder`. Raises OSError."""
    former = entry_of(folder)
    entry = Entry(
        folder=os.path.realpath(folder),
        digest=_digest(folder),
        time=time.time_ns(),
        workers=(*(former.workers if former else ()), processes.mark_of(worker_pid)),
    )
    path = _path(folder)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_json(path, entry, files.OWN)
    remember(folder / "run.json")


@contextmanager
def locked() -> Iterator[None]:
    """Hold the lock of the ledger, so that two windows do not revive one run twice; where it cannot be had, go on
    without: of two workers one ends at once."""
    folder = paths.state_home() / "starts"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, files.OWN)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def forget(folder: Path) -> None:
    """Remove the entry of a run that has ended: nothing of it is left to be done. A deleted folder may be named by its
    open descriptor.
    """
    with suppress(OSError):
        _path_of(folder.stat()).unlink()


def entry_of(folder: Path) -> Entry | None:
    """Return the entry of the run in `folder`; None where this user did not start it, or run.json is another one."""
    try:
        entry = files.read_as(_path(folder), Entry)
        return entry if entry and entry.digest == _digest(folder) else None
    except OSError:
        return None


def newest_folders(limit: int) -> list[Path]:
    """Return the run folders that this user started last, newest first, wherever they lie. Never raises; a folder that
    was moved or deleted since is left out. Not for the UI thread."""
    places = paths.state_home() / "starts"
    with suppress(OSError):
        records = [(record.stat().st_mtime, record) for record in places.glob("*.json")]
        newest = [record for _, record in sorted(records, reverse=True)[:limit]]
        entries = [entry for record in newest if (entry := files.read_as(record, Entry)) is not None]
        return [folder for entry in entries if (folder := Path(entry.folder)).is_dir()]
    return []


def is_own(folder: Path) -> bool:
    """Return whether this user started the run, and nobody else can have changed its folder."""
    try:
        state = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & OTHERS_WRITE
    return is_private and entry_of(folder) is not None


def is_last_worker_gone(folder: Path) -> bool:
    """Return whether the last worker that this user started for a run no longer lives on this host."""
    entry = entry_of(folder)
    mark = processes.mark_from(entry.workers[-1]) if entry and entry.workers else None
    return mark is not None and not mark.is_remote() and mark.process() is None


def may_restart(folder: Path) -> bool:
    """Return whether another worker may be started for a run of which nothing has begun."""
    entry = entry_of(folder)
    return entry is not None and is_own(folder) and len(entry.workers) < MOST_WORKERS


def remember(path: Path) -> None:
    """Record that this user wrote a file as it is now. Raises OSError."""
    record_path = _record_path(path)
    record_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_whole(record_path, b"", files.OWN)


def is_remembered(path: Path) -> bool:
    """Return whether this user wrote a file, and nobody changed it since."""
    try:
        return _record_path(path).exists()
    except OSError:
        return False


def _record_path(path: Path) -> Path:
    return paths.state_home() / "records" / hashlib.sha256(files.read_bytes(path)).hexdigest()


def _path(folder: Path) -> Path:
    return _path_of(folder.lstat())


def _path_of(state: os.stat_result) -> Path:
    return paths.state_home() / "starts" / f"{state.st_dev:x}-{state.st_ino:x}.json"


def _digest(folder: Path) -> str:
    return hashlib.sha256(files.read_bytes(folder / "run.json")).hexdigest()
