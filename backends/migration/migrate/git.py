"""A new branch with the changes in it, made of git objects alone: the work tree, the index and HEAD stay."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.migration.migrate.result import Replaced

# They keep git from running what a repository's config names.
_HARMLESS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "gc.auto=0")
_NOBODY = {
    "GIT_AUTHOR_NAME": "Ascend Training Studio", "GIT_AUTHOR_EMAIL": "studio@localhost",
    "GIT_COMMITTER_NAME": "Ascend Training Studio", "GIT_COMMITTER_EMAIL": "studio@localhost",
}  # fmt: skip


def _git(folder: Path, *words: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
    """Output of git. Raises StudioError with its last line."""
    line = ["git", *(word for setting in _HARMLESS for word in ("-c", setting)), "-C", str(folder), *words]
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


def is_name(folder: Path, name: str) -> bool:
    """Whether a branch may be called that."""
    try:
        _git(folder, "check-ref-format", "--branch", name)
    except StudioError:
        return False
    return True


def has_branch(folder: Path, name: str) -> bool:
    return bool(_git(folder, "for-each-ref", f"refs/heads/{name}"))


def commit_of(folder: Path, branch: str) -> str:
    """The last one of a branch; "" where there is none."""
    return _git(folder, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}").decode().strip()


def commit(folder: Path, replaced: Sequence[Replaced], message: str) -> str:
    """A commit on top of HEAD that no branch has yet. Raises StudioError where a file that is to change has
    uncommitted changes, or where git does not know it."""
    head = _git(folder, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
    prefix = _git(folder, "rev-parse", "--show-prefix").rstrip(b"\n").decode(errors="surrogateescape")
    rows = [_row(folder, head, prefix + one.path, one) for one in replaced]
    with tempfile.TemporaryDirectory(prefix="ascend-studio-") as scratch:
        env = {"GIT_INDEX_FILE": f"{scratch}/index", **_who(folder)}
        _git(folder, "read-tree", head, env=env)
        _git(folder, "update-index", "-z", "--index-info", data=b"".join(rows), env=env)
        tree = _git(folder, "write-tree", env=env).decode().strip()
        made = _git(folder, "commit-tree", tree, "-p", head, "-F", "-", data=message.encode(), env=env)
    return made.decode().strip()


def begin_branch(folder: Path, name: str, commit: str) -> None:
    """Raises StudioError where the branch exists."""
    _git(folder, "update-ref", f"refs/heads/{name}", commit, "0" * len(commit))


def _row(folder: Path, head: str, path: str, one: Replaced) -> bytes:
    """A line for update-index."""
    listed = _git(folder, "ls-tree", "-z", "--full-tree", head, "--", f":(top,literal){path}")
    if not listed:
        raise StudioError("migration.migrate.untracked", path=one.path)
    mode, _, rest = listed.partition(b" ")
    blob = rest.split(b"\t")[0].split(b" ")[1].decode()
    committed = _git(folder, "cat-file", "blob", blob)
    after = one.after
    if committed != one.before:
        if committed != one.before.replace(b"\r\n", b"\n"):
            raise StudioError("migration.migrate.uncommitted", path=one.path)
        after = after.replace(b"\r\n", b"\n")  # the work tree has other line ends than the commit
    written = _git(folder, "hash-object", "-w", "--stdin", "--no-filters", data=after).strip()
    return mode + b" " + written + b"\t" + os.fsencode(path) + b"\0"


def _who(folder: Path) -> dict[str, str]:
    """Nobody in particular, where git does not know who commits."""
    try:
        _git(folder, "var", "GIT_COMMITTER_IDENT")
        _git(folder, "var", "GIT_AUTHOR_IDENT")
    except StudioError:
        return _NOBODY
    return {}


def delete_branch(folder: Path, name: str, commit: str) -> None:
    """Raises StudioError where it is checked out, or has another commit by now."""
    current = b""
    if is_repository(folder):
        current = _git(folder, "rev-parse", "--symbolic-full-name", "HEAD").strip()
    if current == f"refs/heads/{name}".encode():
        raise StudioError("migration.migrate.checked_out", branch=name)
    known = commit_of(folder, name)
    if not known:
        return
    if known != commit:
        raise StudioError("migration.migrate.branch_went_on", branch=name)
    _git(folder, "update-ref", "-d", f"refs/heads/{name}", commit)
