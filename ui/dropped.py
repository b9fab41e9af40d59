"""What a dropped folder or file is: a run, a project, a dump, a profile, or none. Reads names, of a trace its head."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from studio.project import OURS, project_around
from ui.dropped_profile import holds_profile, is_profile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOKED_AT = 400
_SIGNS = (".git", "pyproject.toml", "setup.py", "requirements.txt", "environment.yml")
_CODE = (".py", ".ipynb")
_DUMP = "dump.json"
_OF_DUMP = re.compile(r"step_?\d+|rank_?\d*|proc_?\d+", re.IGNORECASE)
_DEEP = 3


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """`folder` is the run's or the project's; for the other kinds what was dropped."""

    kind: Literal["run", "project", "dump", "profile", "unknown", "missing"]
    folder: Path


def recognise(path: Path) -> Dropped:
    """A file stands for the run or the project that it is in."""
    path = path.absolute()
    if not path.exists():
        return Dropped(kind="missing", folder=path)
    if is_profile(path):
        return Dropped(kind="profile", folder=path)
    folder = path if path.is_dir() else path.parent
    if run := _run_around(folder):
        return Dropped(kind="run", folder=run)
    if OURS in folder.parts and (around := project_around(folder)):
        return Dropped(kind="project", folder=around.folder)
    if is_dump(path):
        return Dropped(kind="dump", folder=path)
    if path.is_dir() and _has_code(path):
        return Dropped(kind="project", folder=path)
    if path.is_dir():
        return Dropped(kind="profile" if holds_profile(path) else "unknown", folder=path)
    if path.suffix in _CODE or path.name in _SIGNS:
        around = project_around(folder)
        return Dropped(kind="project", folder=around.folder if around else folder)
    return Dropped(kind="unknown", folder=path)


def _run_around(folder: Path) -> Path | None:
    """The folder itself, or the run whose artifacts it is among."""
    for candidate in (folder, *folder.parents[:3]):
        if (candidate / "run.json").is_file():
            return candidate
    return None


def is_dump(path: Path) -> bool:
    """What msprobe wrote: a dump.json, a folder that holds one, or folders of steps and ranks that do."""
    if path.name == _DUMP and path.is_file():
        return True
    return path.is_dir() and _holds_dump(path, _DEEP)


def _holds_dump(folder: Path, deep: int) -> bool:
    """Looks only into folders that have such a name."""
    if (folder / _DUMP).is_file():
        return True
    if not deep:
        return False
    with suppress(OSError), os.scandir(folder) as entries:
        below = [entry.path for entry in islice(entries, LOOKED_AT) if _OF_DUMP.fullmatch(entry.name)]
        return any(_holds_dump(folder / path, deep - 1) for path in below)
    return False


def _has_code(folder: Path) -> bool:
    """Whether it is a project already, or there is Python in it or one folder below. Looks at some hundred names."""
    if (folder / OURS).is_dir() or any((folder / name).exists() for name in _SIGNS):
        return True
    return any(name.endswith(_CODE) for name in islice(_names(folder), LOOKED_AT))


def _names(folder: Path) -> Iterator[str]:
    below = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
    for path in below:
        with suppress(OSError), os.scandir(path) as entries:
            yield from (entry.name for entry in entries)
