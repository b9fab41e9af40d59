"""What the command line says of a training that ended, for people and in `--json`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from backends.launch.training_answer import training_answer
from studio import run as runs
from studio.events import Artifact, Ended, Journal, Metric
from studio.project import runs_folder
from tests.command_line import last_json, studio
from tests.runs import prepare

if TYPE_CHECKING:
    from pathlib import Path


DDP = """
import os, subprocess, sys
if "RANK" not in os.environ:
    env = {**os.environ, "WORLD_SIZE": "2"}
    ranks = [subprocess.Popen([sys.executable, __file__], env={**env, "RANK": str(rank)}) for rank in (0, 1)]
    raise SystemExit(max(rank.wait() for rank in ranks))
import ascend_studio
rank = int(os.environ["RANK"])
for step in range(1, 12):
    ascend_studio.metric(step, loss=1.0 + 2 * rank)
"""


def test_that_an_unknown_failure_shows_the_end_of_its_log(tmp_path: Path, homes: Path) -> None:
    program = "import sys; print('reading shard 17'); print('\\x1b[31mwrong magic\\x1b[0m'); sys.exit(9)"
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 9
    answer = last_json(done)
    assert answer["log"][:1] == ["reading shard 17"]
    assert "wrong magic" in answer["log"][1]
    assert answer["message"]
    shown = studio("--no-project", "watch", runs.runs_in(runs_folder(None))[0].name, cwd=tmp_path)
    assert "The end of its log:\n  reading shard 17\n" in shown.stderr
    assert "\x1b[31m" not in shown.stderr


def test_that_a_known_failure_has_its_cause_instead(tmp_path: Path, homes: Path) -> None:
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "-c", "import nothing_here", cwd=tmp_path)
    answer = last_json(done)
    assert "no module named nothing_here" in answer["message"]
    assert answer["log"][-1].startswith("ModuleNotFoundError")


def test_that_a_success_has_its_duration_and_mean_speed(tmp_path: Path, homes: Path) -> None:
    script = """
import ascend_studio
for step in range(1, 12):
    time, rate = (5.0, 6.4) if step == 1 else (0.5, 64.0)
    ascend_studio.metric(step, loss=1 / step, step_time=time, throughput=rate)
"""
    (tmp_path / "train.py").write_text(script)
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    answer = last_json(done)
    assert done.returncode == 0
    assert answer["duration"] > 0
    assert (answer["last_step"], answer["ranks"], answer["length_known"]) == (11, 1, False)
    assert (answer["median_step_time"], answer["mean_throughput"]) == (0.5, 64.0)
    assert answer["loss"] == pytest.approx(1 / 11)
    assert "log" not in answer


def test_that_the_mean_is_of_all_samples_in_all_of_the_time(tmp_path: Path) -> None:
    """A mean of the rates would count a slow step like a quick one."""
    run = prepare(tmp_path)
    times = [9.0, 1.0, 4.0]
    metrics = [Metric(step=n, values={"step_time": time, "throughput": 64 / time}) for n, time in enumerate(times, 1)]
    Journal(run.folder, 1).write(*metrics, Ended(code=0))
    assert training_answer(run)["mean_throughput"] == pytest.approx(2 * 64 / 5)


def test_that_the_loss_of_several_ranks_is_their_mean(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    for rank, loss in ((0, 1.0), (1, 3.0)):
        line = f'{{"type":"metric","time":1,"step":5,"values":{{"loss":{loss}}}}}\n'
        (run.folder / f"events.a1.r{rank}.p{rank + 1}.jsonl").write_text(line)
    Journal(run.folder, 1).write(Ended(code=0))
    answer = training_answer(run)
    assert (answer["ranks"], answer["loss"]) == (2, 2.0)


def test_that_the_two_losses_of_an_answer_are_one_and_its_basis_is_named(tmp_path: Path, homes: Path) -> None:
    """A script that spawns its ranks wrote rank 0's loss among the metrics, and the mean beside it."""
    (tmp_path / "train.py").write_text(DDP)
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    answer = last_json(done)
    assert (answer["ranks"], answer["loss_basis"]) == (2, "mean_of_ranks")
    assert answer["loss"] == answer["metrics"]["loss"] == 2.0
    assert "loss 2 (mean of 2 ranks)" in done.stderr


def test_that_an_answer_names_no_checkpoint_that_is_gone(tmp_path: Path, homes: Path) -> None:
    run = runs.create(tmp_path, "launch", {})
    kept = run.folder / "artifacts" / "checkpoints" / "step-2"
    kept.mkdir(parents=True)
    for step in (1, 2):
        Journal(run.folder, 1).write(Artifact(kind="checkpoint", path=f"artifacts/checkpoints/step-{step}"))
    Journal(run.folder, 1).write(Ended(code=0))
    done = studio("--no-project", "watch", str(run.folder), "--json", cwd=tmp_path)
    assert [artifact["path"] for artifact in last_json(done)["artifacts"]] == ["artifacts/checkpoints/step-2"]


def test_that_the_last_step_is_no_count(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    Journal(run.folder, 1).write(*(Metric(step=step, values={"loss": 1.0}) for step in (100, 110, 120)), Ended(code=0))
    answer = training_answer(run)
    assert (answer["last_step"], "steps" in answer) == (120, False)
