from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backends.launch.own.spec import OwnSpec
from backends.launch.spec import LaunchSpec
from backends.precision.deeper.reruns import capture_values, origin_run
from backends.precision.deeper.work import neighbours_of
from backends.precision.sides import call_of, open_comparison_run
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.paths import MAIN
from studio.security import ledger
from tests.precision.dump.recorded import json_of
from tests.precision.signoff.made import compared
from tests.runs import write_worker

SCRIPT = """\
import os, torch
torch.manual_seed(0)
one, two = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
for step in range(10_000):  # it is stopped when its capture is done
    hidden = torch.relu(one(torch.ones(4, 8)))
    if os.environ.get("PLANTED"):
        hidden = hidden.bfloat16().float()
    loss = two(hidden).square().mean()
    loss.backward(); optimizer.step(); optimizer.zero_grad()
    print(step, loss.item(), flush=True)
    if os.environ.get("SHORT") and step > 2:
        break
"""


@pytest.mark.parametrize("spec", [OwnSpec, LaunchSpec])
def test_that_the_same_training_is_asked_for_with_another_capture(spec: type) -> None:
    asked = capture_values(
        schema.to_json(spec()), 1, "tensor", "mix", ("Functional.linear.0.forward", "Torch.relu.0.forward")
    )
    again, problems = schema.from_json(spec, asked)
    assert not problems
    assert schema.value_of(again, "capture") == "dump"
    assert schema.value_of(again, "capture_targets") == "Functional.linear.0.forward,Torch.relu.0.forward"
    assert (schema.value_of(again, "capture_task"), schema.value_of(again, "capture_at")) == ("tensor", 1)


def test_that_what_lies_around_a_call_is_named_as_each_side_does(tmp_path: Path) -> None:
    run = compared(tmp_path, "torch_statistics")
    calls = list(json_of("torch_statistics")["data"])
    comparison = open_comparison_run(run.folder)
    found = neighbours_of(comparison, call_of(comparison, calls[2]), 1)
    assert found.target == found.golden == tuple(calls[1:4])
    assert (found.step, found.level) == (0, json_of("torch_statistics")["level"])


def test_that_a_dump_from_elsewhere_cannot_be_captured_again(tmp_path: Path) -> None:
    run = compared(tmp_path, "torch_statistics")
    with pytest.raises(StudioError, match="its own host"):
        origin_run(tmp_path / "target")
    done = command(tmp_path, "deeper", str(run.folder))
    assert done.returncode == 2
    assert "cannot be captured again" in done.stderr


def test_that_a_run_of_another_user_or_host_is_not_run_on_this_one(tmp_path: Path) -> None:
    run = runs.create(tmp_path, "script", schema.to_json(OwnSpec()))
    dump = run.folder / "artifacts" / "captures" / "x" / "step1" / "rank0"
    dump.mkdir(parents=True)
    write_worker(run.folder)
    with pytest.raises(StudioError, match="you started"):
        origin_run(dump)
    ledger.remember(run.folder / "run.json")
    assert origin_run(dump).name == run.name
    mark = json.loads((run.folder / "worker.json").read_text(encoding="utf-8"))
    mark["place"]["host"] = "gpu-17"
    (run.folder / "worker.json").write_text(json.dumps(mark), encoding="utf-8")
    with pytest.raises(StudioError, match="its own host"):
        origin_run(dump)


def test_that_going_deeper_finds_a_cast_that_nobody_traced(tmp_path: Path) -> None:
    """Two trainings, then again with digests, then with tensors: the cast is a call of its own then."""
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    golden, target = (trained(tmp_path, *settings) for settings in ((), ("--env", "PLANTED=1")))
    first = said(command(tmp_path, "compare", str(target), str(golden), "--json"), 3)
    assert first["first_divergence"]["name"] == "Functional.linear.1.forward"
    assert first["first_divergence"]["place"] == "input"
    deeper = said(command(tmp_path, "deeper", first["run"], "--json"), 0)
    found = open_comparison_run(Path(deeper["comparison"]))
    assert found.first is not None
    assert (found.first.name, found.first.source.rpartition(":")[2]) == ("Tensor.bfloat16.0.forward", "8")
    assert list(Path(found.passes[0].target or "").glob("dump_tensor_data/Functional.linear.1.forward.input.0.pt"))


def trained(folder: Path, *settings: str) -> Path:
    line = ("--capture", "dump", "--capture-at", "0", "--capture-steps", "1", "--env", "SHORT=1", *settings)
    return Path(said(command(folder, "launch", *line, "--json", "--", sys.executable, "train.py"), 0)["run"])


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-I", str(MAIN), *words]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def said(done: subprocess.CompletedProcess[str], code: int) -> dict[str, Any]:
    assert done.returncode == code, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert isinstance(found, dict)
    return found
