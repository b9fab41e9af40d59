"""A process of a training that fails is told, although the program that started it ends well."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from backends.launch.own.failed_processes import judged_by_processes
from studio.events import Ended
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
import ascend_studio
for step in range(1, 6):
    ascend_studio.metric(step, loss=0.5)
"""
FAILING = TRAINING + "raise RuntimeError('no card answers')\n"
JOINED = """
import multiprocessing
def train(number):
    import ascend_studio
    for step in range(1, 6):
        ascend_studio.metric(step, loss=0.5)
    if number:
        raise RuntimeError("no card answers")
if __name__ == "__main__":
    processes = [multiprocessing.get_context(METHOD).Process(target=train, args=(n,)) for n in (0, 1)]
    for process in processes:
        process.start()
        process.join()
"""


def ended_by(folder: Path, *line: str, **scripts: str) -> tuple[int, dict[str, object]]:
    """Return the exit code and the answer of a line that runs in a folder with these scripts."""
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    done = studio("--no-project", "launch", "--json", "--", *line, cwd=folder)
    return done.returncode, last_json(done)


def shell(folder: Path, text: str) -> tuple[str, str]:
    (folder / "run.sh").write_text(text.replace("PYTHON", sys.executable))
    return "bash", "run.sh"


def test_that_a_training_that_fails_in_front_of_a_pipe_is_not_done(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON train.py 2>&1 | tee log.txt\n")
    code, answer = ended_by(tmp_path, *line, train=FAILING)
    assert (code, answer["code"]) == (1, 1)
    assert "RuntimeError: no card answers" in str(answer["message"])


def test_that_a_rehearsal_that_fails_in_front_of_a_pipe_is_not_done(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    line = shell(tmp_path, "PYTHON train.py 2>&1 | tee log.txt\n")
    done = studio("--no-project", "rehearse", "--as", "cuda", "--json", "--", *line, cwd=tmp_path)
    assert (done.returncode, last_json(done)["code"]) == (1, 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_that_a_failed_child_whose_exit_code_nobody_looks_at_is_told(tmp_path: Path, homes: Path, method: str) -> None:
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=JOINED.replace("METHOD", repr(method)))
    assert (code, "exit code 1" in str(answer["message"])) == (1, True)


def test_that_a_training_that_is_tried_again_is_done(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON train.py || PYTHON again.py\n")
    assert ended_by(tmp_path, *line, train=FAILING, again=TRAINING)[0] == 0


def test_that_a_failure_of_a_process_that_trained_nothing_is_the_script_s_own_affair(
    tmp_path: Path, homes: Path
) -> None:
    line = shell(tmp_path, "PYTHON -c 'import nothing_of_that_name' || PYTHON train.py\n")
    assert ended_by(tmp_path, *line, train=TRAINING)[0] == 0


def left(folder: Path, rank: int, pid: int, time: int, error: str = "exit code 1") -> None:
    (folder / f"failed.a1.r{rank}.p{pid}.json").write_text(json.dumps({"time": time, "error": error}))


def test_that_a_program_that_failed_or_was_stopped_keeps_its_own_end(tmp_path: Path) -> None:
    left(tmp_path, 0, 7, 10)
    for ended in (Ended(code=7), Ended(code=0, reason="stopped")):
        assert judged_by_processes(tmp_path, 1, ended) == (ended, [])


def test_that_the_first_failure_is_named_and_one_of_another_attempt_is_not(tmp_path: Path) -> None:
    left(tmp_path, 1, 8, 10, "ValueError: b")
    left(tmp_path, 0, 7, 20)
    _, (finding,) = judged_by_processes(tmp_path, 1, Ended(code=0))
    assert finding.args == {"rank": 1, "error": "ValueError: b"}
    assert judged_by_processes(tmp_path, 2, Ended(code=0)) == (Ended(code=0), [])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"time": "x"}'])
def test_that_a_damaged_file_is_a_failure_too(tmp_path: Path, text: str) -> None:
    """A full disk may have cut it off; only a process that failed makes one."""
    (tmp_path / "failed.a1.r0.p7.json").write_text(text)
    ended, (finding,) = judged_by_processes(tmp_path, 1, Ended(code=0))
    assert (ended.code, finding.args["rank"]) == (1, 0)
