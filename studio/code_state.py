"""The state of the code that a run executed: commit, patch of the dirty tree and packages, kept beside the run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import studio
from studio import files, interpreters, paths

LARGEST = 1_000_000
_PRIVATE = re.compile(r"(^|/)(\.env[^/]*|[^/]*\.(pem|key|p12|pfx)|[^/]*(token|secret|credential|password)[^/]*)$", re.I)


def _git(folder: Path, *words: str, settings: tuple[str, ...] = ()) -> bytes:
    """Return the output of git, b"" where it fails. The settings keep it from running what a repository's config
    names."""
    harmless = ("core.fsmonitor=false", "core.hooksPath=/dev/null", *settings)
    line = ["git", *(word for setting in harmless for word in ("-c", setting)), "-C", str(folder), *words]
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout


def commit(folder: Path) -> str:
    return _git(folder, "rev-parse", "HEAD").decode(errors="replace").strip()


def is_private(name: str) -> bool:
    return bool(_PRIVATE.search(name))


def _without_filters(folder: Path) -> tuple[str, ...]:
    """Return settings that switch off the clean filters which a repository names: a diff would run them."""
    listed = _git(folder, "config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$")
    names = sorted(set(listed.decode(errors="surrogateescape").split("\n")) - {""})
    return tuple(f"{name}={'false' if name.endswith('.required') else ''}" for name in names)


def _diff(folder: Path, *words: str) -> bytes:
    flags = ("--no-ext-diff", "--no-textconv")
    return _git(folder, "diff", *flags, *words, settings=_without_filters(folder))


def changed(folder: Path) -> tuple[str, ...]:
    """Return the paths with uncommitted changes that may be kept: not over 1 MB, not named like a secret."""
    listed = _diff(folder, "--name-only", "-z", "HEAD", "--")
    names = [name.decode(errors="surrogateescape") for name in listed.split(b"\0") if name]
    top = _git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n").decode(errors="surrogateescape")
    return tuple(name for name in names if not is_private(name) and _small(f"{top}/{name}"))


def _small(path: str) -> bool:
    try:
        return Path(path).stat().st_size <= LARGEST
    except OSError:  # deleted: its removal belongs to the patch
        return True


def patch(folder: Path) -> bytes:
    names = changed(folder)
    if not names:
        return b""
    return _diff(folder, "HEAD", "--", *(f":(top,literal){name}" for name in names))


def keep(run_folder: Path, code: Path, python: Path) -> None:
    """Write code.json and, for a dirty tree, code.patch. Raises OSError."""
    text = patch(code)
    if text:
        files.write_whole(run_folder / "code.patch", text, files.mode_in(run_folder))
    state: dict[str, Any] = {
        "folder": str(code), "commit": commit(code), "dirty": bool(text), "python": str(python),
        "studio": studio.__version__, "studio_commit": commit(paths.ROOT), "packages": interpreters.packages(python),
    }  # fmt: skip
    files.write_json(run_folder / "code.json", state)
