"""The state of the code in a repository: its commit, and the patch of the dirty tree."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.git.calls import open_repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from studio.git.calls import Repository

LARGEST = 1_000_000
LARGEST_PATCH = 20 * LARGEST
"""Bytes of all kept files together, before and after."""
# A source file may be about tokens of a language: tokenizer.py, token_embedding.py.
_PRIVATE = re.compile(
    r"(^|/)(\.env[^/]*|[^/]*\.(pem|key|p12|pfx)|[^/]*(secret|credential|password)[^/]*|[^/]*token(?!i[sz])[^/]*(?<!\.py))$",
    re.IGNORECASE,
)
# Files are compared byte by byte, since no filter runs, and submodules by their commit alone.
_FLAGS = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-renames", "--no-color")
_MAX_PATHS = 200  # of one command line: names of 4 KB each still fit
_SUBMODULE = "160000"
_MAX_POINTER = 1024
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:(\w{64})\nsize (\d+)\n")


@dataclass(frozen=True, kw_only=True)
class CodeState:
    """`changed`: paths that differ from the commit, None where that is not known; `patch`: of those to keep."""

    commit: str = ""
    changed: tuple[str, ...] | None = None
    patch: bytes = b""


@dataclass(frozen=True, kw_only=True)
class _Change:
    """A path that differs from the commit. `blob`: its content there, "" where it is new or a submodule; `size`: the
    bytes of that, None where the repository lacks it (a partial clone fetches when it needs to, and we do not)."""

    path: str
    blob: str
    size: int | None


def read_state(folder: Path) -> CodeState:
    """Return the state of the code in a folder; what git cannot read stays as it is without a repository."""
    commit, changed, patch = "", None, b""
    with suppress(StudioError), open_repository(folder) as repository:
        commit = repository.head()
        if commit and repository.has_index():
            changes = _changes(repository)
            changed = tuple(change.path for change in changes)
            patch = _diff(repository, ("--patch",), _paths_to_keep(repository.top, changes))
    return CodeState(commit=commit, changed=changed, patch=patch)


def read_commit(folder: Path) -> str:
    """Return the commit of the repository that a folder is in, "" where there is none."""
    with suppress(StudioError), open_repository(folder) as repository:
        return repository.head()
    return ""


def _changes(repository: Repository) -> list[_Change]:
    """Return what differs from the commit, except for files that git LFS put in the place of their pointers."""
    repository.run("update-index", "-q", "--unmerged", "--refresh")  # A new time of a file is no change.
    fields = os.fsdecode(repository.run("diff-index", *_FLAGS, "--raw", "-z", "--no-abbrev", "HEAD", "--")).split("\0")
    blobs = dict(_committed(fields))
    sizes = _sizes(repository, {blob for blob in blobs.values() if blob})
    pointers = _contents(repository, [blob for blob, size in sizes.items() if size <= _MAX_POINTER])
    changes = [
        _Change(path=path, blob=blob, size=sizes.get(blob) if blob else 0)
        for path, blob in blobs.items()
        if not _is_lfs_copy(repository.top / path, pointers.get(blob, b""))
    ]
    listed = _diff(repository, ("--name-only", "-z"), [change.path for change in changes if change.size is not None])
    names = set(os.fsdecode(listed).split("\0"))  # Other line ends, if the config says so, are no change either.
    return [change for change in changes if change.size is None or change.path in names]


def _diff(repository: Repository, flags: tuple[str, ...], names: list[str]) -> bytes:
    parts = [names[start : start + _MAX_PATHS] for start in range(0, len(names), _MAX_PATHS)]
    return b"".join(repository.run("diff", *_FLAGS, *flags, "HEAD", "--", *part) for part in parts)


def _committed(fields: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the paths of `git diff --raw -z` with their objects in the commit. An index written by hand can name files
    outside the work tree: those are none of ours."""
    for header, path in zip(fields[::2], fields[1::2], strict=False):
        mode, _, blob, _, _ = header.removeprefix(":").split(" ")
        if not path.startswith("/") and ".." not in path.split("/"):
            yield path, "" if mode == _SUBMODULE or not blob.strip("0") else blob


def _sizes(repository: Repository, blobs: Iterable[str]) -> dict[str, int]:
    """Return the sizes of those objects that the repository has."""
    names = "".join(f"{blob}\n" for blob in blobs).encode()
    lines = repository.run("cat-file", "--batch-check=%(objectname) %(objectsize)", data=names).decode().splitlines()
    return {blob: int(size) for blob, _, size in (line.partition(" ") for line in lines) if size.isdigit()}


def _contents(repository: Repository, blobs: list[str]) -> dict[str, bytes]:
    output = repository.run("cat-file", "--batch", data="".join(f"{blob}\n" for blob in blobs).encode())
    contents = {}
    for blob in blobs:
        header, _, output = output.partition(b"\n")
        size = int(header.split(b" ")[2])
        contents[blob], output = output[:size], output[size + 1 :]
    return contents


def _is_lfs_copy(path: Path, pointer: bytes) -> bool:
    """Return whether a file is the one that a pointer of git LFS stands for. Over 1 MB its size decides: nobody waits
    at a start until weights are hashed."""
    match = _POINTER.fullmatch(pointer)
    try:
        if match is None or path.is_symlink() or path.stat().st_size != int(match[2]):
            return False
        return int(match[2]) > LARGEST or hashlib.sha256(path.read_bytes()).hexdigest().encode() == match[1]
    except OSError:
        return False


def _paths_to_keep(top: Path, changes: list[_Change]) -> list[str]:
    """Return the paths whose change may be kept: not over 1 MB before or after, not named like a secret, and the
    smallest of them where all together are too many."""
    sizes, parents = {}, set()
    for change in changes:
        size = _size(top / change.path)
        if change.size is None or max(change.size, size) > LARGEST or is_private(change.path):
            parents |= {str(parent) for parent in PurePosixPath(change.path).parents}
        else:
            sizes[change.path] = change.size + size
    total, kept = 0, set()
    for path in sorted(sizes, key=sizes.__getitem__):
        total += sizes[path]
        if total <= LARGEST_PATCH and path not in parents:  # git would add what lies below a path
            kept.add(path)
    return [path for path in sizes if path in kept]


def is_private(path: str) -> bool:
    return bool(_PRIVATE.search(path))


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # deleted: its removal belongs to the patch
        return 0
