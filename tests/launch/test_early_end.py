"""A training that ends before its last step is told as that, although its program ends well."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from backends.launch.early_end import early_end, unknown_length
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

    from studio.events import Finding

LOOP = """
import ascend_studio, os, sys
def train():
    for step in range(1, 21):
        BEFORE
        ascend_studio.metric(step, loss=1.0 / step)
        if step == 8 and CONDITION:
            END
train()
"""


def script(end: str, before: str = "pass", condition: str = "True") -> str:
    return LOOP.replace("END", end).replace("BEFORE", before).replace("CONDITION", condition)


def ended_by(folder: Path, text: str, *line: str) -> tuple[int, dict[str, object]]:
    (folder / "train.py").write_text(text)
    words = line or (sys.executable, "train.py")
    done = studio("--no-project", "launch", "--json", "--", *words, cwd=folder)
    return done.returncode, last_json(done)


ENDS = ("os._exit(0)", "sys.exit(0)", "return")


@pytest.mark.parametrize("end", ENDS)
def test_that_a_training_of_a_known_length_that_ends_before_it_is_incomplete(
    tmp_path: Path, homes: Path, end: str
) -> None:
    code, answer = ended_by(tmp_path, script(end, "ascend_studio.progress(step, 20, 'train')"))
    assert (code, answer["reason"]) == (3, "incomplete")
    assert "step 8 of 20" in str(answer["message"])


@pytest.mark.parametrize("end", ENDS)
def test_that_a_rank_that_ends_before_the_others_is_told(tmp_path: Path, homes: Path, end: str) -> None:
    line = ("bash", "-c", f"for r in 0 1; do RANK=$r {sys.executable} train.py & done; wait")
    (tmp_path / "run.sh").write_text(line[2])
    code, answer = ended_by(tmp_path, script(end, condition="os.environ['RANK'] == '1'"), "bash", "run.sh")
    assert (code, answer["reason"]) == (3, "incomplete")
    assert "Rank 1 ended at step 8" in str(answer["message"])


def test_that_an_exit_past_the_end_of_python_is_told_where_the_length_is_not_known(tmp_path: Path, homes: Path) -> None:
    code, answer = ended_by(tmp_path, script("os._exit(0)"))
    assert (code, answer["reason"]) == (3, "incomplete")
    assert "os._exit after step 8" in str(answer["message"])


def test_that_an_exit_past_the_end_of_python_behind_the_last_step_is_done(tmp_path: Path, homes: Path) -> None:
    code, _ = ended_by(tmp_path, script("pass", "ascend_studio.progress(step, 20, 'train')") + "os._exit(0)\n")
    assert code == 0


UNKNOWN = "How many steps were meant is not known"


@pytest.mark.parametrize("end", ["return", "pass"])
def test_that_a_training_of_unknown_length_says_how_far_it_came(tmp_path: Path, homes: Path, end: str) -> None:
    (tmp_path / "train.py").write_text(script(end))
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    answer = last_json(done)
    last = 8 if end == "return" else 20
    assert (done.returncode, answer["last_step"], answer["length_known"]) == (0, last, False)
    assert f"came to step {last}. {UNKNOWN}" in done.stderr


def test_that_a_training_of_known_length_says_nothing_of_it(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(script("pass", "ascend_studio.progress(step, 20, 'train')"))
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert (done.returncode, last_json(done)["length_known"], UNKNOWN in done.stderr) == (0, True, False)


# What the files of processes end with

Line = dict[str, object]


def metric(step: int, name: str = "loss") -> Line:
    return {"type": "metric", "time": step, "step": step, "values": {name: 0.5}}


def progress(done: int, total: int, phase: str = "train") -> Line:
    return {"type": "progress", "time": 1, "done": done, "total": total, "phase": phase}


def write(folder: Path, rank: int, *lines: Line, pid: int = 0) -> None:
    name = f"events.a1.r{rank}.p{pid or 100 + rank}.jsonl"
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def told(folder: Path) -> Finding | None:
    return early_end(folder, 1)


def test_that_a_length_is_known_where_one_rank_tells_it(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(20, name="accuracy"))
    covered = unknown_length(tmp_path, 1)
    assert covered is not None
    assert covered.args == {"step": 20}
    write(tmp_path, 1, *steps(20), progress(20, 20))
    assert unknown_length(tmp_path, 1) is None


def steps(last: int, every: int = 1, name: str = "loss") -> list[Line]:
    return [metric(step, name) for step in range(every, last + 1, every)]


def test_that_a_trainer_that_was_told_to_end_early_is_done(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(8), progress(8, 20), progress(8, 20, "finish"), progress(8, 20, "evaluate"))
    assert told(tmp_path) is None


def test_that_a_second_training_that_ends_early_is_told_behind_one_that_ended_well(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(20), progress(20, 20, "finish"), progress(20, 40), *steps(28)[20:], progress(28, 40))
    finding = told(tmp_path)
    assert finding is not None
    assert finding.args == {"rank": 0, "step": 28, "total": 40}


def test_that_a_training_without_a_first_step_is_told(tmp_path: Path) -> None:
    write(tmp_path, 0, progress(0, 20, "load"), progress(0, 20, "compile"))
    finding = told(tmp_path)
    assert finding is not None
    assert (finding.args["step"], finding.args["total"]) == (0, 20)


def test_that_steps_that_are_recorded_now_and_then_do_not_seem_to_be_missing(tmp_path: Path) -> None:
    write(tmp_path, 0, *(line for step in (10, 20) for line in (metric(step), progress(step, 25))))
    assert told(tmp_path) is None


def test_that_a_process_that_another_went_on_from_is_not_early(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(8), progress(8, 20))
    write(tmp_path, 0, *steps(20)[8:], progress(20, 20), pid=7)
    assert told(tmp_path) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (steps(20), steps(19)),
        (steps(20), steps(20, every=5)),
        (steps(20), steps(8, name="critic_loss")),
        (steps(20), [progress(0, 0, "train")]),
    ],
)
def test_that_ranks_that_differ_by_a_batch_or_train_something_else_are_done(
    tmp_path: Path, first: list[Line], second: list[Line]
) -> None:
    write(tmp_path, 0, *first)
    write(tmp_path, 1, *second)
    assert told(tmp_path) is None


def test_that_a_rank_that_evaluates_for_all_is_compared_with_the_others(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(20), metric(20, "eval_loss"))
    write(tmp_path, 1, *steps(8))
    finding = told(tmp_path)
    assert finding is not None
    assert finding.args == {"rank": 1, "step": 8, "last": 20}


LOGGED = """
import ascend_studio, os
for number in range(1, TOTAL + 1):
    ascend_studio.metric(number, loss=1.0 / number)
    print(f"WORD {number}/20 loss {1 / number:.3f}", flush=True)
