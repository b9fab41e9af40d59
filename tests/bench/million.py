"""Opening a run with 1,000,000 metric records in the window."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from studio.events import name_of
from studio.run import create
from tests.bench.figure import Figure
from tests.bench.stage import Heart, wait, window

if TYPE_CHECKING:
    from pathlib import Path

    from studio import run as runs

RECORDS = 1_000_000
BEGAN = 1_763_660_000_123_456_789


def _line(step: int) -> str:
    loss, seconds = 2 / (1 + step / 1000) + step % 7 / 100, 0.01 + step % 11 / 1e4
    values = f'"loss":{loss!r},"lr":0.001,"step_time":{seconds!r}'
    return f'{{"type":"metric","time":{BEGAN + step * 10**7},"step":{step},"values":{{{values}}}}}\n'


def _make(folder: Path) -> runs.Run:
    folder.mkdir(parents=True, exist_ok=True)
    run = create(folder, "launch", {"what": {"recipe": "linear"}})
    with (run.folder / name_of(1, 0, 1)).open("w") as file:
        file.writelines(_line(step) for step in range(RECORDS))
        file.write(f'{{"type":"ended","time":{BEGAN + RECORDS * 10**7},"code":0,"reason":""}}\n')
    return run


def figures() -> list[Figure]:
    shell = window()
    page = shell.page_widget("curves")
    run = _make(shell.session.folder)
    shell.session.refresh_runs()
    heart = Heart()
    begun = time.process_time()
    shell.session.choose_run(run)
    wait(lambda: page.watcher is not None and page.watcher.is_loaded, 120)
    seconds = time.process_time() - begun
    heart.stop()
    points = len(page.watcher.curves.series[0, "loss"])
    assert points == RECORDS, points
    (events,) = run.folder.glob("events*")
    bare = _bare(events)
    shell.close()
    name = "open a run of 1,000,000 metric records"
    return [
        Figure(what=name, value=seconds, unit="s CPU", bar=1.5, peer=bare, peer_name="json.loads alone"),
        Figure(what="UI CPU at a stretch meanwhile, at most", value=max(heart.busy), unit="ms", bar=50),
    ]  # fmt: skip


def _bare(path: Path) -> float:
    begun = time.process_time()
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
    return time.process_time() - begun
