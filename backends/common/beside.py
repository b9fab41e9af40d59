"""Runs that a run starts beside itself, so that each has its log, its curves and its page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from studio import files, worker
from studio import run as runs
from studio.supervisor import STOP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Glance, Run

BEGUN = "begun.json"
EVERY = 0.2
LONGEST = 60.0
"""Seconds that a run which was left at work has to end in."""
OVER = ("ended", "lost")


def run_to_end(
    beside: Run,
    command: str,
    asked: dict[str, Any],
    top: Path | None,
    until: Callable[[Run], bool] | None = None,
) -> tuple[Run, Glance]:
    """A run of its own; a stop of this worker is passed on. `until`: it is stopped where this turns true.
    Raises StudioError where it cannot be started."""
    run = runs.create(beside.folder.parent, command, asked, top)
    files.write_json(beside.folder / BEGUN, run.name)
    worker.start(run)
    is_told = False
    while (glance := runs.glance(run)).state not in OVER:
        if not is_told and (STOP.asked or (until is not None and until(run))):
            is_told = worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
    return run, glance


def end_begun(beside: Run) -> None:
    """Ends what a worker of this run that was killed has left at work. Raises StudioError."""
    name = files.read_json(beside.folder / BEGUN)
    if not isinstance(name, str) or not (beside.folder.parent / name / "run.json").exists():
        return
    run, latest = runs.open_run(beside.folder.parent / name), time.monotonic() + LONGEST
    while (state := runs.glance(run).state) not in OVER and time.monotonic() < latest:
        if state == "unattended":
            worker.start(run)
        worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
