"""Whether a project is written for CUDA or for an NPU, by a quick look at its Python files: none of its code runs."""

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


_TORCH_NPU = re.compile(rb"^(?:from[ \t]+|import[ \t]+(?:[\w.]+(?: as \w+)?[ \t]*,[ \t]*)*)torch_npu\b", re.MULTILINE)
"""An import that is not guarded by `try` or `if`: without torch_npu the file cannot be run."""

_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+([\w. ,\t(]+)", re.MULTILINE)


def uses_gpu(project: Path) -> bool:
    """Tell whether a Python file of a project uses CUDA; of a large project the first MAX_FILES are read. Not for the
    UI thread."""
    return any(_CUDA.search(_head(path)) for path in _python_files(project))


def file_for_npu(script: Path | None, project: Path | None) -> Path | None:
    """Return the file that cannot be imported without torch_npu: the script itself, else one that it imports, or where
    no script is known the first of the project's; None where there is none. Not for the UI thread."""
    if script is not None and script.suffix == ".py":
        return next((path for path, text in _imported(script) if _TORCH_NPU.search(text)), None)
    paths = _python_files(project) if project is not None else ()
    return next((path for path in paths if _TORCH_NPU.search(_head(path))), None)


def _imported(script: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield a script and the files below its folder that it imports by statements, with their texts."""
    waiting, visited = [script], {script}
    while waiting and len(visited) <= MAX_FILES:
        path = waiting.pop(0)
        text = _head(path)
        yield path, text
        for module in dict.fromkeys(_imported_modules(text)):
            for file in (*_files_of(script.parent, module), *_files_of(path.parent, module)):
                if file not in visited:
                    waiting.append(file)
                    visited.add(file)


def _imported_modules(text: bytes) -> Iterator[str]:
    """Yield the modules of the import statements of a file; of `from a import b` also a.b, which may be one."""
    for match in _IMPORT.finditer(text):
        package, names = ((group or b"").decode("utf-8", "replace").strip(".") for group in match.groups())
        if package:
            yield package
        for words in (name.split() for name in names.strip("( ").split(",")):
            if words:
                yield f"{package}.{words[0]}" if package else words[0]


def _files_of(folder: Path, module: str) -> list[Path]:
    """Return the files of a module and of the packages that it lies in, below a folder."""
    path, paths = folder, []
    for name in module.split("."):
        path = path / name
        paths += [path.parent / f"{name}.py", path / "__init__.py"]
    return [path for path in paths if files.is_file(path)]


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
