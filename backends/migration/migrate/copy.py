"""A copy of a project with the changes in it: whole under its name, or not there."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from studio.errors import StudioError, from_os
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.migrate.result import Replaced

_LEFT_OUT = {".git", ".hg", ".svn", ".ascend-studio", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache"}


def making_of(target: Path) -> Path:
    """Where the copy stands until it is whole; what a kill left there goes with the next try."""
    return target.with_name(f".{target.name}.making")


def write_copy(folder: Path, target: Path, replaced: Sequence[Replaced]) -> None:
    """Raises StudioError; then `target` is not there."""
    making = making_of(target)
    try:
        if target.is_dir() and not target.is_symlink():
            target.rmdir()  # an empty one
        shutil.rmtree(making, ignore_errors=True)
        _check_room(folder, target)
        making.parent.mkdir(parents=True, exist_ok=True)
        _copy(folder, making)
        for one in replaced:
            _write_into(making / one.path, one.after)
        making.rename(target)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        if error.filename and Path(error.filename).is_relative_to(folder):  # of the project, and only read
            raise StudioError("error.file", path=error.filename, reason=error.strerror) from error
        raise from_os(error, target) from error


def _write_into(path: Path, data: bytes) -> None:
    """Keeps the file's mode; the copy is not there under its name yet."""
    with path.open("r+b") as file:
        file.truncate()
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def entries(folder: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Everything that a copy holds, folders before what is in them, with its path relative to the project."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(folder / inside) as listed:
            for entry in listed:
                path = f"{inside}/{entry.name}" if inside else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in _LEFT_OUT or (is_folder and _is_environment(entry.path)):
                    continue
                yield entry, path
                if is_folder:
                    waiting.append(path)


def _is_environment(path: str) -> bool:
    return any(Path(path, name).exists() for name in ("pyvenv.cfg", "conda-meta"))


def _copy(folder: Path, making: Path) -> None:
    making.mkdir()
    for entry, path in entries(folder):
        target = making / path
        if entry.is_symlink():
            target.symlink_to(Path(entry.path).readlink())
        elif entry.is_dir(follow_symlinks=False):
            target.mkdir()
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            shutil.copy2(entry.path, target)
            target.chmod(target.stat().st_mode | stat.S_IWUSR)


def _check_room(folder: Path, target: Path) -> None:
    """Raises StudioError before a disk is filled."""
    needed = sum(entry.stat(follow_symlinks=False).st_size for entry, _ in entries(folder))
    above = next(parent for parent in target.parents if parent.exists())
    free = shutil.disk_usage(above).free
    if needed > free:
        raise StudioError("migration.migrate.no_room", needed=size(needed), free=size(free))
