"""A script that writes TensorBoard files: its curves are there while it runs."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from backends.launch.own.tensorboard_curves import TensorBoardCurves
from studio import run as runs
from studio.events import Journal, Metric
from studio.paths import ROOT
from studio.project import runs_folder
from tests.command_line import studio
from tests.runs import events_of, prepare, wait_for

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = ROOT / "tests" / "recorded" / "tensorboard" / "torch.tfevents"
NAME = "events.out.tfevents.1795465000.host.7.0"
# Writes the first half of a real file, waits for a sign, and writes the rest: no framework, and nothing in its log.
SCRIPT = f"""
import os, time
data = open({str(RECORDED)!r}, "rb").read()
os.makedirs("out/logs")
with open("out/logs/{NAME}", "wb") as file:
    file.write(data[:300]); file.flush()
    while not os.path.exists("enough"): time.sleep(0.05)
    file.write(data[300:])
"""


def tags(run: runs.Run) -> dict[str, list[int]]:
    steps: dict[str, list[int]] = {}
    for event in events_of(run):
        for name in event.values if isinstance(event, Metric) else ():
            steps.setdefault(name, []).append(event.step)
    return steps


def test_that_tensorboard_files_are_followed_while_a_script_writes_them(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = studio("--no-project", "launch", "--detach", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = runs.runs_in(runs_folder(None))
    wait_for(lambda: "Loss/train" in tags(run), "points while it runs")
    assert runs.glance(run).state == "running"
    (tmp_path / "enough").touch()
    wait_for(lambda: runs.glance(run).state == "ended")
    assert tags(run)["Loss/train"] == [1, 2, 3, 4, 5]
    assert tags(run)["tensorboard/loss"] == [1, 2, 3, 4, 5], "the loss of the studio's own curves is another one"
    assert "hooks.nothing_seen" not in "".join(path.read_text() for path in run.folder.glob("events*"))


def test_that_files_of_an_earlier_run_are_left_alone(tmp_path: Path) -> None:
    run = prepare(tmp_path / "runs")
    old = tmp_path / "project" / NAME
    old.parent.mkdir()
    shutil.copy(RECORDED, old)
    begun = old.stat().st_mtime + 60
    curves = TensorBoardCurves(old.parent, begun, Journal(run.folder, 1))
    curves.tick()
    curves.finish()
    assert not curves.has_files
    assert not tags(run)
