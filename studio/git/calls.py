"""`Repository.query` and `Repository.run`: the only ways to git, with one policy (see the package)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.git.location import locate, read_regular
from studio.git.mirror import write_mirror

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from studio.git.location import Location

_FORMAT = ("core.repositoryformatversion", "extensions.objectformat", "extensions.refstorage")
_KEYS = (
    "core.autocrlf", "core.checkstat", "core.eol", "core.filemode", "core.ignorecase", "core.logallrefupdates",
    "core.precomposeunicode", "core.sharedrepository", "core.sparsecheckout", "core.sparsecheckoutcone",
    "core.symlinks", "core.trustctime", "user.name", "user.email", "user.useconfigonly", "author.name",
    "author.email", "committer.name", "committer.email",
)  # fmt: skip
"""What is copied of the configs of the repository and of the user: none of these names a program or a file."""
_INHERITED = re.compile(
    r"(?!GIT_).*|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)", re.DOTALL
)
_SAFE = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository for as long as it is open. `top`: its work tree; `prefix`: the folder that it was opened for, below
    `top`, as "" or "a/b/"; `common`: where its objects and refs are; `git_dir`: the private folder."""

    top: Path
    prefix: str
    common: Path
    git_dir: Path
    seconds: float

    def query(self, *words: str, data: bytes = b"") -> bytes | None:
        """Return the output of git in the work tree, None where its answer is no (exit code 1). Raises StudioError with
        its last line where it fails."""
        scratch = self.git_dir.parent
        settings = {
            "GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top), "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1",
            "HOME": str(scratch), "XDG_CONFIG_HOME": str(scratch),  # Git before 2.32 knows no GIT_CONFIG_GLOBAL.
        }  # fmt: skip
        return _call(scratch, ("-C", str(self.top), *words), settings, data, self.seconds)

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Return the output of git in the work tree. Raises StudioError with its last line where it fails."""
        output = self.query(*words, data=data)
        if output is None:
            raise StudioError("error.git", reason=f"{words[0]}: 1")
        return output

    def head(self) -> str:
        """Return the commit of HEAD, "" before the first commit. Raises StudioError."""
        return (self.query("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or b"").decode().strip()

    def has_index(self) -> bool:
        """Return whether files were ever checked out: a bare repository has none, although it may have a work tree."""
        return (self.git_dir / "index").exists()

    def refuse_links(self, ref: str = "") -> None:
        """Raise StudioError where an object or this ref would be written through a symbolic link of the repository,
        thus somewhere else."""
        names = ["objects", "packed-refs", "reftable", *accumulate(f"logs/{ref}".split("/"), "{}/{}".format)]
        with suppress(OSError):
            names += [f"objects/{name}" for name in os.listdir(self.common / "objects")]
        for name in (*names, *accumulate(ref.split("/"), "{}/{}".format)):
            if name and (self.common / name).is_symlink():
                raise StudioError("error.git_link", path=str(self.common / name))


@contextmanager
def open_repository(folder: Path, seconds: float = 30) -> Iterator[Repository]:
    """Open the repository that a folder is in, for calls of at most `seconds` each. Raises StudioError where there is
    none, where git is missing, or where it cannot be read."""
    location = locate(folder)
    if location is None:
        raise StudioError("error.no_repository", path=str(folder))
    prefix = os.path.relpath(os.path.realpath(folder), location.top)
    prefix = "" if prefix == "." else f"{prefix}/"
    with tempfile.TemporaryDirectory(prefix="ascend-studio-") as scratch:
        try:
            git_dir = write_mirror(Path(scratch), location)
            (Path(scratch) / "common" / "config").write_bytes(os.fsencode(_config(Path(scratch), location, seconds)))
        except OSError as error:
            raise StudioError("error.git", reason=str(error)) from error
        yield Repository(top=location.top, prefix=prefix, common=location.common, git_dir=git_dir, seconds=seconds)


def _config(scratch: Path, location: Location, seconds: float) -> str:
    """Return the text of the private config. `git config` reads those of the repository and of the user, for it knows
    about includes; it does nothing with what they say. Raises StudioError, or OSError where one is no regular file."""
    file = location.common / "config"
    for path in (file, location.git_dir / "config.worktree"):
        with suppress(FileNotFoundError):
            read_regular(path)
    listed = _values(scratch, ("--list",), str(location.git_dir), seconds)
    if (
        _FORMAT[0] not in listed and file.exists()
    ):  # Git skips the config of a repository whose format it does not know.
        listed |= _values(scratch, ("--file", str(file), "--list"), os.devnull, seconds)
    values = {key: value for key, value in listed.items() if key in (*_FORMAT, *_KEYS)}
    lines = []
    for key, value in values.items():
        section, _, name = key.partition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{section}]\n\t{name} = "{quoted}"\n')
    return "".join(lines)


def _values(scratch: Path, words: tuple[str, ...], git_dir: str, seconds: float) -> dict[str, str]:
    """Return what `git config` lists, by key; a key without a value means true."""
    output = _call(scratch, ("config", "-z", *words), {"GIT_DIR": git_dir}, b"", seconds) or b""
    pairs = [entry.partition("\n") for entry in os.fsdecode(output).split("\0") if entry]
    return {key: value if separator else "true" for key, separator, value in pairs}


def _call(
    scratch: Path, words: tuple[str, ...], settings: Mapping[str, str], data: bytes, seconds: float
) -> bytes | None:
    """Return the output of git, None for exit code 1 without a word. Raises StudioError."""
    environment = {**_environment(), **settings}
    program = shutil.which("git", path=environment.get("PATH", os.defpath))
    if program is None:
        raise StudioError("error.no_git")
    try:
        done = subprocess.run(
            (program, *words), cwd=scratch, env=environment, input=data, capture_output=True, timeout=seconds,
            check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise StudioError("error.git", reason=str(error)) from error
    reason = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode and (done.returncode != 1 or reason):
        raise StudioError("error.git", reason=reason[-1] if reason else f"{words[0]}: {done.returncode}")
    return None if done.returncode else done.stdout


def _environment() -> dict[str, str]:
    """Return our environment without what steers git, and without relative entries of search paths: by an empty one,
    as at the end of "/opt/lib:", a git or a library of the current folder would be run."""
    environment = {name: value for name, value in os.environ.items() if _INHERITED.fullmatch(name)} | _SAFE
    for name in ("PATH", "LD_LIBRARY_PATH"):
        entries = [entry for entry in environment.pop(name, "").split(os.pathsep) if entry.startswith("/")]
        if entries:
            environment[name] = os.pathsep.join(entries)
    return environment
