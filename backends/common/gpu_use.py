"""Whether a project is written for CUDA, by a quick look at its Python files: none of its code runs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILES, MAX_BYTES = 400, 400_000
_SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"))
_CUDA = re.compile(rb"\.cuda\(|torch\.cuda\b|[\"']cuda(?::\d+)?[\"']|[\"']nccl[\"']|\bcupy\b")


def uses_gpu(project: Path) -> bool:
    """Tell whether a Python file of a project uses CUDA; of a large project the first MAX_FILES are read. Not for the
    UI thread."""
    return any(_CUDA.search(text) for text in _texts(project))


def _texts(project: Path) -> Iterator[bytes]:
    left = MAX_FILES
    for parent, folders, names in os.walk(project):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".py") and left:
                left -= 1
                yield _head(Path(parent, name))


def _head(path: Path) -> bytes:
    try:
        with files.open_regular(path) as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""
