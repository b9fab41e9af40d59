"""Trainings whose capture is planned before they begin, and the dumps that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.capture import state
from tests.guest.capturing import Training

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank


def dumps(training: Training, found: Rank) -> dict[str, Path]:
    """By the folder of their step."""
    return {path.parent.parent.name: path for path in sorted((training.folder / found.path).rglob("dump.json"))}


def planned(folder: Path, script: str, *args: str, hooks: str = "curves,captures", **values: object) -> Training:
    folder.mkdir(exist_ok=True)
    request = {"id": "plan", "kind": "dump", "start": 1, "steps": 1, **values}
    state.write_request(folder, state.Request(**request))  # type: ignore[arg-type]
    return Training(folder, script, *args, hooks=hooks)
