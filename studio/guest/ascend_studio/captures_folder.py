"""The folder that msprobe writes to. msprobe refuses paths with spaces or 中文, as many users have: its dump goes into
a plain folder then, and is moved into the run step by step.

    <cache or temporary folder>/ascend-studio-capture-XXXXXXXX/    of one process, and of its user alone
        lock             held while the process lives: a folder without a holder is removed by the next capture
        msprobe.json     msprobe's configuration
        <id>/step3/…     the step that is being dumped
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib
import json
import os
import shutil
import stat
import tempfile
import time

from ascend_studio import captures

if False:
    from typing import Any, List, Optional

PREFIX = "ascend-studio-capture-"
LOCK = "lock"
DUMP = "dump.json"
# One without a lock is being made; one of another boot may be another machine's, which does not see our locks.
FRESH, OTHERS = 60.0, 86400.0
HEAD = 1 << 16  # of dump.json: says where its tensors are before it says what it holds
_own: Optional[Working] = None


class Working:
    """The plain folder of this process: msprobe reads its configuration from one place as long as it lives."""

    def __init__(self, parent: str) -> None:
        self.pid = os.getpid()
        self.path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        self._hold()

    def _hold(self) -> None:
        """Under its name the lock is held already."""
        making = os.path.join(self.path, LOCK + ".making")
        self.lock = open(making, "w")  # noqa: SIM115 - as long as the process lives
        self.lock.write(_boot())
        self.lock.flush()
        with contextlib.suppress(OSError):
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(making, os.path.join(self.path, LOCK))

    def renew(self) -> None:
        """Make the folder again where a cleaner of temporary folders removed it. Raises OSError where another is in its
        place.
        """
        if not os.path.isdir(self.path):
            os.mkdir(self.path, 0o700)
            self._hold()


def is_refused(path: str) -> bool:
    """Return whether msprobe's own check would refuse a path; it would print that into the training's output."""
    files: Any = importlib.import_module("msprobe.core.common.file_utils")
    logger = files.logger
    files.logger = _Silent()
    try:
        files.check_path_before_create(path)
        return False
    except Exception:
        return True
    finally:
        files.logger = logger


class _Silent:
    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def working(run: str, need: int) -> str:
    """Return the plain folder of this process. Raises Refused where none can be had, OSError."""
    global _own
    if _own is None or _own.pid != os.getpid():
        parents = _parents()
        for parent in parents:
            _clear(parent)
        plain = [candidate for candidate in parents if _is_safe(candidate) and not is_refused(candidate)]
        if not plain:
            raise captures.Refused("capture.no_plain_folder", folder=run)
        device = os.stat(run).st_dev
        _own = Working(min(plain, key=lambda folder: (captures.free(folder) < need, os.stat(folder).st_dev != device)))
    _own.renew()
    return _own.path


def leave() -> None:
    """Remove the folder at the end of the process."""
    if _own is not None and _own.pid == os.getpid():
        shutil.rmtree(_own.path, ignore_errors=True)


def _parents() -> List[str]:
    """Return folders for it, the best first, with links resolved."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    cache = os.path.join(cache if os.path.isabs(cache) else os.path.expanduser("~/.cache"), "ascend-studio", "captures")
    with contextlib.suppress(OSError):
        os.makedirs(cache, 0o700, exist_ok=True)
    places = (os.path.realpath(folder) for folder in (cache, tempfile.gettempdir(), "/var/tmp", "/tmp"))
    return list(dict.fromkeys(places))


def _is_safe(parent: str) -> bool:
    """Return whether we may write there, and nobody else can replace our folder."""
    try:
        mode = os.stat(parent).st_mode
    except OSError:
        return False
    others = mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(mode) and os.access(parent, os.W_OK | os.X_OK) and (not others or bool(mode & stat.S_ISVTX))


def _clear(parent: str) -> None:
    """Remove the folders of processes that were killed."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_abandoned(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(path: str) -> bool:
    try:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        age = time.time() - status.st_mtime
        try:
            file = open(os.path.join(path, LOCK))  # noqa: SIM115 - closed below
        except FileNotFoundError:
            return age > FRESH
        with file:
            if file.read(64) != _boot():
                return age > OTHERS
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:
        return False


def _boot() -> str:
    """Return the id of the running kernel, in containers too: one kernel sees all of its locks."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def move_steps(source: str, target: str, margin: int) -> None:
    """Move the dumped steps into the run, where the other ranks' dumps of the same steps may be. Raises Refused and
    OSError; what is in `target` is whole in any case.
    """
    for step in sorted(os.listdir(source)):
        folder, into = os.path.join(source, step), os.path.join(target, step)
        os.makedirs(into, exist_ok=True)
        for name in sorted(os.listdir(folder)):
            _move(os.path.join(folder, name), os.path.join(into, name), margin)
        os.rmdir(folder)


def _move(source: str, target: str, margin: int) -> None:
    _correct_paths(source, target)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, target, margin)


def _copy(source: str, target: str, margin: int) -> None:
    """Copy to another disk. Readers of dumps look for dump.json, which comes last."""
    required, left = captures.size_of(source) + margin, captures.free(os.path.dirname(target))
    if left < required:
        texts = {"free": captures.size_text(left), "wanted": captures.size_text(required)}
        raise captures.Refused("capture.no_space", **texts)
    try:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(DUMP))
        if os.path.exists(os.path.join(source, DUMP)):
            making = os.path.join(target, DUMP + ".tmp")
            shutil.copyfile(os.path.join(source, DUMP), making)
            os.replace(making, os.path.join(target, DUMP))
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    shutil.rmtree(source, ignore_errors=True)


def _correct_paths(source: str, target: str) -> None:
    """Replace the folder of the tensors that dump.json names."""
    path = os.path.join(source, DUMP)
    if not os.path.exists(path):
        return
    old, new = (json.dumps(folder)[:-1] for folder in (source, target))
    with open(path, encoding="utf-8") as file:
        head = file.read(HEAD)
        if old not in head:
            return
        with open(path + ".tmp", "w", encoding="utf-8") as making:
            making.write(head.replace(old, new, 1))
            shutil.copyfileobj(file, making)
    os.replace(path + ".tmp", path)
