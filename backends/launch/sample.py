"""The sample project: a copy that belongs to the user."""

from __future__ import annotations

import shutil
from itertools import chain, count
from typing import TYPE_CHECKING

from studio import paths
from studio.errors import from_os

if TYPE_CHECKING:
    from pathlib import Path

NAME = "ascend-sample"


def make_sample(parent: Path) -> Path:
    """Copies the sample into a new folder under `parent` and returns it; nothing there is overwritten.
    Raises StudioError."""
    folder = _free(parent)
    try:
        shutil.copytree(paths.ASSETS / "sample", folder, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise from_os(error, folder) from error
    return folder


def _free(parent: Path) -> Path:
    names = chain([NAME], (f"{NAME}-{number}" for number in count(2)))
    return next(folder for name in names if not (folder := parent / name).exists())
