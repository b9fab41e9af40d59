"""The optimizer of a captured training: what is recorded of it, and what a comparison says of one that differs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.deeper.work import Deeper
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from studio import files, schema
from studio import run as runs
from studio.errors import StudioError
from studio.paths import GUEST
from studio.texts import t
from tests.guest.capturing import TORCH
from tests.packages import needs, skip_without
from tests.precision.capture.planned import planned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = needs("torch", "msprobe")

GROUPS = """optimizer = torch.optim.AdamW([
    {"params": [net[0].weight, net[2].weight], "weight_decay": 0.1}, {"params": [net[0].bias, net[2].bias]}], lr=0.01)
"""
SCRIPT = TORCH.replace("optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)\n", GROUPS)
STEPPED = """class Stepped(torch.optim.AdamW):
    @torch.no_grad()
    def step(self, closure=None):
        before = [[one.clone() for one in group["params"]] for group in self.param_groups]
        super().step(closure)
        for group, olds in zip(self.param_groups, before):
            for one, old in zip(group["params"], olds):
                CHANGE
Stepped.__name__ = "AdamW"
optimizer = Stepped"""


def stepped(change: str) -> str:
    """Return the script whose optimizer changes each parameter (`one`, `old` before the step) after its own step."""
    return SCRIPT.replace("optimizer = torch.optim.AdamW", STEPPED.replace("CHANGE", change))


CHANGES = {
    "golden": SCRIPT,
    "again": SCRIPT,
    "rate": SCRIPT.replace("lr=0.01", "lr=0.02"),
    "still": SCRIPT.replace("lr=0.01", "lr=0.0"),
    "decay": SCRIPT.replace('"weight_decay": 0.1', '"weight_decay": 1.0'),
    "beta": SCRIPT.replace("lr=0.01)", "lr=0.01, betas=(0.5, 0.999))"),
    "clipped": SCRIPT.replace(
        "    optimizer.step()", "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3); optimizer.step()"
    ),
    "zeroed": SCRIPT.replace("    optimizer.step()", "    net[2].weight.grad.zero_(); optimizer.step()"),
    "half zeroed": SCRIPT.replace("    optimizer.step()", "    net[0].weight.grad[::2] = 0; optimizer.step()"),
    "doubled": stepped("one.add_(one - old)"),
    "turned": stepped("one.copy_(2 * old - one)"),
    "rows": stepped("one[::2] = 2 * old[::2] - one[::2]"),
}  # fmt: skip


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Captures of two steps with the state of the optimizer, by what differs."""
    skip_without("torch", "msprobe")
    folder = tmp_path_factory.mktemp("optimizers")
    captures = {}
    for name, script in CHANGES.items():
        training = planned(folder / name, script, "16", steps=2, level="mix", optimizer_state=name == "golden")
        capture = training.captured("plan")
        assert capture.state == "done", training.log()
        assert training.finish() == 0
        captures[name] = training.folder / capture.path
    return captures


