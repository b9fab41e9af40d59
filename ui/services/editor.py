"""The user's editor: the command that opens a file at a line, stored under XDG_CONFIG_HOME, never in a project."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from studio import files, paths
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PATH, LINE = "{path}", "{line}"
EDITORS: tuple[tuple[str, ...], ...] = (
    ("code", "--goto", "{path}:{line}"), ("codium", "--goto", "{path}:{line}"), ("cursor", "--goto", "{path}:{line}"),
    ("pycharm", "--line", "{line}", "{path}"), ("subl", "{path}:{line}"), ("zed", "{path}:{line}"),
    ("kate", "--line", "{line}", "{path}"), ("gedit", "+{line}", "{path}"), ("gnome-text-editor", "{path}"),
    ("emacsclient", "--no-wait", "+{line}", "{path}"), ("gvim", "+{line}", "{path}"), ("xdg-open", "{path}"),
)  # fmt: skip


def chosen() -> tuple[str, ...]:
    """The remembered line, else the first known editor that is installed; empty where there is none."""
    value = files.read_json(paths.config_home() / "editor.json")
    words = value.get("line") if isinstance(value, dict) else None
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return tuple(words)
    return next(iter(installed()), ())


def installed() -> tuple[tuple[str, ...], ...]:
    return tuple(line for line in EDITORS if shutil.which(line[0]))


def remember(line: Sequence[str]) -> None:
    """Raises OSError."""
    paths.config_home().mkdir(parents=True, exist_ok=True)
    files.write_json(paths.config_home() / "editor.json", {"line": list(line)})


def words_of(text: str) -> tuple[str, ...]:
    """What a person typed, as a shell splits it. Raises ValueError where a quote is open or nothing names the file."""
    words = tuple(shlex.split(text))
    if not words or not any(PATH in word for word in words[1:]):
        raise ValueError(text)
    return words


def argv(line: Sequence[str], path: Path, at: int) -> list[str]:
    """`path` is absolute, so that no name is taken for an option. No shell sees it."""
    return [line[0], *(word.replace(LINE, str(at)).replace(PATH, str(path)) for word in line[1:])]


def open_at(line: Sequence[str], path: Path, at: int) -> None:
    """Starts the editor apart from the window, which it outlives. Raises StudioError."""
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(
            argv(line, path, at), stdin=quiet, stdout=quiet, stderr=quiet, cwd=path.parent, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise StudioError("editor.failed", editor=line[0], reason=str(error)) from error
