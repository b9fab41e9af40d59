"""The runs that a run goes on from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.curves.asked import asked
from studio import run as runs
from studio.errors import StudioError

if TYPE_CHECKING:
    from studio.run import Run

MOST = 20


def runs_before(run: Run) -> list[Run]:
    """The run that this one was resumed from, the one before that, and so on, as far as their folders are there.
    Paths from run.json are data: a loop ends."""
    found: list[Run] = []
    seen = {run.folder}
    while len(found) < MOST:
        folder = Path(asked(run, "keep", "resume") or run.folder)
        if folder in seen or not folder.is_absolute():
            break
        seen.add(folder)
        try:
            run = runs.open_run(folder)
        except StudioError:
            break
        found.append(run)
    return found
