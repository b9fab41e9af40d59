"""The exit code of a user's program is that of `launch --`; what is ours stays apart."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from backends import features
from backends.launch.own.spec import OwnSpec
from studio import processes, schema
from studio import run as runs
from studio.paths import MAIN
from tests.command_line import last_json, studio
from tests.runs import prepare, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Run

    Make = Callable[[str], Path]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 7, 125, 126, 127, 200, 255])
def test_that_the_code_of_a_program_is_the_code_of_its_launch(tmp_path: Path, code: int) -> None:
    done = studio("launch", "--json", "--", "sh", "-c", f"exit {code}", cwd=tmp_path)
    answer = last_json(done)
    assert (done.returncode, answer["code"], answer["reason"]) == (code, code, ""), done.stderr
    assert studio("watch", answer["run"], cwd=tmp_path).returncode == code


def test_that_a_signal_is_128_and_its_number(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        done = studio("launch", "--json", "--", "sh", "-c", f"kill -{int(number)} $$", cwd=tmp_path)
        assert (done.returncode, last_json(done)["code"]) == (128 + number, 128 + number), done.stderr


def test_that_a_stopped_program_keeps_the_code_that_it_ended_with(tmp_path: Path) -> None:
    script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done"
    run = last_json(studio("launch", "--detach", "--json", "--", "bash", "-c", script, cwd=tmp_path))["run"]
    wait_for(lambda: "ready" in studio("log", run, cwd=tmp_path).stdout)
    watching = subprocess.Popen([sys.executable, "-I", str(MAIN), "watch", run], cwd=tmp_path, stdout=subprocess.PIPE)
    stopped = studio("stop", run, "--json", cwd=tmp_path)
    assert (stopped.returncode, last_json(stopped)["code"], last_json(stopped)["reason"]) == (7, 7, "stopped")
    watching.communicate(timeout=300)
    assert watching.returncode == 7


def test_that_a_program_that_cannot_be_started_is_125_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "no-program").touch()
    done = studio("launch", "--json", "--", "./no-program", cwd=tmp_path)
    assert (done.returncode, last_json(done)["reason"]) == (125, "failed_to_start"), done.stderr


def test_that_a_run_whose_end_is_not_known_never_ends_with_0(tmp_path: Path) -> None:
    program = runs.create(tmp_path, "script", schema.to_json(OwnSpec()))
    recipe = prepare(tmp_path)
    for run, code in ((program, 125), (recipe, 1)):
        lose(run)
        done = studio("watch", "--json", str(run.folder), cwd=tmp_path)
        assert (done.returncode, last_json(done)["state"], last_json(done)["code"]) == (code, "lost", None)


def lose(run: Run) -> None:
    """Make of a run one whose worker and training are both gone."""
    child = subprocess.Popen(["true"])
    child.wait()
    for name in ("worker.json", "training.json"):
        processes.write_mark(run.folder / name, child.pid)


def test_that_the_work_of_the_studio_keeps_its_own_codes(tmp_path: Path, interpreter: Make) -> None:
    for code in (1, 2, 3, 7):
        done = studio("launch", "--python", str(interpreter(f"exit {code}")), "--json", cwd=tmp_path)
        assert (done.returncode, last_json(done)["code"]) == (1, code)


def test_that_a_command_that_judges_a_program_keeps_its_own_codes() -> None:
    actions = [action for feature in features() for action in feature.actions]
    assert [action.name for action in actions if action.is_program] == ["script"]


def test_that_a_failure_says_why_in_json(tmp_path: Path) -> None:
    failed = last_json(studio("launch", "--json", "--", "sh", "-c", "exit 4", cwd=tmp_path))
    assert failed["message"]
    done = last_json(studio("launch", "--json", "--", "true", cwd=tmp_path))
    assert done["message"] == ""
    run = prepare(tmp_path)
    lose(run)
    lost = last_json(studio("watch", "--json", str(run.folder), cwd=tmp_path))
    assert (lost["code"], lost["reason"]) == (None, "lost")
    assert "not recorded" in lost["message"]


def test_that_a_launch_whose_folder_is_deleted_ends_with_125_and_json(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-I",
        str(MAIN),
        "launch",
        "--json",
        "--",
        "sh",
        "-c",
        "while [ ! -e go ]; do sleep 0.1; done",
    ]
    child = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "home" / "state" / "ascend-studio" / "runs"
    wait_for(lambda: list(folder.glob("*/training.json")))
    (run,) = runs.runs_in(folder)
    shutil.rmtree(run.folder)
    stdout, stderr = child.communicate(timeout=300)
    (tmp_path / "go").touch()
    answer = json.loads(stdout.splitlines()[-1])
    assert (child.returncode, answer["state"], answer["reason"]) == (125, "gone", "lost"), stderr
    assert "deleted" in stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_that_a_launch_that_is_ended_says_that_the_training_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    line = [sys.executable, "-I", str(MAIN), "launch", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.1; done"]
    child = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "home" / "state" / "ascend-studio" / "runs"
    wait_for(lambda: list(folder.glob("*/training.json")))
    (run,) = runs.runs_in(folder)
    child.send_signal(number)
    stderr = child.communicate(timeout=300)[1]
    assert child.returncode == 128 + number
    assert f"ascend-studio stop {run.name}" in stderr
    assert runs.glance(run).state == "running"
    (tmp_path / "go").touch()
    wait_for(lambda: runs.glance(run).state == "ended")


def test_that_an_interrupted_launch_prints_each_sentence_once(tmp_path: Path) -> None:
    program = """if True:
        import time, ascend_studio
        ascend_studio.metric(1, loss=float("nan"))
        while True: time.sleep(1)
    """
    line = [sys.executable, "-I", str(MAIN), "launch", "--", sys.executable, "-c", program]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell has it ignored
    try:
        child = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.stderr is not None
    first = child.stderr.readline().rstrip("\n")
    child.send_signal(signal.SIGINT)
    lines = [first, *child.communicate(timeout=300)[1].splitlines()]
    assert any("NaN" in text for text in lines)
    assert len(lines) == len(set(lines)), lines
