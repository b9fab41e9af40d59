"""A copy of a project with the changes applied: complete under its name, or absent."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.errors import StudioError, from_os
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.migrate.replaced_files import ReplacedFile

_SKIPPED = {".git", ".hg", ".svn", ".ascend-studio", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache"}


def unfinished_copy(target: Path) -> Path:
    """Return where the copy stands until it is complete; the next attempt removes what an interrupted one left
    there."""
    return target.with_name(f".{target.name}.making")


def write_copy(folder: Path, target: Path, replaced: Sequence[ReplacedFile]) -> None:
    """Copy the project and write the changed files. Raises StudioError; `target` does not exist then."""
    making = unfinished_copy(target)
    try:
        if target.is_dir() and not target.is_symlink():
            target.rmdir()  # The spec allows only an empty one.
        shutil.rmtree(making, ignore_errors=True)
        _check_room(folder, target)
        making.parent.mkdir(parents=True, exist_ok=True)
        _copy(folder, making)
        for file in replaced:
            _write_into(making / file.path, file.after, "xb" if file.is_new else "r+b")
        making.rename(target)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        if error.filename and Path(error.filename).is_relative_to(folder):  # The project is only read.
            raise StudioError("error.file", path=error.filename, reason=error.strerror) from error
        raise from_os(error, target) from error


def _write_into(path: Path, data: bytes, mode: Literal["xb", "r+b"]) -> None:
    """Write a file, or overwrite one and keep its mode; the copy does not have its final name yet."""
    with path.open(mode) as file:
        file.truncate()
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def copied_entries(folder: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield everything that a copy holds with its path relative to the project, each folder before its contents."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(folder / inside) as listed:
            for entry in listed:
                path = f"{inside}/{entry.name}" if inside else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in _SKIPPED or (is_folder and _is_environment(entry.path)):
                    continue
                yield entry, path
                if is_folder:
                    waiting.append(path)


def _is_environment(path: str) -> bool:
    return any(Path(path, name).exists() for name in ("pyvenv.cfg", "conda-meta"))


def _copy(folder: Path, making: Path) -> None:
    making.mkdir()
    for entry, path in copied_entries(folder):
        target = making / path
        if entry.is_symlink():
            target.symlink_to(Path(entry.path).readlink())
        elif entry.is_dir(follow_symlinks=False):
            target.mkdir()
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            shutil.copy2(entry.path, target)
            target.chmod(target.stat().st_mode | stat.S_IWUSR)


def _check_room(folder: Path, target: Path) -> None:
    """Raise StudioError before a disk is filled."""
    needed = sum(entry.stat(follow_symlinks=False).st_size for entry, _ in copied_entries(folder))
    above = next(parent for parent in target.parents if parent.exists())
    free = shutil.disk_usage(above).free
    if needed > free:
        raise StudioError("migration.migrate.no_room", needed=size(needed), free=size(free))
