"""A loss in a log that is no number is told, whatever curves there are."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from backends.launch.own.log_losses import nonfinite_loss
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

LINES = {
    "step 8: train loss 4.2, val loss nan": ("val loss", "NaN", "step 8"),
    "epoch 3 loss 0.5 val_loss: nan": ("val_loss", "NaN", "epoch 3"),
    "{'eval_loss': nan, 'epoch': 3.0}": ("eval_loss", "NaN", "epoch 3"),
    "step 3 | mlm_loss=-inf": ("mlm_loss", "-Infinity", "step 3"),
    "Test set: Average loss: nan, Accuracy: 3/4": ("Test set: Average loss", "NaN", "–"),
    "Validation  loss = inf": ("Validation  loss", "Infinity", "–"),
}


@pytest.mark.parametrize("line", LINES)
def test_that_a_loss_of_an_evaluation_is_found_in_a_line(line: str) -> None:
    found = nonfinite_loss(line)
    assert found is not None
    assert (found["name"], found["value"], found["place"]) == LINES[line]


@pytest.mark.parametrize(
    "line",
    [
        "best_val_loss: inf", "Validation loss decreased (inf --> 0.5)", "val_loss improved from inf to 0.5",
        "loss: nan", "train loss nan", "loss_scale: inf", "min val loss inf", "Loss information: none",
        "loss infeasible", "step 4 val loss 0.4", "lm loss: nan",
    ],
)  # fmt: skip
def test_that_bounds_and_what_the_curves_tell_are_left_to_them(line: str) -> None:
    assert nonfinite_loss(line) is None


def test_that_a_line_of_any_length_is_read_in_no_time() -> None:
    begin = time.thread_time()
    for line in ("loss " * 2000, "a" * 9000 + "loss nan", "val loss" + " " * 9000 + "nan", "x loss_nan " * 900):
        nonfinite_loss(line)
    assert time.thread_time() - begin < 0.2


SCRIPT = """
import RECORDER
for step in range(1, 21):
    RECORD
    print(f"step {step}: train loss {1 / step}, val loss {float('nan') if step > 7 else 0.5}", flush=True)
"""


@pytest.mark.parametrize("records", [True, False], ids=["beside the curves of the hooks", "beside those of the log"])
def test_that_a_validation_loss_of_nan_in_a_log_is_no_success(tmp_path: Path, homes: Path, records: bool) -> None:
    recorder, record = ("ascend_studio", "ascend_studio.metric(step, loss=1 / step)") if records else ("sys", "pass")
    (tmp_path / "train.py").write_text(SCRIPT.replace("RECORDER", recorder).replace("RECORD", record))
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    answer = last_json(done)
    assert (done.returncode, answer["reason"]) == (3, "nonfinite")
    assert "val" in str(answer["message"])
    assert "8" in str(answer["message"])
