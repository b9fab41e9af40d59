"""Whether a project is written for CUDA or for an NPU, by a quick look at its Python files: none of its code runs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_FILES, MAX_BYTES = 400, 400_000
_SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"))
_CUDA = re.compile(rb"\.cuda\(|torch\.cuda\b|[\"']cuda(?::\d+)?[\"']|[\"']nccl[\"']|\bcupy\b")


_TORCH_NPU = re.compile(rb"^(?:from[ \t]+|import[ \t]+(?:[\w.]+(?: as \w+)?[ \t]*,[ \t]*)*)torch_npu\b", re.MULTILINE)
"""An import that is not guarded by `try` or `if`: without torch_npu the file cannot be run."""


def uses_gpu(project: Path) -> bool:
    """Tell whether a Python file of a project uses CUDA; of a large project the first MAX_FILES are read. Not for the
    UI thread."""
    return any(_CUDA.search(_head(path)) for path in _python_files(project))


def file_for_npu(script: Path | None, project: Path | None) -> Path | None:
    """Return the file that cannot be imported without torch_npu: the script itself, else one beside it, or where no
    script is known the first of the project's; None where there is none. Not for the UI thread."""
    if script is not None and script.suffix == ".py":
        paths: Iterable[Path] = (script, *_siblings(script))
    else:
        paths = _python_files(project) if project is not None else ()
    return next((path for path in paths if _TORCH_NPU.search(_head(path))), None)


def _siblings(script: Path) -> list[Path]:
    try:
        names = sorted(name for name in os.listdir(script.parent) if name.endswith(".py") and name != script.name)
    except OSError:
        return []
    return [script.parent / name for name in names[:MAX_FILES]]


def _python_files(project: Path) -> Iterator[Path]:
    left = MAX_FILES
    for parent, folders, names in os.walk(project):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".py") and left:
                left -= 1
                yield Path(parent, name)


def _head(path: Path) -> bytes:
    try:
        with files.open_regular(path) as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""
