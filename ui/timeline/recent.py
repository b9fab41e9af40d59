"""The profiles that were opened last, and those that runs of the project have captured."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.launch.capture.state import FOLDER
from backends.timeline.find import OUTPUTS
from studio import files, places
from ui.curves.names import title_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Run

KEPT = 8
SHOWN_RUNS = 50


@dataclass(frozen=True, kw_only=True)
class Captured:
    """A folder that a run's profiler filled."""

    run: Run
    path: Path

    @property
    def name(self) -> str:
        return f"{title_of(self.run)} · {when(self.run, with_seconds=True)}"


class Kept(msgspec.Struct, kw_only=True):
    """In timeline.json under XDG_CONFIG_HOME. `profiles`: newest first. `pane`: px below the lanes, 0: as it comes."""

    profiles: list[str] = []
    pane: int = 0


def kept() -> Kept:
    return files.read_as(_place(), Kept) or Kept()


def recent() -> tuple[Path, ...]:
    """Newest first, without those that are gone: where a disk comes back, so do they. Looks at each, so not on the UI
    thread."""
    return tuple(path for path in map(Path, kept().profiles) if path.is_absolute() and _is_there(path))[:KEPT]


def _is_there(path: Path) -> bool:
    """What must not be looked at may still be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def remember(path: Path) -> None:
    """Raises OSError. A name that is no text cannot be kept."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return
    names = [str(path), *(other for other in kept().profiles if other != str(path))]
    _write(msgspec.structs.replace(kept(), profiles=names[:KEPT]))


def remember_pane(height: int) -> None:
    """Raises OSError."""
    _write(msgspec.structs.replace(kept(), pane=height))


def _write(value: Kept) -> None:
    places.config_home().mkdir(parents=True, exist_ok=True)
    files.write_json(_place(), value)


def _place() -> Path:
    return places.config_home() / "timeline.json"


def captured_by(runs: Iterable[Run]) -> tuple[Captured, ...]:
    """Captures of kind profile, of the runs in their order; of a run the newest first. Looks at names alone."""
    return tuple(
        Captured(run=run, path=folder) for run in list(runs)[:SHOWN_RUNS] for folder in profiles_in(run.folder)
    )


def profiles_in(run: Path) -> list[Path]:
    """Of a run, newest first: folders are named by the time and the kind, and hold a folder for each rank."""
    folder = run / FOLDER
    try:
        names = [name for name in os.listdir(folder) if "-profile-" in name]
    except OSError:
        return []
    found = [folder / name for name in names]
    return sorted((one for one in found if any(one.glob("rank*/*"))), key=_time, reverse=True)


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def short(path: Path) -> str:
    """'rank0_ascend_pt/…/trace_view.json': names that all profilers give say nothing without those above them."""
    above = [part for part in path.parent.parts[1:] if part not in OUTPUTS]
    return "/".join((*above[-1:], path.name))
