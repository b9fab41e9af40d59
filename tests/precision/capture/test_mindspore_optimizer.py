"""The optimizer of a captured MindSpore training: what is recorded of it, and what a comparison says of another one."""

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
from tests.guest.capturing import MINDSPORE
from tests.packages import needs, skip_without
from tests.precision.capture.planned import planned

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("mindspore", "msprobe")

ADAM = "optimizer = nn.Adam(net.trainable_params(), 0.01)\n"
SCRIPT = MINDSPORE.replace("    hooks.stepped(step)\n", "")  # the curves' hooks see it
GROUPS = """weights = [one for one in net.trainable_params() if "weight" in one.name]
biases = [one for one in net.trainable_params() if "bias" in one.name]
optimizer = nn.Momentum([{"params": weights, "weight_decay": 0.1}, {"params": biases}], 0.01, momentum=0.9)
"""
SCHEDULE = """rates = nn.ExponentialDecayLR(0.01, 0.5, 1)
optimizer = nn.AdamWeightDecay(net.trainable_params(), rates, weight_decay=0.1)
"""
EXPERIMENTAL = """from mindspore.experimental import optim
optimizer = optim.AdamW(net.trainable_params(), lr=0.01, weight_decay=0.1)
"""
GOLDEN = {"groups": GROUPS, "schedule": SCHEDULE, "experimental": EXPERIMENTAL}
CHANGES = {
    **{f"{name} again": (name, lines) for name, lines in GOLDEN.items()},
    "momentum": ("groups", GROUPS.replace("momentum=0.9", "momentum=0.5")),
    "decay": ("groups", GROUPS.replace('"weight_decay": 0.1', '"weight_decay": 1.0')),
    "scale": ("groups", GROUPS.replace("momentum=0.9", "momentum=0.9, loss_scale=2.0")),
    "schedule rate": ("schedule", SCHEDULE.replace("DecayLR(0.01", "DecayLR(0.02")),
    "schedule form": ("schedule", SCHEDULE.replace("0.5, 1)", "0.25, 1)")),
    "experimental rate": ("experimental", EXPERIMENTAL.replace("lr=0.01", "lr=0.02")),
    "experimental betas": ("experimental", EXPERIMENTAL.replace("lr=0.01", "lr=0.01, betas=(0.5, 0.999)")),
}


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    skip_without("mindspore", "msprobe")
    folder = tmp_path_factory.mktemp("optimizers")
    scripts = GOLDEN | {name: lines for name, (_, lines) in CHANGES.items()}
    captures = {}
    for name, lines in scripts.items():
        training = planned(
            folder / name.replace(" ", "_"), SCRIPT.replace(ADAM, lines), "pynative", steps=2, level="L1"
        )
        capture = training.captured("plan")
        assert capture.state == "done", training.log()
        assert training.finish() == 0
        captures[name] = training.folder / capture.path
    return captures


def compared(target: Path, golden: Path, folder: Path) -> tuple[int, dict[str, Any]]:
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
    run = runs.create(folder, "compare", schema.to_json(spec))
    return compare(spec, run).code, comparison_answer(run)


def test_that_hyperparameters_gradients_and_updates_of_each_group_are_recorded(captures: dict[str, Path]) -> None:
    records = [files.read_json(path)["updates"] for path in sorted(captures["groups"].rglob(OPTIMIZER_FILE))]
    assert [len(updates) for updates in records] == [1, 1], "one record for each of the two steps"
    first, second = records[0][0]["groups"]
    assert (records[0][0]["optimizer"], first["values"]["lr"], first["values"]["momentum"]) == ("Momentum", 0.01, 0.9)
    assert (first["values"]["weight_decay"], second["values"]["weight_decay"]) == (0.1, 0.0)
    assert [parameter["name"] for parameter in second["parameters"]] == ["0.bias", "2.bias"]
    weight = first["parameters"][0]
    assert (weight["size"], weight["sampled"]) == (128, 128)
    assert weight["gradient"][3] > 0
    assert weight["update"][3] > 0


def test_that_a_learning_rate_that_changes_is_that_of_each_step(captures: dict[str, Path]) -> None:
    records = [files.read_json(path)["updates"] for path in sorted(captures["schedule"].rglob(OPTIMIZER_FILE))]
    assert [updates[0]["groups"][0]["values"]["lr"] for updates in records] == [0.01, 0.005]


@pytest.mark.parametrize("name", GOLDEN)
def test_that_equal_optimizers_agree(captures: dict[str, Path], tmp_path: Path, name: str) -> None:
    code, answer = compared(captures[f"{name} again"], captures[name], tmp_path)
    assert (code, answer["verdict"]) == (0, "pass")
    assert answer["coverage"]["update_elements"] == answer["coverage"]["all_update_elements"] > 0


@pytest.mark.parametrize(
    ("name", "step", "reason", "sentence"),
    [
        ("momentum", 1, "optimizer_setting_alone", "momentum of the optimizer's group0 is 0.5 instead of 0.9"),
        ("decay", 1, "optimizer_setting", "weight_decay of the optimizer's group0 is 1.0 instead of 0.1"),
        ("scale", 1, "optimizer_setting", "loss_scale of the optimizer's group0 is 2.0 instead of 1.0"),
        ("schedule rate", 1, "optimizer_rate", "is 2 times the golden one: the learning rate of group0 is 0.02"),
        ("schedule form", 2, "optimizer_rate", "is 0.5 times the golden one: the learning rate of group0 is 0.0025"),
        ("experimental rate", 1, "optimizer_rate", "is 2 times the golden one: the learning rate of group0 is 0.02"),
        ("experimental betas", 1, "optimizer_setting_alone", "betas.0 of the optimizer's group0 is 0.5 instead of 0.9"),
    ],
)
def test_that_the_optimizer_is_named_with_group_and_rule(
    captures: dict[str, Path], tmp_path: Path, name: str, step: int, reason: str, sentence: str
) -> None:
    code, answer = compared(captures[name], captures[CHANGES[name][0]], tmp_path)
    first = answer["first_divergence"]
    assert (code, first["step"], first["reason"], first["suspect"]) == (3, step, reason, "optimizer")
    assert sentence in t(f"precision.first.{reason}", **first["args"])