@pytest.fixture
def answer(captures: dict[str, Path], tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    def ask(name: str) -> dict[str, Any]:
        spec = schema.with_value(CompareSpec(), "target", captures[name])
        spec = schema.with_value(spec, "golden", captures["golden"])
        (tmp_path / "runs").mkdir(exist_ok=True)
        run = runs.create(tmp_path / "runs", "compare", schema.to_json(spec))
        code = compare(spec, run).code
        first = comparison_answer(run)["first_divergence"]
        said = t(f"precision.first.{first['reason']}", **first["args"]) if first else ""
        return {"code": code, "first": first, "sentence": said, "run": run}

    return ask


def test_that_hyperparameters_gradients_updates_and_state_are_recorded(captures: dict[str, Path]) -> None:
    records = sorted(captures["golden"].rglob(OPTIMIZER_FILE))
    assert [path.parent.parent.name for path in records] == ["step1", "step2"]
    (update,) = files.read_json(records[0])["updates"]
    assert update["optimizer"] == "AdamW"
    first, second = update["groups"]
    assert (first["values"]["lr"], first["values"]["betas"], first["values"]["weight_decay"]) == (
        0.01,
        [0.9, 0.999],
        0.1,
    )
    assert [parameter["name"] for parameter in second["parameters"]] == ["0.bias", "2.bias"]
    weight = first["parameters"][0]
    assert weight["size"] == 128
    assert 0 < weight["update"][0] <= 0.011
    assert {"exp_avg", "exp_avg_sq"} <= set(weight["state"])
    assert weight["gradient"][3] > 0
    (other,) = files.read_json(sorted(captures["rate"].rglob(OPTIMIZER_FILE))[0])["updates"]
    assert not other["groups"][0]["parameters"][0]["state"], "which was not asked for"


def test_that_a_large_parameter_is_sampled_all_over_and_all_of_it_is_in_sums(tmp_path: Path) -> None:
    """64 by 256 elements: one in each row of four, not of one column."""
    script = SCRIPT.replace("Linear(8, size)", "Linear(256, size)").replace("randn(4, 8)", "randn(4, 256)")
    paths = []
    for name in ("target", "golden"):
        training = planned(tmp_path / name, script, "64", steps=1)
        capture = training.captured("plan")
        assert training.finish() == 0
        paths.append(training.folder / capture.path)
    (update,) = files.read_json(sorted(paths[0].rglob(OPTIMIZER_FILE))[0])["updates"]
    weight = update["groups"][0]["parameters"][0]
    assert (weight["size"], weight["sampled"]) == (16384, 4096)
    assert weight["update_sums"][3] == pytest.approx(2 * weight["update"][3], rel=0.1)
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", paths[0]), "golden", paths[1])
    run = runs.create(tmp_path, "compare", schema.to_json(spec))
    assert compare(spec, run).code == 0
    assert comparison_answer(run)["coverage"]["all_update_elements"] == 16384 + 64 + 64 + 1
    assert "precision.compare.sampled_updates" in comparison_answer(run)["notes"]


def test_that_samples_of_a_matrix_are_of_many_columns_and_the_same_everywhere() -> None:
    places = subprocess.run(
        [sys.executable, "-c", "from ascend_studio import optimizer_record as o; print(o.positions(1 << 24, 4096))"],
        env={"PYTHONPATH": str(GUEST)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    columns = {place % 4096 for place in json.loads(places)}
    assert len(columns) > 1000


def test_that_equal_optimizers_agree(captures: dict[str, Path], answer: Callable[[str], dict[str, Any]]) -> None:
    agreed = answer("again")
    assert (agreed["code"], agreed["first"]) == (0, None)


def test_that_a_closer_look_at_the_optimizer_is_refused(answer: Callable[[str], dict[str, Any]]) -> None:
    chosen = schema.with_value(DeeperSpec(), "comparison", answer("rate")["run"].folder)
    with pytest.raises(StudioError) as refused:
        Deeper(chosen, answer("rate")["run"])
    assert refused.value.key == "precision.deeper.optimizer"


@pytest.mark.parametrize(
    ("name", "step", "reason", "says"),
    [
        ("rate", 1, "optimizer_rate", "is 2 times the golden one: the learning rate of group0 is 0.02"),
        ("still", 1, "optimizer_rate", "is 0 times the golden one: the learning rate of group0 is 0.0"),
        ("decay", 1, "optimizer_setting", "weight_decay of the optimizer's group0 is 1.0 instead of 0.1"),
        ("beta", 1, "optimizer_setting_alone", "betas.0 of the optimizer's group0 is 0.5 instead of 0.9"),
        ("doubled", 1, "optimizer_scaled", "is 2 times the golden one"),
        ("turned", 1, "optimizer_sign", "points the other way (sign)"),
        ("rows", 1, "optimizer_direction", "points elsewhere"),
        ("clipped", 1, "optimizer_gradient", "the gradients that the optimizer gets are"),
        ("zeroed", 1, "optimizer_one_gradient", "another gradient for 2.weight (group0)"),
        ("half zeroed", 1, "optimizer_one_gradient", "another gradient for 0.weight (group0)"),
    ],
)
def test_that_the_optimizer_is_named_with_group_and_rule(
    answer: Callable[[str], dict[str, Any]], name: str, step: int, reason: str, says: str
) -> None:
    found = answer(name)
    first = found["first"]
    assert (found["code"], first["step"], first["reason"], first["suspect"]) == (3, step, reason, "optimizer")
    assert first["name"].startswith("Optimizer.AdamW.group0.")
    assert says in found["sentence"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("rate", "optimizer_scaled_seen"), ("still", "optimizer_still_seen"), ("decay", "optimizer_decay_seen")],
)
def test_that_parameters_tell_of_the_optimizer_where_nothing_was_recorded(
    captures: dict[str, Path], answer: Callable[[str], dict[str, Any]], name: str, reason: str
) -> None:
    """To be run last: as dumps by msprobe alone are."""
    for folder in (captures[name], captures["golden"], captures["again"]):
        for record in folder.rglob(OPTIMIZER_FILE):
            record.unlink()
    first = answer(name)["first"]
    assert (first["step"], first["reason"], first["suspect"]) == (2, reason, "optimizer")
    assert answer("again")["first"] is None
