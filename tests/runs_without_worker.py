"""Runs whose worker is gone: killed here, or never there because somebody else made the folder."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from studio import files, paths, processes, worker
from tests.runs import prepare, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

DEAD = 2**22 - 1
WAITS = "touch ready; while [ ! -e go ]; do sleep 0.05; done; exit 5"


def crafted(folder: Path, python: Path, **marks: int) -> Run:
    """Make a run folder as somebody else would: its worker, and what else `marks` names, are processes by their pid."""
    run = prepare(folder, python)
    for name, pid in {"worker": DEAD, **marks}.items():
        processes.write_mark(run.folder / f"{name}.json", pid)
    return run


def kill_worker(run: Run) -> None:
    mark = wait_for(lambda: processes.read_mark(run.folder / "worker.json"), what="worker.json")
    os.kill(mark.pid, signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or mark.process() is None, what="the worker is gone")


def age_ledger() -> None:
    """Make every entry old enough for another worker."""
    for path in (paths.state_home() / "starts").glob("*.json"):
        files.write_json(path, {**files.read_json(path), "time": 0})