LAST
"""


def logged(total: int, word: str = "step", last: str = "") -> str:
    return LOGGED.replace("TOTAL", str(total)).replace("WORD", word).replace("LAST", last)


@pytest.mark.parametrize(("word", "sentence"), [("step", "step 8 of 20"), ("Epoch", "epoch 8 of 20")])
def test_that_a_length_that_the_log_tells_counts_where_the_training_writes_its_own_losses(
    tmp_path: Path, homes: Path, word: str, sentence: str
) -> None:
    code, answer = ended_by(tmp_path, logged(8, word))
    assert (code, answer["reason"]) == (3, "incomplete")
    assert sentence in str(answer["message"])


def test_that_an_exit_past_the_end_of_python_is_done_where_the_log_came_to_its_last_step(
    tmp_path: Path, homes: Path
) -> None:
    code, answer = ended_by(tmp_path, logged(20, last="os._exit(0)"))
    assert (code, answer["length_known"]) == (0, True)


def test_that_epochs_of_a_log_are_not_compared_with_steps(tmp_path: Path) -> None:
    write(tmp_path, 0, *steps(300))
    by_log = {**progress(3, 10), "log_unit": "epochs"}
    write(tmp_path, 0, *steps(300), by_log, pid=7)
    finding = told(tmp_path)
    assert finding is not None
    assert (finding.rule, finding.args["step"], finding.args["total"]) == ("run.ended_early_epochs", 3, 10)
