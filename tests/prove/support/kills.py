"""kill -9, again and again: of workers and of windows."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from studio import files, processes, worker
from studio import run as runs
from studio.events import Ended, Metric
from studio.paths import MAIN
from studio.security import ledger
from tests.runs import PATIENCE, ended, events_of, launch, wait_for

if TYPE_CHECKING:
    from pathlib import Path


def kill_workers(folder: Path, python: Path, rounds: int) -> dict[str, int | None]:
    """Kills each worker of one run at a random moment and starts another. The training writes a line to `begun`."""
    chance = random.Random(rounds)
    run = launch(folder, python)
    kills = 0
    for _ in range(rounds):
        mark = wait_for(lambda: processes.read_mark(run.folder / "worker.json"))
        time.sleep(chance.random() * 0.4)
        if runs.glance(run).state == "ended":
            break
        if mark.process():
            os.kill(mark.pid, signal.SIGKILL)
            kills += 1
        wait_for(lambda: worker.reap_started() or runs.glance(run).state in (*runs.WITHOUT_WORKER, "ended", "lost"))
        worker.start(run)
        worker.start(run)
        wait_for(lambda: runs.glance(run).state in ("running", "ended"))
    glance = ended(run)
    begun = (run.folder / "begun").read_text().count("begun")
    ends = sum(isinstance(event, Ended) for event in events_of(run))
    return {"begun": begun, "ends": ends, "code": glance.code, "kills": kills}


PROGRAM = "echo begun >> begun; sleep 0.3; exit 4"


def kill_first_worker(folder: Path, seed: int) -> str:
    """Launch a program from a shell and kill the worker of its run in its first second.

    Returns "right" where the program ran once and its code is that of the launch, "sentence" where it never ran and the
    launch says so, else what was wrong.
    """
    chance = random.Random(seed)
    folder.mkdir()
    homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CONFIG", "CACHE")}
    line = [sys.executable, "-I", str(MAIN), "--no-project", "launch", "--json", "--", "/bin/sh", "-c", PROGRAM]
    launched = subprocess.Popen(
        line, cwd=folder, env=os.environ | homes, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    state = folder / "state" / "ascend-studio"
    worker = wait_for(lambda: launched.poll() is not None or _worker_below(state), "a worker")
    if isinstance(worker, processes.Process):
        time.sleep(chance.random())
        processes.send(worker, signal.SIGKILL)
    _, message = launched.communicate(timeout=PATIENCE)
    begun = folder / "begun"
    count = begun.read_text().count("begun") if begun.exists() else 0
    if (count, launched.returncode) == (1, 4):
        return "right"
    return "sentence" if count == 0 and message.strip() else f"begun {count}, code {launched.returncode}: {message}"


def _worker_below(state: Path) -> processes.Process | None:
    """Return the worker that is recorded first below a state folder."""
    for path in sorted((state / "starts").glob("*.json")):
        entry = files.read_as(path, ledger.Entry)
        if entry and entry.workers and (mark := processes.mark_from(entry.workers[-1])):
            return mark.process()
    return None


WINDOW = """
import json, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from ui.app import open_window

app, shell = open_window(Path(sys.argv[1]))

def look():
    page = shell._pages.get("curves")
    chart = page.content.grid.charts.get("loss") if page else None
    if chart is None or not page.watcher or not page.watcher.is_loaded or not chart.isVisible():
        return
    series = page.watcher.curves.series[0, "loss"]
    print(json.dumps(series.steps.tolist()), flush=True)
    timer.stop()

timer = QTimer()
timer.timeout.connect(look)
timer.start(10)
app.exec()
"""


def kill_windows(run: runs.Run, rounds: int) -> dict[str, float]:
    """Opens the window on a live run, waits for its curve, kills it at a random moment; again and again.

    `back`: seconds from the start of a window to its curve, worst. `wrong`: windows whose curve had lost or doubled
    a point of those that were written when it began.
    """
    chance = random.Random(rounds)
    back, wrong = [], 0
    wait_for(lambda: _steps(run), "the first loss")
    for _ in range(rounds):
        written = _steps(run)
        begun = time.monotonic()
        window = subprocess.Popen(
            [sys.executable, "-I", "-c", WINDOW, str(run.folder)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        assert window.stdout is not None
        shown = json.loads(window.stdout.readline())
        back.append(time.monotonic() - begun)
        wrong += shown[: len(written)] != written or shown != list(range(shown[0], shown[0] + len(shown)))
        time.sleep(chance.random() * 0.5)
        window.kill()
        window.wait()
    return {"rounds": rounds, "back": round(max(back), 2), "wrong": wrong}


def _steps(run: runs.Run) -> list[int]:
    return [event.step for event in events_of(run) if isinstance(event, Metric) and "loss" in event.values]
