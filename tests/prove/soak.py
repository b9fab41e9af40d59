"""Hours of a live run with 200 steps and 230 log lines a second, on the Curves page of a real window: its memory at the
end is that of the first ten minutes, and it takes little of a core.

One window watches one training. The first ten minutes are at the real rate; they are the baseline of the memory, and
CPU is CPU time of the window's process in them. After them the training writes `SPEED` times as fast, so that
ASCEND_STUDIO_HOURS (6 by default) take minutes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from studio import files, paths, worker
from studio import run as runs
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

HOURS = float(os.environ.get("ASCEND_STUDIO_HOURS", "6"))
SPEED = 12
RATE = 200
SAMPLE = 10
"""Seconds between two samples."""
FIRST = 600
"""Seconds of the training that count as its beginning, and as its end."""
WARM_UP = 30
"""Seconds before the CPU time is counted."""
MEMORY_LIMIT, CPU_LIMIT = 5.0, 5.0
"""Percent."""
KINDS, JUDGED = ("Rss", "Pss", "Private_Dirty"), ("Rss", "Private_Dirty")
"""Pss also changes with other processes that use the same libraries: it is only reported."""

TRAINING = """
import math, pathlib, sys, time
import ascend_studio

rate, fast = int(sys.argv[1]), pathlib.Path(sys.argv[2])
speed = step = 0
while True:
    if speed != (now := int(fast.read_text())):
        begun, first, speed = time.monotonic(), step, now
    for _ in range(speed):
        step += 1
        loss = 2 / (1 + step / 1e5) + math.sin(step * 12.9898) / 50
        ascend_studio.metric(step, loss=loss, lr=1e-3 * 0.999999**step, step_time=0.004 + step % 11 / 1e4)
        print(f"2026-01-01 00:00:00,000 [INFO] trainer: epoch {step // 5000} step {step} loss {loss:.6f} lr 0.001")
        if step % 20 == 0:
            print("fetching the next shard\\nread 1024 samples\\nqueue 3 of 8")
        if step % (rate // 4) == 0:
            ascend_studio.progress(step, 10**8, "train")
        if step % 10_000 == 0:
            ascend_studio.artifact("checkpoint", f"artifacts/step-{step}-0a1b2c")
    sys.stdout.flush()
    time.sleep(max(0, begun + (step - first) / rate / speed - time.monotonic()))
"""
WINDOW = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from PySide6.QtCore import QTimer
from ui.app import open_window

app, shell = open_window(Path(sys.argv[1]))
shell.resize(1440, 900)

def look():
    page = shell._pages.get("curves")
    charts = page.content.grid.charts if page else {}
    if len(charts) == 3 and page.watcher.is_loaded:
        print("visible", flush=True)
        timer.stop()

timer = QTimer()
timer.timeout.connect(look)
timer.start(50)
app.exec()
"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Of the window's process. `cpu` and `time` in seconds, memory in MB by kind."""

    time: float
    cpu: float
    memory: dict[str, float]


@contextmanager
def training(folder: Path, speed: Path) -> Iterator[runs.Run]:
    """A live run of the writer, started by the command as a user would. The file `speed` has the factor of its rate."""
    script = folder / "train.py"
    script.write_text(TRAINING)
    words = ["launch", "--detach", "--", sys.executable, str(script), str(RATE), str(speed)]
    subprocess.run([sys.executable, "-I", str(paths.MAIN), *words], check=True, stdin=subprocess.DEVNULL)
    (run,) = (run for run in runs.runs_in(paths.state_home() / "runs") if runs.glance(run).state != "ended")
    try:
        wait_for(lambda: any(run.folder.glob("events.*")), "the first event")
        yield run
    finally:
        worker.stop(run)
        worker.stop(run)
        wait_for(lambda: runs.glance(run).state == "ended", "the end of the training")


@contextmanager
def window(run: runs.Run) -> Iterator[int]:
    """The id of a window's process that shows the curves of a run."""
    line = [sys.executable, "-I", "-c", WINDOW, str(run.folder), str(paths.ROOT)]
    child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"visible\n"
        yield child.pid
        assert child.poll() is None, "the window is gone"
    finally:
        child.kill()
        child.wait()


def sample(pid: int) -> Sample:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    memory = {name: int(rest.split()[0]) / 1024 for name, _, rest in (line.partition(":") for line in lines)}
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return Sample(time=time.monotonic(), cpu=cpu, memory={kind: round(memory[kind], 1) for kind in KINDS})


def samples_of(pid: int, seconds: float) -> list[Sample]:
    samples = [sample(pid)]
    while samples[-1].time - samples[0].time < seconds:
        time.sleep(SAMPLE)
        samples.append(sample(pid))
        print(f"{samples[-1].time - samples[0].time:7.0f} s", samples[-1], file=sys.stderr, flush=True)
    return samples


def growth(begin: list[Sample], end: list[Sample]) -> dict[str, dict[str, float]]:
    """By kind: the most of the first samples and the median of the last, in MB, and the growth in percent."""
    figures = {}
    for kind in KINDS:
        first = max(sample.memory[kind] for sample in begin)
        last = statistics.median(sample.memory[kind] for sample in end)
        figures[kind] = {"first": first, "last": last, "percent": round(100 * (last / first - 1), 2)}
    return figures


def _homes(folder: str) -> dict[str, str]:
    return {f"XDG_{kind}_HOME": f"{folder}/{kind.lower()}" for kind in ("CONFIG", "STATE", "CACHE")}


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, _homes(name)):
        speed = Path(name) / "speed"
        speed.write_text("1")
        with training(Path(name), speed) as run, window(run) as pid:
            time.sleep(WARM_UP)
            calm = samples_of(pid, FIRST - WARM_UP)
            files.write_whole(speed, str(SPEED).encode())
            fast = samples_of(pid, (HOURS * 3600 - FIRST) / SPEED)
    cpu = 100 * (calm[-1].cpu - calm[0].cpu) / (calm[-1].time - calm[0].time)
    memory = growth(calm, [sample for sample in fast if sample.time >= fast[-1].time - FIRST / SPEED])
    grown = max(memory[kind]["percent"] for kind in JUDGED)
    return {
        "passed": grown <= MEMORY_LIMIT and cpu <= CPU_LIMIT, "hours": HOURS, "speed": SPEED, "memory": memory,
        "cpu_percent": round(cpu, 2), "memory_limit": MEMORY_LIMIT, "cpu_limit": CPU_LIMIT,
    }  # fmt: skip
