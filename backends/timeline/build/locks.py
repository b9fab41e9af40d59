"""Locks between processes, on files next to what they guard. Some network file systems have none."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


@dataclass(eq=False)
class Lock:
    """A lock that is held until it is closed or garbage-collected. `real`: False where the file system has no locks."""

    descriptor: int
    real: bool

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def lock(path: Path, *, shared: bool = False, wait: bool = True) -> Lock | None:
    """Return the lock, or None where another process holds it and `wait` is False. The lock file is created; only its
    exclusive holder may remove it, so a lock on a removed file is taken again. Raises OSError."""
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            real = _flock(descriptor, how)
            if _same(descriptor, path):
                held = Lock(descriptor, real)
                descriptor = -1
                return held
        except BlockingIOError:
            return None
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _flock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
