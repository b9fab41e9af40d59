"""Repositories made by somebody who wants a program of theirs to run: each trick, and the call of plain git that falls
for it."""

from __future__ import annotations

import atexit
import os
import pty
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOTES = "notes.txt"
TRAIN = "import torch\nx = torch.ones(2).cuda()\n"
WHO = ("-c", "user.name=n", "-c", "user.email=e@e", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str, data: str = "") -> str:
    """Run plain git, as in a shell. Raises CalledProcessError."""
    line = ["git", *WHO, "-C", str(folder), *words]
    done = subprocess.run(line, input=data, check=True, capture_output=True, text=True, errors="surrogateescape")
    return done.stdout


def version() -> tuple[int, ...]:
    text = subprocess.run(["git", "version"], check=True, capture_output=True, text=True).stdout
    return tuple(int(number) for number in text.split()[2].split(".")[:2])


def commit(folder: Path, *flags: str) -> None:
    """Commit all of a folder; the flags are those of `git init`."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "--template=", *flags)
        git(folder, "symbolic-ref", "HEAD", "refs/heads/main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")


def honest_repository(folder: Path, *flags: str) -> Path:
    """Make a repository whose one changed file is `NOTES`."""
    shutil.copytree(_template(flags), folder)
    (folder / NOTES).write_text("after\n")
    return folder


@cache
def _template(flags: tuple[str, ...]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ascend-studio-test-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "lib").mkdir()
    (folder / NOTES).write_text("before\n")
    (folder / "train.py").write_text(TRAIN)
    (folder / "lib" / "net.py").write_text("import torch\n")
    commit(folder, *flags)
    return folder


@dataclass(frozen=True)
class Lair:
    """A folder with a repository of somebody else. `payload`: their program, which leaves `canary` when it runs."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def payload(self) -> str:
        return str(self.root / "payload")

    @property
    def canary(self) -> Path:
        return self.root / "canary"

    def write_payload(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n: > {self.canary}\n")
        path.chmod(0o755)

    def configure(self, values: Mapping[str, str], folder: str = "project") -> None:
        for key, value in values.items():
            git(self.root / folder, "config", key, value)

    def set_attributes(self, text: str, git_dir: str = "project/.git") -> None:
        path = self.root / git_dir / "info" / "attributes"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def is_sprung(self, trick: Trick) -> bool:
        """Return whether their program runs on the call of plain git that falls for the trick, in a copy."""
        copy = self.root.with_name("copy")
        shutil.copytree(self.root, copy, symlinks=True)
        master, slave = pty.openpty() if trick.tty else (-1, -1)
        subprocess.run(
            ["git", *WHO, *trick.fires], cwd=copy / trick.folder, input=trick.data.encode(),
            env={**os.environ, **trick.environment(self)}, stdout=slave if trick.tty else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False, timeout=60,
        )  # fmt: skip
        for descriptor in (master, slave) if trick.tty else ():
            os.close(descriptor)
        shutil.rmtree(copy)
        has_run = self.canary.exists()
        self.canary.unlink(missing_ok=True)
        return has_run


def no_environment(_: Lair) -> dict[str, str]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Trick:
    """`plant` makes an honest repository hostile; `fires` is the plain call that runs its program, in `folder` and on a
    terminal where `tty`, since that version of git. `changed`: what differs from the commit by then; `patched`: what of
    it the patch shows."""

    plant: Callable[[Lair], None]
    fires: tuple[str, ...]
    tty: bool = False
    data: str = ""
    environment: Callable[[Lair], dict[str, str]] = no_environment
    folder: str = "project"
    changed: tuple[str, ...] = (NOTES,)
    patched: tuple[str, ...] = (NOTES,)
    since: tuple[int, int] = (2, 0)


TRICKS: list[Trick] = []
PROMISOR = {
    "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
}  # fmt: skip


def springs(*fires: str, **details: object) -> Callable[[Callable[[Lair], None]], Callable[[Lair], None]]:
    """Register a function that plants a trick."""

    def register(plant: Callable[[Lair], None]) -> Callable[[Lair], None]:
        TRICKS.append(Trick(plant=plant, fires=fires, **details))  # type: ignore[arg-type]
        return plant

    return register


@springs("diff", "HEAD")
def clean_filter(lair: Lair) -> None:
    lair.configure({"filter.evil.clean": lair.payload, "filter.evil.required": "true"})
    lair.set_attributes("* filter=evil\n")


@springs("cat-file", "--filters", f"HEAD:{NOTES}")
def smudge_filter(lair: Lair) -> None:
    lair.configure({"filter.evil.smudge": lair.payload})
    lair.set_attributes("* filter=evil\n")


@springs("diff", "HEAD")
def process_filter(lair: Lair) -> None:
    lair.configure({"filter.evil.process": lair.payload})
    lair.set_attributes("* filter=evil\n")


@springs("diff", "HEAD")
def filter_with_an_equals_sign_in_its_name(lair: Lair) -> None:
    lair.configure({"filter.a=b.clean": lair.payload})
    lair.set_attributes("* filter=a=b\n")


@springs("diff", "HEAD")
def filter_with_a_dot_and_a_quote_in_its_name(lair: Lair) -> None:
    lair.configure({'filter.a."b.clean': lair.payload})
    lair.set_attributes('* filter=a."b\n')


@springs("diff", "HEAD", changed=(".gitattributes", NOTES), patched=(".gitattributes", NOTES))
def filter_of_attributes_in_the_work_tree(lair: Lair) -> None:
    lair.configure({"filter.evil.clean": lair.payload})
    (lair.project / ".gitattributes").write_text("[attr]dark filter=evil\n* dark\n")
    git(lair.project, "add", ".gitattributes")


@springs("diff", "HEAD")
def lfs_filter(lair: Lair) -> None:
    lair.configure({"filter.lfs.clean": lair.payload, "filter.lfs.process": lair.payload})
    lair.set_attributes("* filter=lfs diff=lfs merge=lfs -text\n")


@springs("diff", "HEAD")
def textconv(lair: Lair) -> None:
    lair.configure({"diff.evil.textconv": lair.payload})
    lair.set_attributes("* diff=evil\n")


@springs("diff", "HEAD")
def diff_driver(lair: Lair) -> None:
    lair.configure({"diff.evil.command": lair.payload})
    lair.set_attributes("* diff=evil\n")


@springs("diff", "HEAD")
def external_diff(lair: Lair) -> None:
    lair.configure({"diff.external": lair.payload})


@springs("status")
def fsmonitor(lair: Lair) -> None:
    lair.configure({"core.fsmonitor": lair.payload})


@springs("status")
def fsmonitor_hook_of_version_2(lair: Lair) -> None:
    lair.configure({"core.fsmonitor": lair.payload, "core.fsmonitorHookVersion": "2"})
    git(lair.project, "update-index", "--fsmonitor")
    lair.canary.unlink(missing_ok=True)


HOOKS = ("pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc")


@springs("commit", "-am", "x")
def hooks(lair: Lair) -> None:
    for name in HOOKS:
        lair.write_payload(lair.project / ".git" / "hooks" / name)


@springs("commit", "-am", "x")
def hooks_path(lair: Lair) -> None:
    lair.configure({"core.hooksPath": str(lair.root / "hooks")})
    for name in HOOKS:
        lair.write_payload(lair.root / "hooks" / name)


def add_submodule(lair: Lair, **values: str) -> Path:
    """Add a repository of its own, with a change, that the commit knows by its commit only."""
    folder = lair.project / "sub"
    folder.mkdir()
    (folder / "a.txt").write_text("before\n")
    commit(folder)
    git(lair.project, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(lair.project, "commit", "-qm", "sub")
    (folder / "a.txt").write_text("behind\n")  # as long as before: git compares the content
    lair.configure({key.replace("_", "."): value for key, value in values.items()}, "project/sub")
    lair.set_attributes("* filter=evil\n", "project/sub/.git")
    return folder


@springs("diff", "HEAD")
def filter_of_a_submodule(lair: Lair) -> None:
    add_submodule(lair, filter_evil_clean=lair.payload)


@springs("status")
def fsmonitor_of_a_submodule(lair: Lair) -> None:
    add_submodule(lair, core_fsmonitor=lair.payload)


@springs("diff", "HEAD", changed=(NOTES, "sub"), patched=(NOTES, "sub"))
def filter_of_a_submodule_that_went_on(lair: Lair) -> None:
    folder = add_submodule(lair)
    git(folder, "commit", "-qam", "on")
    (folder / "a.txt").write_text("beyond\n")
    lair.configure({"filter.evil.clean": lair.payload}, "project/sub")


@springs("-C", "nested", "diff")
def nested_repository(lair: Lair) -> None:
    (lair.project / "nested").mkdir()
    (lair.project / "nested" / NOTES).write_text("before\n")
    commit(lair.project / "nested")
    (lair.project / "nested" / NOTES).write_text("after\n")
    lair.configure({"filter.evil.clean": lair.payload}, "project/nested")
    lair.set_attributes("* filter=evil\n", "project/nested/.git")


@springs("diff", "HEAD", folder="linked")
def linked_work_tree(lair: Lair) -> None:
    git(lair.project, "worktree", "add", "-q", "../linked")
    (lair.root / "linked" / NOTES).write_text("after\n")
    lair.configure({"filter.evil.clean": lair.payload})
    lair.set_attributes("* filter=evil\n")


@springs("diff", "HEAD")
def config_of_one_work_tree(lair: Lair) -> None:
    lair.configure({"core.repositoryFormatVersion": "1", "extensions.worktreeConfig": "true"})
    (lair.project / ".git" / "config.worktree").write_text(f'[filter "evil"]\n\tclean = {lair.payload}\n')
    lair.set_attributes("* filter=evil\n")


@springs("diff", "HEAD")
def git_folder_elsewhere(lair: Lair) -> None:
    lair.configure({"filter.evil.clean": lair.payload})
    lair.set_attributes("* filter=evil\n")
    (lair.project / ".git").rename(lair.root / "elsewhere")
    (lair.project / ".git").write_text("gitdir: ../elsewhere\n")


@springs("diff", "HEAD")
def link_to_a_git_folder_elsewhere(lair: Lair) -> None:
    lair.configure({"filter.evil.clean": lair.payload})
    lair.set_attributes("* filter=evil\n")
    (lair.project / ".git").rename(lair.root / "elsewhere")
    (lair.project / ".git").symlink_to("../elsewhere")


@springs("rev-list", "--alternate-refs")
def alternates(lair: Lair) -> None:
    shutil.copytree(lair.project / ".git", lair.root / "base.git")
    objects = lair.project / ".git" / "objects"
    shutil.rmtree(objects)
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text("../../../base.git/objects\n")
    lair.configure({"core.alternateRefsCommand": f"{lair.payload}; :"})


@springs("diff", "HEAD")
def include(lair: Lair) -> None:
    (lair.root / "more").write_text(f'[filter "evil"]\n\tclean = {lair.payload}\n')
    lair.configure({"include.path": "../../more"})
    lair.set_attributes("* filter=evil\n")


@springs("diff", "HEAD")
def include_for_a_branch_and_a_folder(lair: Lair) -> None:
    (lair.root / "more").write_text('[includeIf "gitdir:**/.git"]\n\tpath = most\n')
    (lair.root / "most").write_text(f'[filter "evil"]\n\tclean = {lair.payload}\n')
    lair.configure({"includeIf.onbranch:main.path": "../../more"})
    lair.set_attributes("* filter=evil\n")


def drop_object(lair: Lair) -> None:
    """Lose the committed content of a changed file, as if a partial clone had never fetched it."""
    (lair.project / "lost.txt").write_text("lost\n")
    git(lair.project, "add", "lost.txt")
    git(lair.project, "commit", "-qm", "lost", "lost.txt")
    (lair.project / "lost.txt").write_text("changed\n")
    blob = git(lair.project, "rev-parse", "HEAD:lost.txt").strip()
    (lair.project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


@springs("diff", "HEAD", changed=("lost.txt", NOTES))
def ssh_command_of_a_promisor(lair: Lair) -> None:
    drop_object(lair)
    lair.configure({**PROMISOR, "remote.origin.url": "ssh://host/x", "core.sshCommand": lair.payload})


@springs("diff", "HEAD", changed=("lost.txt", NOTES))
def upload_pack_of_a_promisor(lair: Lair) -> None:
    drop_object(lair)
    lair.configure({**PROMISOR, "remote.origin.url": str(lair.project), "remote.origin.uploadpack": lair.payload})


@springs("diff", "HEAD", changed=("lost.txt", NOTES))
def remote_helper_of_a_promisor(lair: Lair) -> None:
    drop_object(lair)
    url = f"ext::{lair.payload}"
    lair.configure({**PROMISOR, "remote.origin.url": url, "protocol.ext.allow": "always", "protocol.allow": "always"})


@springs("ls-remote", "git://127.0.0.1/x")
def git_proxy(lair: Lair) -> None:
    lair.configure({"core.gitProxy": lair.payload})


@springs("credential", "fill", data="protocol=https\nhost=h\n\n")
def credential_helper(lair: Lair) -> None:
    lair.configure({"credential.helper": f"!{lair.payload}", "core.askPass": lair.payload})


@springs("diff", "HEAD", tty=True)
def pager(lair: Lair) -> None:
    lair.configure({"core.pager": lair.payload, "pager.diff": lair.payload})


@springs("config", "--list", tty=True)
def pager_of_config(lair: Lair) -> None:
    lair.configure({"core.pager": lair.payload, "pager.config": lair.payload})


@springs("commit", "-am", "x")
def signing(lair: Lair) -> None:
    lair.configure(
        {"commit.gpgSign": "true", "tag.gpgSign": "true", "gpg.program": lair.payload, "log.showSignature": "true"}
    )


@springs("commit", "-a")
def editor(lair: Lair) -> None:
    lair.configure({"core.editor": lair.payload, "sequence.editor": lair.payload})


@springs("x")
def alias(lair: Lair) -> None:
    words = ("x", "diff", "rev-parse", "config", "cat-file", "var", "update-ref")
    lair.configure({f"alias.{word}": f"!{lair.payload}" for word in words})


def with_filter(lair: Lair) -> dict[str, str]:
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "filter.evil.clean", "GIT_CONFIG_VALUE_0": lair.payload}


@springs("diff", "HEAD", environment=with_filter, since=(2, 31))
def config_in_the_environment(lair: Lair) -> None:
    lair.set_attributes("* filter=evil\n")


def with_parameters(lair: Lair) -> dict[str, str]:
    return {"GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={lair.payload}'"}


@springs("status", environment=with_parameters)
def parameters_in_the_environment(lair: Lair) -> None:
    pass


def with_programs(lair: Lair) -> dict[str, str]:
    names = ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS")
    return dict.fromkeys(names, lair.payload)


@springs("diff", "HEAD", environment=with_programs)
def programs_in_the_environment(lair: Lair) -> None:
    pass


@springs("diff", "HEAD", environment=lambda lair: {"GIT_TRACE": str(lair.canary), "GIT_TRACE2": str(lair.canary)})
def trace_in_the_environment(lair: Lair) -> None:
    pass


@springs("x", environment=lambda lair: {"GIT_EXEC_PATH": str(lair.root / "programs")})
def exec_path_in_the_environment(lair: Lair) -> None:
    for name in ("x", "config", "diff", "rev-parse", "cat-file"):
        lair.write_payload(lair.root / "programs" / f"git-{name}")


def with_another_repository(lair: Lair) -> dict[str, str]:
    git_dir = str(lair.root / "other" / ".git")
    values = {"GIT_DIR": git_dir, "GIT_COMMON_DIR": git_dir, "GIT_WORK_TREE": str(lair.root / "other")}
    return values | {"GIT_INDEX_FILE": f"{git_dir}/index", "GIT_OBJECT_DIRECTORY": f"{git_dir}/objects"}


@springs("diff", "HEAD", environment=with_another_repository)
def another_repository_in_the_environment(lair: Lair) -> None:
    honest_repository(lair.root / "other")
    lair.configure({"filter.evil.clean": lair.payload}, "other")
    lair.set_attributes("* filter=evil\n", "other/.git")


@springs("diff", "HEAD", environment=lambda _: {"PATH": f":{os.environ['PATH']}"})
def git_of_the_current_folder(lair: Lair) -> None:
    lair.write_payload(lair.project / "git")
