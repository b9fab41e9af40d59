"""The private folder in which git works: what it needs of a repository, and nothing that it could run."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from studio.git.location import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from studio.git.location import Location

_LINKED = ("objects", "refs", "packed-refs", "reftable", "logs", "worktrees")
_COPIED = ("index", "info/attributes", "info/sparse-checkout")
_MAX_INDEX = 1 << 30


def write_mirror(scratch: Path, location: Location) -> Path:
    """Write the private folder, all but its config, as `common` below `scratch`, and return what is the `.git` in it.
    Raises OSError."""
    common, git_dir = scratch / "common", scratch / "worktree"
    _mirror(location.common, common)
    if location.git_dir == location.common:
        return common
    _mirror(location.git_dir, git_dir)
    (git_dir / "commondir").write_text("../common\n")
    return git_dir


def _mirror(source: Path, target: Path) -> None:
    (target / "info").mkdir(parents=True)
    shared = [name for name in os.listdir(source) if name.startswith("sharedindex.")]
    for name in (*_LINKED, *shared):
        if os.path.lexists(source / name):
            (target / name).symlink_to(source / name)
    for name in _COPIED:
        if os.path.lexists(source / name):
            _copy(source / name, target / name)
    with suppress(FileNotFoundError):  # A bare repository whose work trees are elsewhere may have none.
        (target / "HEAD").write_bytes(_head(source / "HEAD"))


def _copy(source: Path, target: Path) -> None:
    """Copy a file with its time: git compares by content what is as young as the index."""
    target.write_bytes(read_regular(source, _MAX_INDEX))
    state = source.stat()
    os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))


def _head(path: Path) -> bytes:
    """Return the content of a HEAD. A symbolic link to a branch is an old way to write it."""
    target = os.fsencode(path.readlink()) if path.is_symlink() else b""
    return b"ref: " + target if target.startswith(b"refs/") else read_regular(path)
