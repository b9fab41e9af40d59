"""Digests of the source files of a project, kept with each run: a project without git, or with files that git does not
know yet, says of two runs which of their files differ."""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from studio import files
from studio.code.state import is_private

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CODE = (".py", ".pyx", ".sh", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp")
# What a training writes itself is mostly json, too: only names of settings count.
_SETTINGS = re.compile(r".+\.(ya?ml|toml|cfg|ini)|.*(config|cfg|args|params).*\.json", re.IGNORECASE)
_ENVIRONMENT = frozenset(("pyvenv.cfg", "conda-meta"))
SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages"))
MAX_FILES = 2000
MAX_ENTRIES = 50_000
MAX_FILE_BYTES = 4_000_000
MAX_SECONDS = 5.0
"""No start waits longer for a project, however slow its disk."""
LENGTH = 16


class _TooLargeError(Exception):
    """Raised where a folder is no project of one training."""


def digests_of(folder: Path) -> dict[str, str] | None:
    """Return digests of the source files below a folder by relative path, with "/", and "" for a file that cannot be
    read; None where there are more than MAX_FILES, or where reading takes longer than MAX_SECONDS.

    Links to folders, folders that begin with a dot, environments and what is named like a secret are left out."""
    deadline, digests = time.monotonic() + MAX_SECONDS, dict[str, str]()
    try:
        for path in _source_files(folder, deadline):
            digests[path.encode("utf-8", "backslashreplace").decode()] = digest_of(folder / path)
            if len(digests) > MAX_FILES or time.monotonic() > deadline:
                return None
    except _TooLargeError:
        return None
    return digests


def is_code(path: str) -> bool:
    """Tell whether a file is code, rather than settings, which a training may write itself."""
    return path.endswith(CODE)


def _source_files(folder: Path, deadline: float) -> Iterator[str]:
    """Raises _TooLargeError."""
    pending, count = [""], 0
    while pending:
        parent = pending.pop()
        entries = _entries(folder / parent)
        count += len(entries)
        if count > MAX_ENTRIES or time.monotonic() > deadline:
            raise _TooLargeError
        if _ENVIRONMENT & entries.keys():
            continue
        for entry in entries.values():
            path = f"{parent}/{entry.name}" if parent else entry.name
            if entry.is_dir(follow_symlinks=False):
                pending += [] if entry.name.startswith(".") or entry.name in SKIPPED else [path]
            elif _is_source(entry.name) and entry.is_file() and not is_private(path):
                yield path


def _is_source(name: str) -> bool:
    return is_code(name) or bool(_SETTINGS.fullmatch(name))


def _entries(folder: Path) -> dict[str, os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return {entry.name: entry for entry in sorted(listed, key=lambda entry: entry.name)}
    except OSError:
        return {}


def digest_of(path: Path) -> str:
    """Return the digest of a file of at most MAX_FILE_BYTES, "" where it cannot be read."""
    with suppress(OSError):
        return hashlib.sha256(files.read_bytes(path, MAX_FILE_BYTES)).hexdigest()[:LENGTH]
    return ""
