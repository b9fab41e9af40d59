"""Own recipes of MindSpore that do their train step themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.launch.engine_process import FRESH, Ran, needs_mindspore, train
from tests.launch.pytorch.earlier_state import earlier_state

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore
RECIPE = """
import mindspore as ms
import numpy as np
from mindspore import nn
from ascend_engine.recipe import Recipe

x = np.linspace(-1, 1, 40).reshape(-1, 1).astype(np.float32)


def build(config):
    network = nn.SequentialCell(nn.Dense(1, 8, weight_init="ones"), nn.Tanh(), nn.Dense(8, 1, weight_init="ones"))
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.5, momentum=0.9)
    loss = nn.MSELoss()

    def forward(inputs, labels):
        return loss(network(inputs), labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(inputs, labels):
        value, gradients = gradient(inputs, labels)
        optimizer(gradients)
        return value

    cell = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    return Recipe(network=network, loss=loss, train_data=(x, 3 * x), optimizer=OPTIMIZER, train_step=STEP)
"""


def run(folder: Path, step: str, options: str = "", optimizer: str = "optimizer") -> Ran:
    recipe_file = folder.parent / "recipe.py"
    recipe_file.write_text(RECIPE.replace("OPTIMIZER", optimizer).replace("STEP", step), "utf-8")
    line = f"--recipe own --recipe-file {recipe_file} --device cpu --seed 1 --batch 4 --lr 0.05 --steps 8"
    return train(folder, f"{line} {options}", FRESH)


@pytest.mark.parametrize(
    ("step", "options"),
    [("step", ""), ("step", "--mode graph --loop cell"), ("cell", "--mode jit"), ("cell", "--loop model")],
)
def test_that_an_own_step_has_the_losses_of_the_engines_with_its_learning_rate(
    step: str, options: str, tmp_path: Path
) -> None:
    schedule = "--schedule cosine"
    engines = run(tmp_path / "engines", "None", schedule)
    assert engines.code == 0, engines.output
    own = run(tmp_path / "own", step, f"{schedule} {options}")
    assert own.code == 0, own.output
    assert np.allclose(own.metric("loss"), engines.metric("loss"), rtol=1e-5)
    assert own.note("launch.own_step")["type"] == "Momentum"
    assert not own.metric("grad_norm")


@pytest.mark.parametrize("step", ["step", "cell"])
def test_that_an_own_step_goes_on_bit_for_bit(step: str, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", step, "--checkpoint-every 4 --keep 9")
    assert whole.code == 0, whole.output
    earlier = earlier_state(tmp_path / "whole", tmp_path / "earlier", 4)
    rest = run(tmp_path / "rest", step, f"--checkpoint-every 4 --keep 9 --resume {earlier}")
    assert rest.note("launch.resumed")["exact"]
    assert rest.metric("loss") == whole.metric("loss")[4:]


@pytest.mark.parametrize(
    ("step", "options", "optimizer", "rule"),
    [
        ("step", "--accumulate 2 --clip 1", "optimizer", "launch.own_step_options"),
        ("step", "--on-nan skip", "optimizer", "launch.own_step_options"),
        ("step", "", "None", "launch.own_step_parts"), ("7", "", "optimizer", "launch.own_step_parts"),
        ("lambda a, b: None", "", "optimizer", "launch.own_step_loss"),
        ("lambda a, b: network(a)", "", "optimizer", "launch.own_step_loss"),
    ],
)  # fmt: skip
def test_that_what_an_own_step_cannot_do_is_refused_with_a_sentence(
    step: str, options: str, optimizer: str, rule: str, tmp_path: Path
) -> None:
    ran = run(tmp_path / "run", step, options, optimizer)
    assert [finding["rule"] for finding in ran.findings()] == [rule]
