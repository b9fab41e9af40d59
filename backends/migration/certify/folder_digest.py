"""The state of a project's folder that a certificate was made of, and what has changed in it since."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.migration.certify import project_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.project_files import ProjectEntry

MAX_READ_BYTES = 16 << 20
"""Files of at most this many bytes are read; larger ones are judged by size and time."""
MAX_FILES = 20_000
CODE_SUFFIXES = frozenset(
    (".py", ".pyi", ".ipynb", ".sh", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".cpp", ".cu")
)
"""A file of these that is new makes a certificate stale; other new files are what a training writes."""


class FileDigest(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`changed`: ns since the epoch; `digest`: "" where the file was not read."""

    size: int
    changed: int
    digest: str


class FolderDigest(msgspec.Struct, frozen=True, kw_only=True):
    """`digest`: of the paths and contents of all files together; `files`: by relative path."""

    path: str
    digest: str
    files: dict[str, FileDigest]


def digest_folder(top: Path, excluded: Path | None = None) -> FolderDigest:
    """`excluded`: a folder inside that does not belong to the project. Raises OSError where the top cannot be read."""
    files = {entry.path: _file_digest(top, entry) for entry in _files(top, excluded)}
    whole = hashlib.blake2b(digest_size=16)
    for path, file in sorted(files.items()):
        whole.update(f"{path}\0{file.digest or file.size}\0".encode("utf-8", "surrogateescape"))
    return FolderDigest(path=str(top), digest=whole.hexdigest(), files=files)


def _files(top: Path, excluded: Path | None) -> Iterator[ProjectEntry]:
    entries = project_files.list_entries(top, excluded=excluded)
    listed = (entry for entry in entries if entry.kind == "file" or (entry.kind == "shared" and entry.size))
    for _, entry in zip(range(MAX_FILES), listed, strict=False):
        yield entry


def _file_digest(top: Path, entry: ProjectEntry) -> FileDigest:
    return FileDigest(size=entry.size, changed=entry.changed, digest=_content_digest(top, entry))


def _content_digest(top: Path, entry: ProjectEntry) -> str:
    if entry.size > MAX_READ_BYTES:
        return ""
    try:
        return hashlib.blake2b((top / entry.path).read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


def changed_file(folder: FolderDigest, excluded: Path | None = None) -> str:
    """Return a file that was changed, removed or, of code, added since; "" where there is none. Files whose size and
    time are the same are not read again. The folder itself where it is gone."""

    top = Path(folder.path)
    try:
        now = {entry.path: entry for entry in _files(top, excluded)}
    except OSError:
        return folder.path
    for path, before in folder.files.items():
        entry = now.get(path)
        if entry is None or (entry.size, entry.changed) != (before.size, before.changed):
            if entry is None or entry.size != before.size or not before.digest:
                return path
            if _content_digest(top, entry) != before.digest:
                return path
    return next((path for path in now if path not in folder.files and Path(path).suffix in CODE_SUFFIXES), "")
