"""A project is a folder of the user's; what the studio adds to it stays in `.ascend-studio/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio import paths
from studio.errors import from_os

if TYPE_CHECKING:
    from pathlib import Path

OURS = ".ascend-studio"


@dataclass(frozen=True, kw_only=True)
class Project:
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name or str(self.folder)

    @property
    def runs(self) -> Path:
        return self.folder / OURS / "runs"


def project_around(folder: Path) -> Project | None:
    """Return the project that a folder belongs to: itself or the nearest parent that has `.ascend-studio`."""
    for candidate in (folder, *folder.parents):
        if (candidate / OURS).is_dir():
            return Project(folder=candidate)
    return None


def project_of(run_folder: Path) -> Project | None:
    """Return the project in whose folder a run lies, whatever its run.json says; None where it lies in none."""
    runs = run_folder.absolute().parent
    return Project(folder=runs.parent.parent) if (runs.name, runs.parent.name) == ("runs", OURS) else None


def runs_folder(project: Project | None) -> Path:
    """Return where the runs of a project are, or those that belong to none."""
    return project.runs if project else paths.state_home() / "runs"


def make_runs_folder(project: Project | None) -> Path:
    """Make the folder of runs where it is missing, with a `.gitignore` that keeps runs out of the user's commits.
    Raises StudioError.
    """
    folder = runs_folder(project)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if project and not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise from_os(error, folder) from error
    return folder
