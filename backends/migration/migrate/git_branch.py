"""A new branch made from git objects alone: the work tree, the index and HEAD stay as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.git.calls import open_repository
from studio.git.location import locate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.migration.migrate.replaced_files import ReplacedFile
    from studio.git.calls import Repository

_SECONDS = 120
_SECONDS_OF_A_CHECK = 10  # The window waits for it.
_DEFAULT_IDENTITY = ("-c", "user.name=Ascend Training Studio", "-c", "user.email=studio@localhost")


def check_new_branch(folder: Path, name: str) -> None:
    """Raise StudioError where a folder is in no repository with a commit, or git cannot create a branch of this name
    there."""
    if locate(folder) is None:
        raise StudioError("migration.rule.no_repository", path=str(folder))
    with open_repository(folder, _SECONDS_OF_A_CHECK) as repository:
        if not repository.head():
            raise StudioError("migration.rule.no_repository", path=str(folder))
        is_flag = name.startswith("-") or name == "HEAD"
        if is_flag or repository.query("check-ref-format", f"refs/heads/{name}") is None:
            raise StudioError("migration.rule.no_branch_name", text=name[:60])
        if repository.run("for-each-ref", f"refs/heads/{name}"):
            raise StudioError("migration.rule.branch_exists", branch=name[:60])


def last_commit(folder: Path, branch: str) -> str:
    """Return the last commit of a branch, "" where there is no such branch. Raises StudioError."""
    with open_repository(folder, _SECONDS) as repository:
        return _tip(repository, branch)[0]


def _tip(repository: Repository, branch: str) -> tuple[str, str]:
    """Return the last commit of a branch and the work tree that has it checked out; each "" where there is none."""
    line_format = "--format=%(refname)%00%(objectname)%00%(worktreepath)"
    listed = os.fsdecode(repository.run("for-each-ref", line_format, f"refs/heads/{branch}"))
    for line in listed.split("\n"):  # Branches below this one are listed, too.
        if line.startswith(f"refs/heads/{branch}\0"):
            _, commit, work_tree = line.split("\0")
            return commit, work_tree
    return "", ""


def create_commit(folder: Path, replaced: Sequence[ReplacedFile], message: str) -> str:
    """Create a commit on top of HEAD that no branch points to yet. Raises StudioError where a file to change has
    uncommitted changes or is not tracked."""
    with open_repository(folder, _SECONDS) as repository:
        repository.refuse_links()
        head = repository.run("rev-parse", "--verify", "HEAD^{commit}").decode().strip()
        rows = [_index_line(repository, head, file) for file in replaced]
        repository.run("read-tree", head)
        repository.run("update-index", "-z", "--index-info", data=b"".join(rows))
        # A partial clone lacks objects of the other files.
        tree = repository.run("write-tree", "--missing-ok").decode().strip()
        line = ("commit-tree", tree, "-p", head, "-F", "-")
        try:
            commit = repository.run(*line, data=message.encode())
        except StudioError:  # Git knows no author.
            commit = repository.run(*_DEFAULT_IDENTITY, *line, data=message.encode())
        return commit.decode().strip()


def create_branch(folder: Path, name: str, commit: str) -> None:
    """Create a branch at a commit. Raises StudioError where the branch exists."""
    with open_repository(folder, _SECONDS) as repository:
        repository.refuse_links(f"refs/heads/{name}")
        repository.run("update-ref", f"refs/heads/{name}", commit, "0" * len(commit))


def _index_line(repository: Repository, head: str, file: ReplacedFile) -> bytes:
    """Return the line of `git update-index --index-info` for one file."""
    path = repository.prefix + file.path
    listed = repository.run("ls-tree", "-z", "--full-tree", head, "--", path)
    if not listed and file.is_new:
        created = repository.run("hash-object", "-w", "--stdin", "--no-filters", data=file.after).strip()
        return b"100644 " + created + b"\t" + os.fsencode(path) + b"\0"
    if not listed:
        raise StudioError("migration.migrate.untracked", path=file.path)
    mode, _, rest = listed.partition(b" ")
    blob = rest.split(b"\t")[0].split(b" ")[1].decode()
    committed = repository.run("cat-file", "blob", blob)
    after = file.after
    if committed != file.before:
        if committed != file.before.replace(b"\r\n", b"\n"):
            raise StudioError("migration.migrate.uncommitted", path=file.path)
        after = after.replace(b"\r\n", b"\n")  # The work tree has other line ends than the commit.
    written = repository.run("hash-object", "-w", "--stdin", "--no-filters", data=after).strip()
    return mode + b" " + written + b"\t" + os.fsencode(path) + b"\0"


def delete_branch(folder: Path, name: str, commit: str) -> None:
    """Delete a branch. Raises StudioError where it is checked out or has another commit by now."""
    with open_repository(folder, _SECONDS) as repository:
        tip, work_tree = _tip(repository, name)
        if work_tree:
            raise StudioError("migration.migrate.checked_out", branch=name)
        if not tip:
            return
        if tip != commit:
            raise StudioError("migration.migrate.branch_went_on", branch=name)
        repository.refuse_links(f"refs/heads/{name}")
        repository.run("update-ref", "-d", f"refs/heads/{name}", commit)
