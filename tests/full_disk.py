"""A disk that takes no more bytes, for tests of any user: no file of this process may grow beyond a size."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def limited_files(size: int, pid: int = 0) -> Iterator[None]:
    """Let no file of a process (0: this one) grow beyond `size` bytes meanwhile; it gets what fits and then EFBIG."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
