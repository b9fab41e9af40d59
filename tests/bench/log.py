"""A log flood of 100,000 lines a second, in view, through a real worker."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from studio import run as runs
from tests.bench.figure import Figure, percentile
from tests.bench.stage import Heart, wait, window
from tests.runs import launch

SECONDS = 5
RATE = 100_000
FLOOD = f"""
import os, time
line = b"[INFO] step 12345 of a training that prints far more than anybody can read 0123456789\\n"
begun = time.monotonic()
for tick in range({SECONDS} * 100):
    os.write(1, line * {RATE // 100})
    time.sleep(max(0, begun + (tick + 1) / 100 - time.monotonic()))
"""


def figures() -> list[Figure]:
    shell = window()
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        python.write_text(f"#!{sys.executable}\n{FLOOD}")
        python.chmod(0o755)
        idle = _beats(shell, seconds=2)
        run = launch(shell.session.folder, python)
        shell.session.refresh_runs()
        shell.session.choose_run(run)
        page = shell.page_widget("curves")
        page.log.open(True)
        wait(lambda: run.log.exists() and run.log.stat().st_size > 0, 30)
        heart = Heart()
        wait(lambda: runs.glance(run).state == "ended", 60)
        heart.stop()
        lines = run.log.read_bytes().count(b"\n")
    shell.close()
    lost, late = SECONDS * RATE - lines, percentile(heart.late, 0.99)
    return [
        Figure(what="heartbeat late in a log flood, p99", value=late, unit="ms", bar=20, peer=idle, peer_name="idle"),
        Figure(what="UI CPU at a stretch during the flood, p99", value=percentile(heart.busy, 0.99), unit="ms"),
        Figure(what=f"lines lost in the file, of {SECONDS * RATE:,}", value=lost, unit="lines", bar=0),
    ]  # fmt: skip


def _beats(shell: object, seconds: float) -> float:
    import time

    heart = Heart()
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() > end, seconds + 5)
    heart.stop()
    return percentile(heart.late, 0.99)
