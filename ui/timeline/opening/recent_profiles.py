"""Recently opened profiles, and profiles captured by runs of the project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.launch.capture.state import FOLDER
from backends.timeline.source_discovery import OUTPUTS
from studio import files, paths
from ui.services.run_titles import title_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Run

MAX_RECENT = 8
MAX_RUNS = 50


@dataclass(frozen=True, kw_only=True)
class CapturedProfile:
    """A folder that a run's profiler filled."""

    run: Run
    path: Path

    @property
    def name(self) -> str:
        return f"{title_of(self.run)} · {when(self.run, with_seconds=True)}"


class TimelineSettings(msgspec.Struct, kw_only=True):
    """Stored in timeline.json under XDG_CONFIG_HOME. `profiles`: newest first. `pane`: height of the pane in px, 0: the
    default. `sources`: folders in which the files of call stacks are looked for, the newest first."""

    profiles: list[str] = []
    pane: int = 0
    sources: list[str] = []


def read_settings() -> TimelineSettings:
    return files.read_as(_settings_file(), TimelineSettings) or TimelineSettings()


def recent() -> tuple[Path, ...]:
    """Return recent profiles that exist, newest first; missing ones stay stored, since a disk may come back. Accesses
    each path, so not on the UI thread."""
    return tuple(path for path in map(Path, read_settings().profiles) if path.is_absolute() and _may_exist(path))[
        :MAX_RECENT
    ]


def _may_exist(path: Path) -> bool:
    """Return whether a path may exist; one that cannot be accessed may."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def remember(path: Path) -> None:
    """Store a path as the most recent one. A path that is not valid text cannot be stored. Raises OSError."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return
    names = [str(path), *(other for other in read_settings().profiles if other != str(path))]
    _write(msgspec.structs.replace(read_settings(), profiles=names[:MAX_RECENT]))


def remember_pane(height: int) -> None:
    """Store the height of the pane. Raises OSError."""
    _write(msgspec.structs.replace(read_settings(), pane=height))


def remember_sources(folder: Path) -> None:
    """Store a folder in which the files of call stacks are looked for. Raises OSError."""
    names = [str(folder), *(other for other in read_settings().sources if other != str(folder))]
    _write(msgspec.structs.replace(read_settings(), sources=names[:MAX_RECENT]))


def source_folders() -> tuple[Path, ...]:
    return tuple(path for path in map(Path, read_settings().sources) if path.is_absolute())


def _write(value: TimelineSettings) -> None:
    paths.config_home().mkdir(parents=True, exist_ok=True)
    files.write_json(_settings_file(), value)


def _settings_file() -> Path:
    return paths.config_home() / "timeline.json"


def captured_by(runs: Iterable[Run]) -> tuple[CapturedProfile, ...]:
    """Return the profile captures of the runs, in the order of the runs; newest first within a run. Reads
    names only."""
    return tuple(
        CapturedProfile(run=run, path=folder) for run in list(runs)[:MAX_RUNS] for folder in profiles_in(run.folder)
    )


def profiles_in(run: Path) -> list[Path]:
    """Return the captures of a run, newest first: their folders are named by time and kind, and contain a folder for
    each rank."""
    folder = run / FOLDER
    try:
        names = [name for name in os.listdir(folder) if "-profile-" in name]
    except OSError:
        return []
    folders = [folder / name for name in names]
    return sorted((capture for capture in folders if any(capture.glob("rank*/*"))), key=_time, reverse=True)


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def short_path(path: Path) -> str:
    """Return 'rank0_ascend_pt/…/trace_view.json': file names that every profiler uses say little without the folders
    above them."""
    above = [part for part in path.parent.parts[1:] if part not in OUTPUTS]
    return "/".join((*above[-1:], path.name))
