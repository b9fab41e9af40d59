"""Curves of MindSpore trainings that know nothing of us: each script runs with the hooks and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from studio.paths import GUEST
from tests.packages import needs

pytestmark = needs("mindspore")

SCRIPT = Path(__file__).with_name("mindspore_trainings.py")
PYNATIVE = [
    "functional",
    "jit",
    "bytecode",
    "one_step_cell",
    "own_cell",
    "model",
    "model_fit",
    "accumulation",
    "experimental",
    "scaler",
    "checkpoint",
]
GRAPH = ["functional", "one_step_cell", "jit", "model", "checkpoint"]


@dataclass(frozen=True, kw_only=True)
class Trained:
    said: list[dict[str, Any]]
    records: list[dict[str, Any]]

    def metric(self, index: int, name: str) -> list[Any]:
        """Of the optimizer with this number, in order of its steps; None where a step has none."""
        suffix = f".{index}" if index else ""
        points = [record["values"] for record in self.records if record["type"] == "metric"]
        own = [values for values in points if (set(values) & {f"loss{suffix}", f"lr{suffix}"})]
        return [values.get(name + suffix) for values in own]


def environment(run: Path, hooks: bool, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("HOME",) if name in os.environ}
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if not hooks:
        return kept | more
    return kept | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(run), "ASCEND_STUDIO_HOOKS": "curves"} | more


def train(folder: Path, names: list[str], *, hooks: bool, **more: str) -> Trained:
    folder.mkdir(parents=True)
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        line = [sys.executable, str(SCRIPT), *names]
        env = environment(folder, hooks, **more)
        code = subprocess.run(line, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=500)
    assert code.returncode == 0, (folder / "err").read_text()[-4000:]
    said = [json.loads(line) for line in (folder / "out").read_text().splitlines() if line.startswith("{")]
    assert [one["name"] for one in said] == [name for name in names if name != "graph"]
    return Trained(said=said, records=records(folder))


def records(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("events*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def findings(trained: Trained) -> list[dict[str, Any]]:
    return [record for record in trained.records if record["type"] == "finding"]


@pytest.fixture(scope="module")
def pynative(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Trained]:
    folder = tmp_path_factory.mktemp("pynative")
    return train(folder / "off", PYNATIVE, hooks=False), train(folder / "on", PYNATIVE, hooks=True)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Trained, Trained]:
    folder, names = tmp_path_factory.mktemp("graph"), ["graph", *GRAPH]
    return (
        train(folder / "off", names, hooks=False),
        train(folder / "on", names, hooks=True),
        train(folder / "norm", names, hooks=True, ASCEND_STUDIO_GRAPH_NORM="1"),
    )


def test_that_hooks_change_no_loss_no_weight_and_no_name_in_a_checkpoint(pynative: Any, graph: Any) -> None:
    for off, *on in (pynative, graph):
        assert not off.records
        for one in on:
            assert one.said == off.said
            # One of them has an infinite loss on purpose.
            assert {finding["rule"] for finding in findings(one)} <= {"run.nonfinite"}


@pytest.mark.parametrize("name", PYNATIVE[:-2])
def test_that_the_losses_are_those_that_a_pynative_script_sees(pynative: Any, name: str) -> None:
    _, on = pynative
    index = PYNATIVE.index(name)
    assert on.metric(index, "loss") == on.said[index]["losses"]


@pytest.mark.parametrize("name", GRAPH[:-1])
def test_that_the_losses_are_those_that_a_graph_script_sees(graph: Any, name: str) -> None:
    for on in graph[1:]:
        index = GRAPH.index(name)
        assert on.metric(index, "loss") == on.said[index]["losses"]


def test_that_learning_rates_are_those_of_the_steps(pynative: Any) -> None:
    _, on = pynative
    decayed = [0.02 * 0.9 ** (step / 2) for step in range(6)]
    for name in ("jit", "bytecode"):
        assert on.metric(PYNATIVE.index(name), "lr") == pytest.approx(decayed, rel=1e-6)
    listed = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    assert on.metric(PYNATIVE.index("one_step_cell"), "lr") == pytest.approx(listed, rel=1e-6)
    halved = [0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025]
    assert on.metric(PYNATIVE.index("experimental"), "lr") == pytest.approx(halved, rel=1e-6)


def test_that_an_overflow_is_a_skipped_step_and_the_loss_is_the_unscaled_one(pynative: Any) -> None:
    _, on = pynative
    index = PYNATIVE.index("scaler")
    assert [str(float(loss)).lower() for loss in on.metric(index, "loss")] == on.said[index]["losses"]
    assert on.metric(index, "skipped") == [0, 0, 1, 0, 0, 0]
    assert on.metric(index, "loss_scale") == [1024, 1024, 1024, 512, 512, 512]


def test_that_the_micro_batches_of_a_step_are_summed_and_this_is_told(pynative: Any) -> None:
    _, on = pynative
    notes = [record for record in on.records if record["type"] == "note"]
    assert [(note["key"], note["args"]) for note in notes] == [("hooks.summed", {"count": 4})]


def test_that_the_norm_inside_a_graph_is_that_of_the_same_steps_outside(pynative: Any, graph: Any) -> None:
    eager, (_, plain, asked) = pynative[1], graph
    index = GRAPH.index("one_step_cell")
    outside = eager.metric(PYNATIVE.index("one_step_cell"), "grad_norm")
    inside = asked.metric(index, "grad_norm")
    assert inside[:2] == pytest.approx(outside[:2], rel=1e-5)
    assert all(inside)
    assert not any(plain.metric(index, "grad_norm"))


def test_that_gradient_norms_are_those_before_clipping(pynative: Any, graph: Any) -> None:
    for on in (pynative[1], graph[1]):
        sampled = on.metric(0, "grad_norm")
        assert None not in sampled[:2]
        for found, own in zip(sampled, on.said[0]["norms"], strict=False):
            assert found is None or found == pytest.approx(own, rel=1e-5)


def test_that_step_times_and_throughput_agree(pynative: Any) -> None:
    _, on = pynative
    times, rates = on.metric(0, "step_time"), on.metric(0, "throughput")
    assert times[0] is None
    assert [rate * seconds for rate, seconds in zip(rates[1:], times[1:], strict=True)] == pytest.approx([32] * 5)


def test_that_each_worker_of_msrun_has_its_own_curves(tmp_path: Path, unused_port: int) -> None:
    said = []
    for hooks in (False, True):
        folder = tmp_path / f"hooks-{hooks}"
        folder.mkdir()
        line = ["msrun", "--worker_num=2", "--local_worker_num=2", "--master_addr=127.0.0.1", "--join=True"]
        line += [f"--master_port={unused_port + hooks}", "--log_dir=logs", str(SCRIPT), "parallel"]
        with (folder / "out").open("w") as out:
            done = subprocess.run(
                line, env=environment(folder, hooks), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                timeout=500,
            )  # fmt: skip
        assert done.returncode == 0, (folder / "out").read_text()[-4000:]
        said.append([json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(2)])
    assert said[0] == said[1]
    files = sorted(folder.glob("events*.jsonl"))
    assert [file.name.split(".")[2] for file in files] == ["r0", "r1"]
    for rank, file in enumerate(files):
        trained = Trained(said=said[1], records=[json.loads(line) for line in file.read_text().splitlines()])
        assert trained.metric(0, "loss") == said[1][rank]["losses"]


@pytest.fixture
def unused_port() -> int:
    """Of two that follow each other."""
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_that_a_missing_name_of_mindspore_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, types\n"
        "from ascend_studio import mindspore_hooks\n"
        "mindspore = types.ModuleType('mindspore')\n"
        "mindspore_hooks.install(mindspore)\n"
        "print('still here')\n"
    )
    env = environment(tmp_path, True)
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout == "still here\n"
    found = {record["args"]["what"] for record in records(tmp_path) if record.get("rule") == "hooks.unavailable"}
    assert found == {"optimizers", "gradients", "cells", "compiled", "bytecode", "scalers", "model"}
