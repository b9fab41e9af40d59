"""Honest repositories in every shape that git knows. Each function changes one of `honest_repository` and returns the
folder to look at."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.studio.hostile_repositories import NOTES, commit, git, honest_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LAYOUTS: list[Callable[[Path], Path]] = []


def layout(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    LAYOUTS.append(make)
    return make


@layout
def plain(folder: Path) -> Path:
    return folder


@layout
def subfolder(folder: Path) -> Path:
    return folder / "lib"


@layout
def link_to_the_folder(folder: Path) -> Path:
    (folder.parent / "link").symlink_to(folder)
    return folder.parent / "link" / "lib"


@layout
def linked_work_tree(folder: Path) -> Path:
    git(folder, "worktree", "add", "-q", "-b", "side", "../linked")
    linked = folder.parent / "linked"
    (linked / NOTES).write_text("in the linked one\n")
    (linked / "new.txt").write_text("new\n")
    git(linked, "add", "new.txt")
    return linked


@layout
def work_tree_of_a_bare_repository(folder: Path) -> Path:
    git(folder.parent, "clone", "-q", "--bare", str(folder), "bare.git")
    git(folder.parent / "bare.git", "worktree", "add", "-q", "../linked", "main")
    (folder.parent / "linked" / NOTES).write_text("after\n")
    return folder.parent / "linked"


@layout
def detached_head(folder: Path) -> Path:
    git(folder, "checkout", "-q", "--detach")
    return folder


@layout
def head_as_a_symbolic_link(folder: Path) -> Path:
    (folder / ".git" / "HEAD").unlink()
    (folder / ".git" / "HEAD").symlink_to("refs/heads/main")
    return folder


@layout
def packed(folder: Path) -> Path:
    git(folder, "gc", "-q")
    assert (folder / ".git" / "packed-refs").exists()
    assert not (folder / ".git" / "refs" / "heads" / "main").exists()
    return folder


@layout
def alternates(folder: Path) -> Path:
    git(folder.parent, "clone", "-q", "--shared", str(folder), "clone")
    (folder.parent / "clone" / NOTES).write_text("after\n")
    return folder.parent / "clone"


@layout
def shallow_clone(folder: Path) -> Path:
    git(folder, "commit", "-qam", "second")
    git(folder.parent, "clone", "-q", "--depth=1", folder.as_uri(), "clone")
    (folder.parent / "clone" / NOTES).write_text("shallow\n")
    return folder.parent / "clone"


@layout
def partial_clone_that_is_sparse(folder: Path) -> Path:
    (folder / "other").mkdir()
    (folder / "other" / "a.py").write_text("a\n")
    git(folder, "add", "other")
    git(folder, "commit", "-qm", "other")
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = folder.parent / "clone"
    git(folder.parent, "clone", "-q", "--no-checkout", "--filter=blob:none", folder.as_uri(), "clone")
    git(clone, "sparse-checkout", "init", "--cone")
    git(clone, "sparse-checkout", "set", "lib")
    git(clone, "checkout", "-q", "main")
    assert not (clone / "other").exists()
    (clone / NOTES).write_text("after\n")
    return clone


@layout
def sparse_index(folder: Path) -> Path:
    (folder / "other").mkdir()
    (folder / "other" / "a.py").write_text("a\n")
    commit(folder)
    git(folder, "config", "index.sparse", "true")
    git(folder, "sparse-checkout", "init", "--cone")
    git(folder, "sparse-checkout", "set", "lib")
    (folder / NOTES).write_text("after all\n")
    return folder


@layout
def split_index(folder: Path) -> Path:
    git(folder, "update-index", "--split-index")
    (folder / "new.txt").write_text("new\n")
    git(folder, "add", "new.txt")
    assert list((folder / ".git").glob("sharedindex.*"))
    return folder


@layout
def index_of_version_4_with_an_untracked_cache(folder: Path) -> Path:
    git(folder, "update-index", "--index-version=4")
    git(folder, "update-index", "--force-untracked-cache")
    return folder


@layout
def sha256(folder: Path) -> Path:
    return honest_repository(folder.parent / "sha256", "--object-format=sha256")


@layout
def reftable(folder: Path) -> Path:
    return honest_repository(folder.parent / "reftable", "--ref-format=reftable")


@layout
def reftable_with_a_linked_work_tree(folder: Path) -> Path:
    return linked_work_tree(honest_repository(folder.parent / "reftable", "--ref-format=reftable"))


@layout
def unknown_extension(folder: Path) -> Path:
    git(folder, "config", "extensions.preciousObjects", "true")
    git(folder, "config", "core.repositoryFormatVersion", "1")
    return folder


@layout
def submodule(folder: Path) -> Path:
    library = folder.parent / "library"
    library.mkdir()
    (library / NOTES).write_text("before\n")
    commit(library)
    git(folder, "submodule", "--quiet", "add", str(library), "library")
    git(folder, "commit", "-qm", "library")
    git(folder / "library", "commit", "-q", "--allow-empty", "-m", "on")
    return folder


@layout
def inside_a_submodule(folder: Path) -> Path:
    (submodule(folder) / "library" / NOTES).write_text("after\n")
    assert (folder / "library" / ".git").is_file()
    return folder / "library"


@layout
def changes_of_every_kind(folder: Path) -> Path:
    for name in ("deleted", "moved", "mode", "kind", "staged", "staged then deleted", "intended"):
        (folder / name).write_text(f"{name}\n" * 9)
    git(folder, "add", "-A", ":!intended")
    git(folder, "commit", "-qm", "more")
    (folder / "deleted").unlink()
    git(folder, "mv", "moved", "to here")
    (folder / "mode").chmod(0o755)
    (folder / "kind").unlink()
    (folder / "kind").symlink_to("/etc/passwd")
    (folder / "staged").write_text("staged\n")
    git(folder, "add", "staged")
    git(folder, "rm", "-q", "--cached", "staged then deleted")
    git(folder, "add", "-N", "intended")
    (folder / "untracked").write_text("untracked\n")
    return folder


@layout
def conflict(folder: Path) -> Path:
    git(folder, "checkout", "-q", "-b", "side")
    git(folder, "commit", "-qam", "side")
    git(folder, "checkout", "-q", "main")
    (folder / NOTES).write_text("main\n")
    git(folder, "commit", "-qam", "main")
    with suppress(subprocess.CalledProcessError):
        git(folder, "merge", "-q", "side")
    assert "<<<<<<<" in (folder / NOTES).read_text()
    return folder


@layout
def odd_names(folder: Path) -> Path:
    for name in ("a\nb", 'q"uote', "中文", "*", ":(top)x", "[a]", "-flag", "back\\slash", os.fsdecode(b"\xff")):
        (folder / name).write_text("before\n")
    commit(folder)
    for path in folder.iterdir():
        if path.is_file() and path.name != "train.py":
            path.write_text(f"{path.read_text()}after\n")
    return folder


@layout
def line_ends_of_the_repository(folder: Path) -> Path:
    git(folder, "config", "core.autocrlf", "true")
    for path in (folder / "train.py", folder / NOTES):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return folder


@layout
def line_ends_of_the_user(folder: Path) -> Path:
    git(folder, "config", "--global", "core.autocrlf", "input")
    return line_ends_of_the_repository(folder)


@layout
def line_ends_of_attributes(folder: Path) -> Path:
    (folder / ".git" / "info").mkdir()
    (folder / ".git" / "info" / "attributes").write_text("* text eol=crlf\n")
    for path in (folder / "train.py", folder / NOTES):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return folder


@layout
def modes_that_do_not_count(folder: Path) -> Path:
    git(folder, "config", "core.fileMode", "false")
    (folder / "train.py").chmod(0o755)
    return folder


@layout
def times_that_do_not_fit(folder: Path) -> Path:
    """A copy: no file has the inode and times that the index knows."""
    shutil.copytree(folder, folder.parent / "copy", copy_function=shutil.copyfile)
    return folder.parent / "copy"


@layout
def file_as_young_as_the_index(folder: Path) -> Path:
    """Size and times are those of the index, and yet the content is another: only the time of the index shows it."""
    git(folder, "config", "core.checkStat", "minimal")
    git(folder, "config", "core.trustctime", "false")
    for name in ("young.txt", NOTES):
        (folder / name).write_text("before\n")
        os.utime(folder / name, (1_000_000_000, 1_000_000_000))
    commit(folder, "x")
    os.utime(folder / ".git" / "index", (1_000_000_000, 1_000_000_000))
    (folder / "young.txt").write_text("behind\n")
    os.utime(folder / "young.txt", (1_000_000_000, 1_000_000_000))
    return folder


@layout
def shared_with_a_group(folder: Path) -> Path:
    git(folder, "config", "core.sharedRepository", "group")
    return folder


@layout
def replaced_commit(folder: Path) -> Path:
    commit_ = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "commit", "-q", "--amend", "-m", "amended", "-a")
    git(folder, "replace", commit_, "HEAD")
    return folder


@layout
def settings_of_the_user_for_diffs(folder: Path) -> Path:
    for key, value in {"diff.noprefix": "true", "color.ui": "always", "diff.relative": "true"}.items():
        git(folder, "config", key, value)
    return folder / "lib"
