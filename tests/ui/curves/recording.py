"""A run folder as a training leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema
from studio.events import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from studio.events import Event
    from studio.run import Run


def spec_of(**values: object) -> LaunchSpec:
    spec = LaunchSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def recorded(folder: Path, *events: Event, **values: object) -> Run:
    """A run folder as a training leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(folder, "launch", schema.to_json(spec_of(**values)))
    Journal(run.folder, 1).write(*events)
    return run
