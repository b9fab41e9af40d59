"""Processes that say their rank to the framework alone, and losses that are no numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.guest.recording import GUEST, child, files, records

if TYPE_CHECKING:
    from pathlib import Path

# The pattern of PyTorch's tutorial "Getting Started with Distributed Data Parallel": no launcher, no variable.
SPAWNED = """
import os, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def train(rank, count, path):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=count)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(5):
        optimizer.zero_grad()
        loss = (model(torch.ones(2, 4)) - rank).square().mean()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(train, args=(2, sys.argv[1]), nprocs=2)
"""


def test_that_spawned_processes_have_the_rank_that_they_told_pytorch(tmp_path: Path) -> None:
    run, script = tmp_path / "run", tmp_path / "train.py"
    run.mkdir()
    script.write_text(SPAWNED)
    environ = {name: value for name, value in os.environ.items() if name != "RANK"} | {
        "PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(run), "ASCEND_STUDIO_HOOKS": "curves",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    subprocess.run([sys.executable, str(script), str(tmp_path / "store")], env=environ, check=True, timeout=300)
    ranks = {file.name.split(".")[2]: steps_in(file) for file in files(run)}
    assert ranks == {"r0": [1, 2, 3, 4, 5], "r1": [1, 2, 3, 4, 5]}


def steps_in(file: Path) -> list[int]:
    import json

    events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [event["step"] for event in events if event["type"] == "metric"]


def test_that_what_comes_after_the_rank_is_known_goes_into_its_file(tmp_path: Path) -> None:
    child(tmp_path, """
import sys, types, ascend_studio
ascend_studio.note("before")
group = types.ModuleType("torch.distributed")
group.is_initialized, group.get_rank = (lambda: True), (lambda: 3)
sys.modules["torch.distributed"] = group
ascend_studio.metric(1, loss=0.5)
group.is_initialized = lambda: False   # destroy_process_group
ascend_studio.metric(2, loss=0.25)
""")  # fmt: skip
    kinds = {file.name.split(".")[2]: file.read_text().count('"type":"metric"') for file in files(tmp_path)}
    assert kinds == {"r0": 0, "r3": 2}


def test_that_the_variables_of_a_launcher_count_without_a_framework(tmp_path: Path) -> None:
    child(tmp_path, "import ascend_studio; ascend_studio.metric(1, loss=0.5)", RANK="2")
    assert [file.name.split(".")[2] for file in files(tmp_path)] == ["r2"]


def findings_of(run: Path, script: str) -> list[dict[str, Any]]:
    child(run, "import ascend_studio\n" + script)
    return [event["args"] for event in records(run) if event["type"] == "finding"]


def test_that_the_first_loss_that_is_no_number_is_told_once(tmp_path: Path) -> None:
    script = "for step in range(1, 401): ascend_studio.metric(step, loss=1.0 if step < 26 else float('nan'), lr=0.1)"
    assert findings_of(tmp_path, script) == [{"step": 26, "name": "loss", "value": "NaN"}]


def test_that_an_infinite_loss_is_told_under_any_name_of_a_loss(tmp_path: Path) -> None:
    script = "ascend_studio.metric(7, train_loss=float('-inf'))"
    assert findings_of(tmp_path, script) == [{"step": 7, "name": "train_loss", "value": "-Infinity"}]


def test_that_steps_that_a_loss_scaler_skips_are_not_told(tmp_path: Path) -> None:
    """Their gradients overflow, which is what a scaler is for; the loss may, too, while the scale is still too high."""
    script = """
ascend_studio.metric(1, loss=0.5, grad_norm=float('inf'), loss_scale=65536.0, skipped=1.0)
for step in range(2, 18): ascend_studio.metric(step, loss=float('inf'), loss_scale=65536.0, skipped=1.0)
ascend_studio.metric(18, loss=0.5, loss_scale=float('inf'), skipped=0.0)
"""
    assert findings_of(tmp_path, script) == []


def test_that_a_scaler_that_skips_every_step_is_told(tmp_path: Path) -> None:
    script = "for step in range(1, 60): ascend_studio.metric(step, loss=float('nan'), skipped=1.0)"
    assert findings_of(tmp_path, script) == [{"step": 20, "name": "loss", "value": "NaN"}]
