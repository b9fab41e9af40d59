"""Trainings with two optimizers, or two updates of one: what comes behind the first update belongs to the step, and to
its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from studio import files, schema
from studio import run as runs
from studio.texts import t
from tests.guest.capturing import MINDSPORE, TORCH
from tests.packages import skip_without
from tests.precision.capture.planned import planned

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS_AND_BIASES = TORCH.replace(
    "optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)\n",
    "optimizer = torch.optim.AdamW([net[0].weight, net[2].weight], lr=0.01)\n"
    "biases = torch.optim.SGD([net[0].bias, net[2].bias], lr=RATE)\n",
).replace("    optimizer.zero_grad()\n", "    optimizer.zero_grad(); biases.zero_grad()\n")
SECOND = "    optimizer.step()\n"
TORCH_PAIR = WEIGHTS_AND_BIASES.replace(SECOND, SECOND + "    biases.step()\n")
FUNCTIONAL = """
import pathlib, time
import torch
torch.manual_seed(3)
weight, bias = torch.randn(8, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
optimizer, biases = torch.optim.AdamW([weight], lr=0.01), torch.optim.SGD([bias], lr=0.05)
for step in range(1, 100000):
    loss = (torch.randn(4, 8) @ weight + bias).square().mean()
    optimizer.zero_grad(); biases.zero_grad()
    loss.backward()
    biases.param_groups[0]["lr"] = RATE if step > 2 else 0.05
    optimizer.step()
    biases.step()
    print(step, loss.item().hex(), flush=True)
    time.sleep(0.005)
    if pathlib.Path("enough").exists():
        break
"""
MINDSPORE_PAIR = (
    MINDSPORE.replace("    hooks.stepped(step)\n", "")
    .replace(
        "optimizer = nn.Adam(net.trainable_params(), 0.01)\n",
        "optimizer = nn.Adam([net[0].weight, net[2].weight], 0.01)\n"
        "biases = nn.SGD([net[0].bias, net[2].bias], RATE)\n",
    )
    .replace("None, optimizer.parameters)", "None, (*optimizer.parameters, *biases.parameters))")
    .replace("    optimizer(gradients)\n", "    optimizer(gradients[:2])\n    biases(gradients[2:])\n")
)
SCRIPTS = {"torch": (TORCH_PAIR, "16"), "functional": (FUNCTIONAL, "16"), "mindspore": (MINDSPORE_PAIR, "pynative")}
PACKAGES = {"torch": "torch", "functional": "torch", "mindspore": "mindspore"}
STEPS = [1, 2]
# A training without modules is known after its first step.
FIRST_STEP = {"torch": 1, "functional": 3, "mindspore": 1}


@pytest.fixture(scope="module", params=SCRIPTS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Captures of one step and of two: of a training, and of one whose second optimizer has twice the rate."""
    skip_without(PACKAGES[request.param], "msprobe")
    folder = tmp_path_factory.mktemp(request.param)
    script, argument = SCRIPTS[request.param]
    captures = {}
    for name, rate in {"golden": "0.1", "again": "0.1", "twice": "0.2"}.items():
        for steps in STEPS:
            lines = script.replace("RATE", rate)
            training = planned(
                folder / f"{name}{steps}", lines, argument, steps=steps, level="L1", start=FIRST_STEP[request.param]
            )
            capture = training.captured("plan")
            assert capture.state == "done", training.log()
            training.wait_for_steps(len(training.losses) + 2)
            assert training.finish() == 0, training.log()
            captures[f"{name}{steps}"] = training.folder / capture.path
    return captures


def compared(target: Path, golden: Path, folder: Path) -> tuple[int, dict[str, Any]]:
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
    run = runs.create(folder, "compare", schema.to_json(spec))
    return compare(spec, run).code, comparison_answer(run)


@pytest.mark.parametrize("steps", STEPS)
def test_that_each_step_has_the_updates_of_both_optimizers(pair: dict[str, Path], steps: int) -> None:
    records = [files.read_json(path)["updates"] for path in sorted(pair[f"golden{steps}"].rglob(OPTIMIZER_FILE))]
    expected = ["Adam", "SGD"]
    assert [[update["optimizer"].removesuffix("W") for update in updates] for updates in records] == [expected] * steps


@pytest.mark.parametrize("steps", STEPS)
def test_that_the_second_optimizer_is_compared_in_the_first_step(
    pair: dict[str, Path], tmp_path: Path, steps: int
) -> None:
    code, answer = compared(pair[f"twice{steps}"], pair[f"golden{steps}"], tmp_path)
    first = answer["first_divergence"]
    assert (code, first["reason"], first["suspect"]) == (3, "optimizer_rate", "optimizer")
    assert first["name"].startswith("Optimizer.SGD.")
    assert "is 2 times the golden one" in t(f"precision.first.{first['reason']}", **first["args"])


@pytest.mark.parametrize("steps", STEPS)
def test_that_two_equal_optimizers_agree(pair: dict[str, Path], tmp_path: Path, steps: int) -> None:
    code, answer = compared(pair[f"again{steps}"], pair[f"golden{steps}"], tmp_path)
    assert (code, answer["verdict"]) == (0, "pass")


AGAIN = {
    "torch": (TORCH, "    optimizer.step()\n", "16"),
    "mindspore": (MINDSPORE.replace("    hooks.stepped(step)\n", ""), "    optimizer(gradients)\n", "pynative"),
}


@pytest.mark.parametrize("framework", AGAIN)
def test_that_a_second_update_behind_the_last_captured_step_differs(framework: str, tmp_path: Path) -> None:
    skip_without(framework, "msprobe")
    script, update, argument = AGAIN[framework]
    assert update in script
    captures = {}
    for name, lines in {"golden": script, "target": script.replace(update, 2 * update)}.items():
        training = planned(tmp_path / name, lines, argument, steps=1, level="L1")
        capture = training.captured("plan")
        assert capture.state == "done", training.log()
        training.wait_for_steps(len(training.losses) + 2)
        assert training.finish() == 0, training.log()
        captures[name] = training.folder / capture.path
    records = {name: files.read_json(next(path.rglob(OPTIMIZER_FILE)))["updates"] for name, path in captures.items()}
    assert {name: len(updates) for name, updates in records.items()} == {"golden": 1, "target": 2}
    code, answer = compared(captures["target"], captures["golden"], tmp_path)
    first = answer["first_divergence"]
    assert (code, answer["verdict"], first["place"]) == (3, "differs", "extra")
    assert first["name"].startswith("Optimizer.")
