"""A project is a folder of the user's; what the studio adds to it stays in `.ascend-studio/`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio import paths
from studio.errors import StudioError, from_os
from studio.security import trust

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


def _refuse_links(project: Project) -> None:
    """Raise StudioError where the runs of a project that is not trusted would lie elsewhere: a link in it may lead
    anywhere, and one that the user made is in a project that the user trusts."""
    for path in (project.folder / OURS, project.runs):
        if path.is_symlink() and not trust.is_trusted(project.folder):
            raise StudioError("run.folder_link", path=str(path))


def _write_ignore(path: Path) -> None:
    """Write the file where there is none; a link that leads nowhere is not written through. Raises OSError."""
    with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
        file.write("*\n")


def make_runs_folder(project: Project | None) -> Path:
    """Make the folder of runs where it is missing, with a `.gitignore` that keeps runs out of the user's commits.
    Raises StudioError.
    """
    folder = runs_folder(project)
    try:
        if project:
            _refuse_links(project)
        folder.mkdir(parents=True, exist_ok=True)
        if project:
            _write_ignore(folder.parent / ".gitignore")
    except OSError as error:
        raise from_os(error, folder) from error
    return folder
