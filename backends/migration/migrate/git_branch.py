"""A new branch made from git objects alone: the work tree, the index and HEAD stay as they are."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.migration.migrate.replaced_files import ReplacedFile

# These settings keep git from running programs that a repository's config names.
_SAFE_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "gc.auto=0")
_DEFAULT_COMMITTER = {
    "GIT_AUTHOR_NAME": "Ascend Training Studio", "GIT_AUTHOR_EMAIL": "studio@localhost",
    "GIT_COMMITTER_NAME": "Ascend Training Studio", "GIT_COMMITTER_EMAIL": "studio@localhost",
}  # fmt: skip


def _git(folder: Path, *words: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
    """Run git and return its output. Raises StudioError with git's last line."""
    line = ["git", *(word for setting in _SAFE_SETTINGS for word in ("-c", setting)), "-C", str(folder), *words]
    try:
        done = subprocess.run(
            line, input=data, capture_output=True, timeout=120, check=True, env={**os.environ, **(env or {})}
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()
        raise StudioError("migration.migrate.git_failed", reason=reason[-1] if reason else str(error)) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise StudioError("migration.migrate.git_failed", reason=str(error)) from error
    return done.stdout


def is_repository(folder: Path) -> bool:
    try:
        return bool(_git(folder, "rev-parse", "--verify", "HEAD"))
    except StudioError:
        return False


def is_branch_name(folder: Path, name: str) -> bool:
    """Tell whether git accepts a name for a branch."""
    try:
        _git(folder, "check-ref-format", "--branch", name)
    except StudioError:
        return False
    return True


def has_branch(folder: Path, name: str) -> bool:
    return bool(_git(folder, "for-each-ref", f"refs/heads/{name}"))


def last_commit(folder: Path, branch: str) -> str:
    """Return the last commit of a branch, "" where there is no such branch."""
    return _git(folder, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}").decode().strip()


def create_commit(folder: Path, replaced: Sequence[ReplacedFile], message: str) -> str:
    """Create a commit on top of HEAD that no branch points to yet. Raises StudioError where a file to change has
    uncommitted changes or is not tracked."""
    head = _git(folder, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
    prefix = _git(folder, "rev-parse", "--show-prefix").rstrip(b"\n").decode(errors="surrogateescape")
    rows = [_index_line(folder, head, prefix + file.path, file) for file in replaced]
    with tempfile.TemporaryDirectory(prefix="ascend-studio-") as scratch:
        env = {"GIT_INDEX_FILE": f"{scratch}/index", **_committer(folder)}
        _git(folder, "read-tree", head, env=env)
        _git(folder, "update-index", "-z", "--index-info", data=b"".join(rows), env=env)
        tree = _git(folder, "write-tree", env=env).decode().strip()
        commit = _git(folder, "commit-tree", tree, "-p", head, "-F", "-", data=message.encode(), env=env)
    return commit.decode().strip()


def create_branch(folder: Path, name: str, commit: str) -> None:
    """Create a branch at a commit. Raises StudioError where the branch exists."""
    _git(folder, "update-ref", f"refs/heads/{name}", commit, "0" * len(commit))


def _index_line(folder: Path, head: str, path: str, file: ReplacedFile) -> bytes:
    """Return the line of `git update-index --index-info` for one file."""
    listed = _git(folder, "ls-tree", "-z", "--full-tree", head, "--", f":(top,literal){path}")
    if not listed:
        raise StudioError("migration.migrate.untracked", path=file.path)
    mode, _, rest = listed.partition(b" ")
    blob = rest.split(b"\t")[0].split(b" ")[1].decode()
    committed = _git(folder, "cat-file", "blob", blob)
    after = file.after
    if committed != file.before:
        if committed != file.before.replace(b"\r\n", b"\n"):
            raise StudioError("migration.migrate.uncommitted", path=file.path)
        after = after.replace(b"\r\n", b"\n")  # The work tree has other line ends than the commit.
    written = _git(folder, "hash-object", "-w", "--stdin", "--no-filters", data=after).strip()
    return mode + b" " + written + b"\t" + os.fsencode(path) + b"\0"


def _committer(folder: Path) -> dict[str, str]:
    """Return a neutral identity for the environment where git has none configured."""
    try:
        _git(folder, "var", "GIT_COMMITTER_IDENT")
        _git(folder, "var", "GIT_AUTHOR_IDENT")
    except StudioError:
        return _DEFAULT_COMMITTER
    return {}


def delete_branch(folder: Path, name: str, commit: str) -> None:
    """Delete a branch. Raises StudioError where it is checked out or has another commit by now."""
    current = b""
    if is_repository(folder):
        current = _git(folder, "rev-parse", "--symbolic-full-name", "HEAD").strip()
    if current == f"refs/heads/{name}".encode():
        raise StudioError("migration.migrate.checked_out", branch=name)
    tip = last_commit(folder, name)
    if not tip:
        return
    if tip != commit:
        raise StudioError("migration.migrate.branch_went_on", branch=name)
    _git(folder, "update-ref", "-d", f"refs/heads/{name}", commit)
