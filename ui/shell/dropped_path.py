"""What a dropped folder or file is: a run, a project, what some feature opens, or none of them."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from backends import features
from studio import files
from studio.project import OURS, project_around

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studio.feature import PathOpener

RUN, PROJECT, UNKNOWN, MISSING = "run", "project", "unknown", "missing"
MAX_NAMES = 400
_PROJECT_FILES = (".git", "pyproject.toml", "setup.py", "requirements.txt", "environment.yml")
_CODE = (".py", ".ipynb")


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """`kind`: one of the four above, or that of a feature's opener. `folder` is the run's or the project's; for the
    other kinds what was dropped."""

    kind: str
    folder: Path


def recognise(path: Path) -> Dropped:
    """A file stands for the run or the project that it is in."""
    path = path.absolute()
    if not files.exists(path):
        return Dropped(kind=MISSING, folder=path)
    if opener := _opener(path, "is_certain"):
        return Dropped(kind=opener.kind, folder=path)
    folder = path if path.is_dir() else path.parent
    if run := _run_around(folder):
        return Dropped(kind=RUN, folder=run)
    if OURS in folder.parts and (around := project_around(folder)):
        return Dropped(kind=PROJECT, folder=around.folder)
    if opener := _opener(path, "is_probable"):
        return Dropped(kind=opener.kind, folder=path)
    if path.is_dir() and _has_code(path):
        return Dropped(kind=PROJECT, folder=path)
    if path.is_dir():
        opener = _opener(path, "is_inside")
        return Dropped(kind=opener.kind if opener else UNKNOWN, folder=path)
    if path.suffix in _CODE or path.name in _PROJECT_FILES:
        around = project_around(folder)
        return Dropped(kind=PROJECT, folder=around.folder if around else folder)
    return Dropped(kind=UNKNOWN, folder=path)


def _opener(path: Path, question: Literal["is_certain", "is_probable", "is_inside"]) -> PathOpener | None:
    openers = (opener for feature in features() for opener in feature.opens)
    return next((opener for opener in openers if opener.is_met_by(path, question)), None)


def _run_around(folder: Path) -> Path | None:
    """The folder itself, or the run whose artifacts it is among."""
    for candidate in (folder, *folder.parents[:3]):
        if (candidate / "run.json").is_file():
            return candidate
    return None


def _has_code(folder: Path) -> bool:
    """Whether it is a project already, or there is Python in it or one folder below. Reads some hundred names."""
    if (folder / OURS).is_dir() or any((folder / name).exists() for name in _PROJECT_FILES):
        return True
    return any(name.endswith(_CODE) for name in islice(_names(folder), MAX_NAMES))


def _names(folder: Path) -> Iterator[str]:
    """The names in a folder, then those in its folders."""
    subfolders = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                subfolders.append(entry.path)
    for path in subfolders:
        with suppress(OSError), os.scandir(path) as entries:
            yield from (entry.name for entry in entries)
