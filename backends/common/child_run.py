"""Runs that a run starts, so that each has its log, its curves and its page."""

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


def run_to_end(
    parent: Run,
    command: str,
    values: dict[str, Any],
    top: Path | None,
    until: Callable[[Run], bool] | None = None,
) -> tuple[Run, Glance]:
    """Start a run of its own and return it when it has ended, or when its worker was killed too often; a stop of this
    worker is passed on. `until`: the run is stopped once this is true. Raises StudioError where it cannot be started.
    """
    run = runs.create(parent.folder.parent, command, values, top)
    files.write_json(parent.folder / BEGUN, run.name)
    worker.start(run)
    is_stopped = False
    while (glance := runs.glance(run)).state not in runs.OVER:
        if glance.state in runs.WITHOUT_WORKER and not worker.revive(run):
            break
        if not is_stopped and (STOP.stop_requests or (until is not None and until(run))):
            is_stopped = worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
    return run, glance


def end_child_run(parent: Run) -> None:
    """End the run that a killed worker of `parent` left behind. Raises StudioError."""
    name = files.read_json(parent.folder / BEGUN)
    if not isinstance(name, str) or not (parent.folder.parent / name / "run.json").exists():
        return
    run, latest = runs.open_run(parent.folder.parent / name), time.monotonic() + LONGEST
    while (state := runs.glance(run).state) not in runs.OVER and time.monotonic() < latest:
        if state == "interrupted":
            break
        if state == "unattended":
            worker.take_over(run)
        worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
