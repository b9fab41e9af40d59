"""Where the repository of a folder lies. Git itself would act on the config while it looks for it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

_MAX_TEXT = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Location:
    """`top`: the work tree; `git_dir`: its HEAD and index; `common`: objects and refs, which work trees share."""

    top: Path
    git_dir: Path
    common: Path


def locate(folder: Path) -> Location | None:
    """Find a repository as git does: up to the border of the file system, the first `.git` counts. A stranger's `.git`
    counts in the folder itself, but not further up (in /tmp, say)."""
    real = Path(os.path.realpath(folder))
    try:
        state = real.stat()
        trusted_owners = (0, os.getuid(), state.st_uid)
        for top in (real, *real.parents):
            if top.stat().st_dev != state.st_dev:
                return None
            if not os.path.lexists(top / ".git"):
                continue
            if top != real and (top / ".git").lstat().st_uid not in trusted_owners:
                return None
            if (location := _location(top)) is not None:
                return location
    except (OSError, ValueError):
        pass
    return None


def _location(top: Path) -> Location | None:
    """Return the parts of the repository of a work tree, None where its `.git` is a folder of another kind. Raises
    OSError where a file `.git` leads nowhere."""
    git_dir = top / ".git"
    if not git_dir.is_dir():
        git_dir = _target(top, read_regular(git_dir).removeprefix(b"gitdir:"))
    common = git_dir
    if os.path.lexists(git_dir / "commondir"):
        common = _target(git_dir, read_regular(git_dir / "commondir"))
    if os.path.lexists(git_dir / "HEAD") and (common / "objects").is_dir() and (common / "refs").is_dir():
        return Location(top=top, git_dir=git_dir, common=common)
    if not (top / ".git").is_dir():
        raise FileNotFoundError(git_dir)
    return None


def _target(folder: Path, text: bytes) -> Path:
    """Return the folder that a file such as `commondir` names."""
    return Path(os.path.realpath(folder / os.fsdecode(text.strip())))


def read_regular(path: Path, limit: int = _MAX_TEXT) -> bytes:
    """Return the bytes of a regular file: no pipe makes us wait, no device fills the memory. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
            raise OSError(f"{path} is not a regular file of at most {limit} bytes")
        return file.read(limit)
