"""The files of a project that are scanned, in a stable order."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.migration.scan.source_kinds import (
    LONGEST_SCRIPT,
    kind_of,
    kind_of_first_line,
    max_bytes,
)
from backends.migration.scan.text_files import UnreadableFile, read_regular_file, too_large_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.source_kinds import SourceKind

SKIPPED = {
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".ascend-studio", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".tox", ".nox", ".ipynb_checkpoints", ".eggs", "site-packages", ".idea",
}  # fmt: skip
_ENVIRONMENT = {"pyvenv.cfg", "conda-meta"}
_BUILT = re.compile(r"CMakeCache\.txt|lib|lib\..+|temp\..+|bdist\..+|.+\.(whl|tar\.gz|o|a|so)")


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """`path`: relative, with "/", every name in it writable as JSON; `real`: what the system calls the file.
    `stamp` changes when the file's content does: inode, size, times of the content and of the inode in ns."""

    path: str
    real: str
    kind: SourceKind
    size: int
    stamp: tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class SkippedFile:
    """What was not read, and why: `key` and `args` make the sentence."""

    path: str
    key: str
    args: dict[str, str]


def walk_project(folder: Path) -> Iterator[SourceFile | SkippedFile]:
    """Yield all files that a scanner exists for, folder by folder, by name; of a file itself that one. Never raises.

    Links are not followed: a target inside the project is visited anyway, and one outside belongs to somebody else.
    """
    if folder.is_file():
        yield from _list_single(folder)
        return
    root = os.path.realpath(folder)
    visited: set[tuple[int, int]] = set()
    pending = [(root, "")]
    while pending:
        real, path = pending.pop()
        try:
            is_new = _is_first_visit(real, visited)
            with os.scandir(real) as listed:
                entries = sorted(listed, key=lambda entry: entry.name) if is_new else []
        except OSError as error:
            yield _unreadable(path or ".", error)
            continue
        if path and _is_generated({entry.name for entry in entries}, os.path.basename(real)):  # noqa: PTH119
            continue
        folders = []
        for entry in entries:
            visible_path = path + _visible_name(entry.name)
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and not entry.name.endswith(".egg-info"):
                        folders.append((entry.path, visible_path + "/"))
                else:
                    yield from _list_file(entry, visible_path, root)
            except OSError as error:
                yield _unreadable(visible_path, error)
        pending += reversed(folders)


def _list_single(file: Path) -> Iterator[SourceFile | SkippedFile]:
    real = os.path.realpath(file)
    try:
        with os.scandir(os.path.dirname(real)) as listed:  # noqa: PTH120
            entry = next(entry for entry in listed if entry.path == real)
        yield from _list_file(entry, _visible_name(file.name), os.path.dirname(real))  # noqa: PTH120
    except OSError as error:
        yield _unreadable(_visible_name(file.name), error)


def _is_first_visit(real: str, visited: set[tuple[int, int]]) -> bool:
    """A folder mounted into itself would never end."""
    status = Path(real).stat()
    key = (status.st_dev, status.st_ino)
    is_new = key not in visited
    visited.add(key)
    return is_new


def _is_generated(names: set[str], name: str) -> bool:
    """Environments, and what a build left: copies of sources, not sources."""
    if names & _ENVIRONMENT:
        return True
    return name in ("build", "dist", "_build") and any(_BUILT.fullmatch(entry) for entry in names)


def _list_file(entry: os.DirEntry[str], path: str, root: str) -> Iterator[SourceFile | SkippedFile]:
    if entry.is_symlink():
        if _links_outside(entry.path, root):
            yield SkippedFile(path=path, key="migration.note.link", args={})
        return
    status = entry.stat(follow_symlinks=False)
    kind = kind_of(entry.name, Path(path).parent.name)
    if not stat.S_ISREG(status.st_mode):
        if kind:
            yield SkippedFile(path=path, key="migration.note.no_file", args={})
        return
    kind = kind or _kind_by_first_line(entry.name, entry.path, status.st_size)
    if kind is None:
        return
    if status.st_size > max_bytes(kind):
        problem = too_large_error(max_bytes(kind))
        yield SkippedFile(path=path, key=problem.key, args=problem.text_args)
        return
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    yield SourceFile(path=path, real=entry.path, kind=kind, size=status.st_size, stamp=stamp)


def _links_outside(link: str, root: str) -> bool:
    """Whether a link leads to a folder or a source outside the project."""
    target = os.path.realpath(link)
    inside = target == root or target.startswith(root.rstrip(os.sep) + os.sep)
    return not inside and (os.path.isdir(target) or (os.path.isfile(target) and bool(kind_of(Path(link).name))))  # noqa: PTH112, PTH113


def _kind_by_first_line(name: str, real: str, size: int) -> SourceKind | None:
    if "." in name or not 0 < size <= LONGEST_SCRIPT:
        return None
    with suppress(UnreadableFile):
        return kind_of_first_line(read_regular_file(real, LONGEST_SCRIPT)[:200].partition(b"\n")[0])
    return None


def _unreadable(path: str, error: OSError) -> SkippedFile:
    return SkippedFile(path=path, key="migration.note.unreadable", args={"reason": error.strerror or str(error)})


def _visible_name(name: str) -> str:
    """Names are bytes: those that are no UTF-8 are shown with escapes, so that JSON can hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
