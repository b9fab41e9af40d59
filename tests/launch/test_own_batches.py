"""Own recipes of MindSpore whose samples can only be gone through: pipelines of mindspore.dataset, and functions of
iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import FRESH, Ran, needs_mindspore, train
from tests.launch.pytorch.earlier_state import earlier_state

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore
RECIPE = """
import os
import numpy as np
from mindspore import dataset, nn
from ascend_engine.recipe import Recipe


def samples():
    for number in range(22):
        x = np.array([number / 22 + NOISE])
        yield x, 2 * x


def batches():
    for number in range(5):
        x = np.random.rand(4, 1)
        yield x, 2 * x


def rows():
    return dataset.GeneratorDataset(samples, ["x", "y"], shuffle=False).shuffle(22)


def build(config):
    network = nn.SequentialCell(nn.Dense(1, 8), nn.Dense(8, 1))
    return Recipe(
        network=network, loss=nn.MSELoss(), train_data=SOURCE, eval_data=rows(), metrics={"eval_loss": nn.MSELoss()}
    )
"""
DRAWN, OF_THE_PROCESS = "0.01 * np.random.rand()", "os.getpid() / 1e6"
SOURCES = {"samples": "rows()", "batches": "rows().batch(4)", "function": "batches"}


def run(folder: Path, source: str, options: str = "", noise: str = DRAWN) -> Ran:
    recipe_file = folder.parent / "recipe.py"
    recipe_file.write_text(RECIPE.replace("SOURCE", source).replace("NOISE", noise), "utf-8")
    line = f"--recipe own --recipe-file {recipe_file} --device cpu --seed 1 --batch 4 --optimizer sgd --lr 0.01"
    return train(folder, f"{line} {options}", FRESH)


@pytest.mark.parametrize(("kind", "loop"), [("samples", "functional"), ("batches", "model"), ("function", "cell")])
def test_that_a_resume_in_the_middle_of_an_epoch_goes_on_bit_for_bit(kind: str, loop: str, tmp_path: Path) -> None:
    options = f"--steps 7 --accumulate 2 --checkpoint-every 4 --keep 9 --loop {loop}"
    whole = run(tmp_path / "whole", SOURCES[kind], options)
    assert whole.code == 0, whole.output
    assert len(set(whole.metric("loss"))) == 7
    assert whole.metric("eval_loss")
    earlier = earlier_state(tmp_path / "whole", tmp_path / "earlier", 4)
    rest = run(tmp_path / "rest", SOURCES[kind], f"{options} --resume {earlier}")
    assert rest.note("launch.resumed")["exact"]
    assert rest.metric("loss") == whole.metric("loss")[4:]


def test_that_a_resume_says_that_batches_which_no_seed_decides_are_others(tmp_path: Path) -> None:
    options = "--steps 7 --checkpoint-every 4 --keep 9"
    whole = run(tmp_path / "whole", "rows()", options, OF_THE_PROCESS)
    assert whole.code == 0, whole.output
    earlier = earlier_state(tmp_path / "whole", tmp_path / "earlier", 4)
    rest = run(tmp_path / "rest", "rows()", f"{options} --resume {earlier}", OF_THE_PROCESS)
    assert rest.note("launch.resumed_inexactly")["differing"] == "batches"


def test_that_batches_of_another_size_are_told_and_counted(tmp_path: Path) -> None:
    ran = run(tmp_path / "run", "rows().batch(11)", "--steps 4")
    assert ran.note("launch.torch_own_batch") == {"batch": 11, "chosen": 4}
    speeds = zip(ran.metric("throughput"), ran.metric("step_time"), strict=True)
    assert all(throughput * seconds == pytest.approx(11) for throughput, seconds in speeds)


@pytest.mark.parametrize(
    ("source", "options", "rule"),
    [
        ("batches()", "", "launch.torch_data_once"), ("lambda: iter([])", "", "launch.torch_batch"),
        ("rows().project(['x'])", "", "launch.torch_batch"),
        ("rows()", "--drop-remainder --data-workers 2", "launch.torch_data_options"),
    ],
)  # fmt: skip
def test_that_what_cannot_be_trained_with_is_refused_with_a_sentence(
    source: str, options: str, rule: str, tmp_path: Path
) -> None:
    ran = run(tmp_path / "run", source, f"--steps 2 {options}")
    assert [finding["rule"] for finding in ran.findings()] == [rule]
