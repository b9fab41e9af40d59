"""A capture that was planned with a training and is not there at its end, or has too few steps, is told as that."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from backends.launch.capture import state
from backends.launch.capture.planned import MISSING, NO_PACK, SHORT, missing_parts
from backends.launch.capture.spec import Planned
from backends.launch.spec import LaunchSpec
from backends.launch.work import end_training
from studio import files, schema
from studio.events import Ended
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.runs import prepare

TORCH = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    model(torch.ones(8, 4)).square().mean().backward()
    optimizer.step()
"""
DUMP = Planned(capture="dump", capture_at=4, capture_steps=5)


def planned_run(folder: Path, planned: Planned = DUMP, **ranks: dict[str, Any]) -> Path:
    """A run whose training has ended. `ranks`: what each of them has written of the planned capture."""
    run = prepare(folder / "runs").folder
    state.request_planned(run, planned)
    parts = state.read_planned(run)
    for name, values in ranks.items():
        assert parts is not None
        assert parts.request is not None
        (run / state.FOLDER / parts.request.id).mkdir(parents=True, exist_ok=True)
        rank = {"kind": "dump", "start": 4, "steps": 5, **values}
        files.write_json(run / state.FOLDER / parts.request.id / f"{name}.json", rank)
    return run


def sentences(run: Path) -> list[str]:
    return [sentence_of(finding) for finding in missing_parts(run)]


def test_that_a_whole_capture_and_a_training_without_a_plan_lack_nothing(tmp_path: Path) -> None:
    assert missing_parts(planned_run(tmp_path, rank0={"state": "done", "done": 5})) == []
    assert missing_parts(planned_run(tmp_path, Planned())) == []
    packed = planned_run(tmp_path, Planned(config_pack=True))
    assert [finding.rule for finding in missing_parts(packed)] == [NO_PACK]
    (packed / "artifacts" / "config").mkdir(parents=True)
    (packed / "artifacts" / "config" / "rank0.zip").touch()
    assert missing_parts(packed) == []


def test_that_fewer_steps_than_planned_are_told_with_both_counts(tmp_path: Path) -> None:
    (sentence,) = sentences(planned_run(tmp_path, rank0={"state": "done", "done": 2}))
    assert "2 of 5 steps were captured, up to step 5" in sentence
    assert "go on to step 8" in sentence


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        ({"state": "failed", "rule": "capture.not_reached", "args": {"start": 4}}, "before step 4 was captured"),
        ({"state": "failed", "rule": "capture.nothing_matched", "args": {"targets": "NoSuchOp"}}, "NoSuchOp"),
        ({"state": "begun", "done": 1}, "os._exit"),
        ({"state": "armed"}, "os._exit"),
    ],
)
def test_that_a_planned_capture_that_was_not_made_says_why(tmp_path: Path, rank: dict[str, Any], words: str) -> None:
    (sentence,) = sentences(planned_run(tmp_path, rank0=rank))
    assert sentence.startswith("The planned capture was not made. ")
    assert words in sentence


def test_that_a_capture_that_nobody_took_up_says_whether_anything_was_trained(tmp_path: Path) -> None:
    run = planned_run(tmp_path)
    assert "No training step of PyTorch or MindSpore was seen" in sentences(run)[0]
    files.write_json(run / "capture.r0.json", {"pid": 1})
    assert "ended before step 4 was captured" in sentences(run)[0]


def test_that_the_ranks_without_the_capture_are_named(tmp_path: Path) -> None:
    run = planned_run(tmp_path, rank0={"state": "done", "done": 5}, rank1={"state": "done", "done": 4})
    files.write_json(run / "capture.r2.json", {"pid": 1})
    first, second = missing_parts(run)
    assert ([first.rule, second.rule], sentence_of(first)[:8]) == ([SHORT, MISSING], "Rank 1: ")


def test_that_a_capture_that_was_withdrawn_is_not_missed(tmp_path: Path) -> None:
    run = planned_run(tmp_path)
    parts = state.read_planned(run)
    assert parts is not None
    assert parts.request is not None
    state.withdraw(run, parts.request)
    assert missing_parts(run) == []
    assert missing_parts(planned_run(tmp_path, rank0={"state": "withdrawn"})) == []


@pytest.mark.parametrize("ended", [Ended(code=1), Ended(code=143, reason="stopped")])
def test_that_a_training_that_failed_or_was_stopped_says_that_first(tmp_path: Path, ended: Ended) -> None:
    folder = planned_run(tmp_path)
    run = prepare(tmp_path / "other")
    (folder / state.PLANNED_FILE).rename(run.folder / state.PLANNED_FILE)
    assert end_training(run, ended) == ended


def test_that_a_recipe_that_ends_before_the_last_captured_step_is_refused() -> None:
    spec = LaunchSpec()
    for name, value in {"steps": 5, "mode": "pynative", "capture": "dump", "capture_at": 4, "capture_steps": 5}.items():
        spec = schema.with_value(spec, name, value)
    (problem,) = schema.problems(spec)
    assert (problem.field, problem.args) == ("capture_steps", {"last": 8, "steps": 5})
    assert not schema.problems(schema.with_value(spec, "capture_steps", 2))


def launched(folder: Path, script: str, *options: str) -> tuple[int, dict[str, Any]]:
    (folder / "train.py").write_text(script)
    line = ("--json", "--", sys.executable, "train.py")
    done = studio("--no-project", "launch", *options, *line, cwd=folder)
    return done.returncode, last_json(done)


def test_that_a_profile_that_the_training_ended_before_has_no_step_more(tmp_path: Path, homes: Path) -> None:
    pytest.importorskip("torch")
    code, answer = launched(tmp_path, TORCH, "--capture", "profile", "--capture-at", "5", "--capture-steps", "9")
    assert (code, answer["code"], answer["reason"]) == (3, 0, "incomplete")
    assert "2 of 9 steps were captured, up to step 6" in answer["message"]
    (artifact,) = answer["artifacts"]
    trace = (Path(answer["run"]) / artifact["path"]).read_text()
    assert sorted(re.findall(r'"ProfilerStep#(\d+)"', trace)) == ["5", "6"]
    assert json.loads(trace)["traceEvents"]


def test_that_a_dump_that_the_training_ended_before_has_no_empty_step(tmp_path: Path, homes: Path) -> None:
    pytest.importorskip("msprobe")
    code, answer = launched(tmp_path, TORCH, "--capture", "dump", "--capture-at", "5", "--capture-steps", "9")
    assert (code, answer["reason"]) == (3, "incomplete")
    folder = Path(answer["run"]) / answer["artifacts"][0]["path"]
    assert sorted(path.name for path in folder.glob("step*")) == ["step5", "step6"]


def test_that_a_script_without_a_framework_lacks_its_capture(tmp_path: Path, homes: Path) -> None:
    code, answer = launched(tmp_path, "print('step 1 loss 0.5')", "--capture", "dump", "--config-pack")
    assert (code, answer["code"], answer["reason"]) == (3, 0, "incomplete")
    assert answer["message"].startswith("The planned capture was not made. No training step")
