"""Which files of a project are read, in an order that stays the same."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.migration.scan.kinds import LONGEST_SCRIPT, kind_of, kind_of_first_line, limit_of
from backends.migration.scan.read import Unread, read_bytes, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.kinds import Kind

SKIPPED = {
    ".git", ".hg", ".svn", "node_modules", "__pycache__", ".ascend-studio", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".tox", ".nox", ".ipynb_checkpoints", ".eggs", "site-packages", ".idea",
}  # fmt: skip
_ENVIRONMENT = {"pyvenv.cfg", "conda-meta"}
_BUILT = re.compile(r"CMakeCache\.txt|lib|lib\..+|temp\..+|bdist\..+|.+\.(whl|tar\.gz|o|a|so)")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`path`: relative, with "/", every name in it writable as JSON; `real`: what the system calls the file.
    `stamp` changes when the file's content does: inode, size, times of the content and of the inode in ns."""

    path: str
    real: str
    kind: Kind
    size: int
    stamp: tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """What was not read, and why: `key` and `args` make the sentence."""

    path: str
    key: str
    args: dict[str, str]


def walk(folder: Path) -> Iterator[Entry | Skipped]:
    """All files that a reader knows, folder by folder, by name. Links are not followed: what they lead to inside the
    project is met where it lies, and what is outside belongs to somebody else. Never raises."""
    root = os.path.realpath(folder)
    seen: set[tuple[int, int]] = set()
    waiting = [(root, "")]
    while waiting:
        real, path = waiting.pop()
        try:
            is_new = _enter(real, seen)
            with os.scandir(real) as listed:
                entries = sorted(listed, key=lambda entry: entry.name) if is_new else []
        except OSError as error:
            yield _refused(path or ".", error)
            continue
        if path and _is_made({entry.name for entry in entries}, os.path.basename(real)):  # noqa: PTH119
            continue
        folders = []
        for entry in entries:
            shown = path + _shown(entry.name)
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED and not entry.name.endswith(".egg-info"):
                        folders.append((entry.path, shown + "/"))
                else:
                    yield from _file(entry, shown, root)
            except OSError as error:
                yield _refused(shown, error)
        waiting += reversed(folders)


def _enter(real: str, seen: set[tuple[int, int]]) -> bool:
    """A folder mounted into itself would never end."""
    found = Path(real).stat()
    key = (found.st_dev, found.st_ino)
    is_new = key not in seen
    seen.add(key)
    return is_new


def _is_made(names: set[str], name: str) -> bool:
    """Environments, and what a build left: copies of sources, not sources."""
    if names & _ENVIRONMENT:
        return True
    return name in ("build", "dist", "_build") and any(_BUILT.fullmatch(one) for one in names)


def _file(entry: os.DirEntry[str], path: str, root: str) -> Iterator[Entry | Skipped]:
    if entry.is_symlink():
        if _leads_out(entry.path, root):
            yield Skipped(path=path, key="migration.note.link", args={})
        return
    found = entry.stat(follow_symlinks=False)
    kind = kind_of(entry.name, Path(path).parent.name)
    if not stat.S_ISREG(found.st_mode):
        if kind:
            yield Skipped(path=path, key="migration.note.no_file", args={})
        return
    kind = kind or _by_first_line(entry.name, entry.path, found.st_size)
    if kind is None:
        return
    if found.st_size > limit_of(kind):
        problem = too_large(limit_of(kind))
        yield Skipped(path=path, key=problem.key, args=problem.values)
        return
    stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    yield Entry(path=path, real=entry.path, kind=kind, size=found.st_size, stamp=stamp)


def _leads_out(link: str, root: str) -> bool:
    """Whether a link leads to a folder or a source outside the project."""
    target = os.path.realpath(link)
    inside = target == root or target.startswith(root.rstrip(os.sep) + os.sep)
    return not inside and (os.path.isdir(target) or (os.path.isfile(target) and bool(kind_of(Path(link).name))))  # noqa: PTH112, PTH113


def _by_first_line(name: str, real: str, size: int) -> Kind | None:
    if "." in name or not 0 < size <= LONGEST_SCRIPT:
        return None
    with suppress(Unread):
        return kind_of_first_line(read_bytes(real, LONGEST_SCRIPT)[:200].partition(b"\n")[0])
    return None


def _refused(path: str, error: OSError) -> Skipped:
    return Skipped(path=path, key="migration.note.unreadable", args={"reason": error.strerror or str(error)})


def _shown(name: str) -> str:
    """Names are bytes: those that are no UTF-8 are shown with escapes, so that JSON can hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
