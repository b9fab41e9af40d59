"""Runs for tests: real folders, real workers, and trainings that are any program one likes."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

from backends.launch.spec import LaunchSpec
from studio import processes, schema, worker
from studio import run as runs
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.events import Event
    from studio.processes import Process
    from studio.run import Glance, Run

# Seconds. A machine under load is slow, not wrong: no wait of a test is about time, and each ends as soon as it can.
PATIENCE = 300


def launch(folder: Path, python: Path | None = None, **values: Any) -> Run:
    """Starts a launch run; `python` stands in for the training's interpreter."""
    run = prepare(folder, python, **values)
    worker.start(run)
    return run


def prepare(folder: Path, python: Path | None = None, **values: Any) -> Run:
    spec = LaunchSpec()
    if python is not None:
        spec = schema.with_value(spec, "python", python)
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    folder.mkdir(parents=True, exist_ok=True)
    return runs.create(folder, "launch", schema.to_json(spec))


def wait_for(condition: Callable[[], Any], what: str = "", seconds: float = PATIENCE) -> Any:
    """Return the first true value of `condition`; `what` names it in the AssertionError of a wait that was in vain."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what or condition}")


def ended(run: Run, seconds: float = PATIENCE) -> Glance:
    """Waits for the end of a run and gives the glance at it."""
    wait_for(lambda: runs.glance(run).state == "ended", f"{run.folder} ends: {worker_log(run)}", seconds)
    return runs.glance(run)


def worker_log(run: Run) -> str:
    path = run.folder / "worker.log"
    return path.read_text(errors="replace") if path.exists() else ""


def write_worker(folder: Path) -> None:
    """Give a run a worker that does nothing and lives no longer than this process."""
    environment = os.environ | {processes.WORKER_VARIABLE: os.path.realpath(folder)}
    line = ["sh", "-c", "read line", "work"]
    child = subprocess.Popen(line, cwd=folder, stdin=subprocess.PIPE, env=environment)
    _idle_workers.append(child)
    processes.write_mark(folder / "worker.json", child.pid)


_idle_workers: list[subprocess.Popen[bytes]] = []


def worker_of(run: Run) -> Process:
    """Wait for the worker of a run and return it."""
    mark = wait_for(lambda: processes.read_mark(run.folder / "worker.json"), "worker.json")
    process: Process | None = mark.process()
    assert process is not None
    return process


def events_of(run: Run) -> list[Event]:
    return [event for _, _, events in RunTail(run.folder).read(1 << 24) for event in events]
