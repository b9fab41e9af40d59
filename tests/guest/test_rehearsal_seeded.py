"""Rehearsals that are to be compared: the same chance for both, and what each step computed."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from backends.launch.rehearse import report
from tests.guest.rehearsed_process import child, events

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.rehearse.report import Part

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

# Takes chance from wherever it can. Trains with an optimizer, with one that asks for a closure, and with none.
CHANCE = """
import random, sys
import torch
import numpy as np

random.seed(); np.random.seed(); torch.seed()
print(random.random(), np.random.rand(), np.random.default_rng().random(), torch.rand(1).item())
print(torch.empty(3).tolist(), torch.empty_like(torch.ones(2)).tolist(), sorted({"a", "b"}) and list({"a", "b", "c"}))

net = torch.nn.Linear(4, 2).cuda()
data = torch.randn(8, 4, device="cuda")

def computed():
    net.zero_grad()
    loss = net(data).square().mean()
    loss.backward()
    return loss

with torch.no_grad():
    before = net.weight.clone()
for _ in range(2):
    computed()
    with torch.no_grad():
        net.weight -= 0.1 * net.weight.grad
adam = torch.optim.Adam(net.parameters())
computed()
adam.step()
torch.optim.LBFGS(net.parameters(), max_iter=2).step(computed)
"""
# What an NPU's host has that a GPU's has not, and the other way round.
EXPLICIT = """
import os, torch
try:
    import torch_npu
except ImportError:
    pass
DEVICE_TYPE = "npu" if hasattr(torch, "npu") and torch.npu.is_available() else "cuda"
accelerator = getattr(torch, DEVICE_TYPE)
marks = torch.npu.mstx if DEVICE_TYPE == "npu" else torch.cuda.nvtx
marks.range_push("step"); marks.mark("here"); marks.range_pop()
assert marks.mstx_range("step")(lambda: 3)() == 3
torch.npu.config.allow_internal_format = False
torch.npu.matmul.allow_hf32 = True
assert torch.npu.matmul.allow_hf32 is True and torch.npu.conv.allow_hf32 is True
assert accelerator.get_device_capability() is None
os.environ["TORCH_NPU_DEVICE_CAPABILITY"] = "8.0"
assert accelerator.get_device_capability(0) == (8, 0)
assert accelerator.memory.memory_allocated() == 0 and accelerator.memory_stats()["any"] == 0
assert torch.zeros(2, device=DEVICE_TYPE).is_npu is (os.environ["ASCEND_STUDIO_REHEARSAL_NPU_DEVICE"] == "virtual")
import torch.distributed as dist
assert dist.get_default_backend_for_device("npu") == dist.Backend.HCCL == "hccl"
net = torch.nn.Linear(2, 2).to(torch.device(DEVICE_TYPE, 0))
scaler, optimizer = torch.amp.GradScaler(DEVICE_TYPE), torch.optim.SGD(net.parameters(), lr=0.1)
with torch.autocast(DEVICE_TYPE, dtype=torch.bfloat16):
    loss = net(torch.ones(1, 2, device=DEVICE_TYPE)).sum()
scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()
print("trained", accelerator.get_device_properties(0).vector_core_num > 0)
print(accelerator.get_device_properties(0).major)
accelerator.get_device_properties(0).maxThreadsPerBlock
"""


def seeded(folder: Path, script: str, seed: str, stance: str = "cuda") -> tuple[str, Part]:
    folder.mkdir()
    more = {"ASCEND_STUDIO_REHEARSAL_SEED": seed, "PYTHONHASHSEED": "0"}
    done = child(folder, script, hooks=f"curves,rehearse={stance}", **more)
    assert done.returncode == 0, done.stderr
    (part,) = report.read_parts(folder)
    return done.stdout, part


def test_that_chance_is_the_same_with_the_same_seed_and_so_are_all_gradients(tmp_path: Path) -> None:
    one, part = seeded(tmp_path / "one", CHANCE, "7")
    other, again = seeded(tmp_path / "other", CHANCE, "7")
    assert one == other
    assert one.splitlines()[1].startswith("[0.0, 0.0, 0.0] [0.0, 0.0]")
    assert part.trace == again.trace
    assert len(part.trace) == 4  # twice without an optimizer, Adam, LBFGS
    assert len({step.gradients for step in part.trace}) == len({step.weights for step in part.trace}) == 4
    assert all(isinstance(step.norm, float) and step.norm > 0 for step in part.trace)
    operators = {row[0] for row in part.operators}
    assert "aten.linalg_vector_norm.default" not in operators

    third, different = seeded(tmp_path / "third", CHANCE, "8")
    assert third != one
    assert not {step.gradients for step in different.trace} & {step.gradients for step in part.trace}


BY_KEYWORD = """
import os, random
import numpy, torch
from torch import nn

random.seed(a=1); numpy.random.seed(seed=2); torch.manual_seed(seed=3)
chosen = numpy.random.default_rng(seed=4).random(), random.random(), numpy.random.rand()
taken = numpy.random.default_rng(seed=None).random()
random.seed(a=1)
assert random.random() == chosen[1] and numpy.random.default_rng(seed=4).random() == chosen[0] != taken
assert numpy.random.default_rng(seed=None).random() == taken
device = torch.device(type=DEVICE, index=0)
module = torch.get_device_module(device=DEVICE)
module.set_device(device=0); module.synchronize(device=0)
net = nn.Linear(in_features=4, out_features=2, device=device).to(device=device, dtype=torch.float32)
adam = torch.optim.Adam(params=net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device=DEVICE)
for step in range(2):
    with torch.autocast(device_type=DEVICE, dtype=torch.bfloat16):
        loss = net(torch.ones(size=(3, 4), device=device)).square().mean()
    adam.zero_grad(set_to_none=True)
    torch.autograd.backward(tensors=scaler.scale(outputs=loss), retain_graph=False)
    scaler.unscale_(optimizer=adam)
    nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=1.0)
    nn.utils.clip_grad_value_(net.parameters(), clip_value=0.5)
    scaler.step(optimizer=adam); scaler.update(new_scale=None)
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
torch.save(obj=net.state_dict(), f="net.pt")
torch.load(f="net.pt", map_location=DEVICE, weights_only=True)
print("trained")
"""


@pytest.mark.parametrize("stance", ["cuda", "npu", "cpu"])
def test_that_what_is_watched_takes_its_arguments_by_their_names(tmp_path: Path, stance: str) -> None:
    """The wrappers of a rehearsal that is compared have other names of their own for what they look at."""
    text, part = seeded(tmp_path / "run", f"DEVICE = {stance!r}\n{BY_KEYWORD}", "7", stance=stance)
    assert text.splitlines()[-1] == "trained"
    assert len(part.trace) == 2


def test_that_without_a_seed_nothing_is_traced(tmp_path: Path) -> None:
    done = child(tmp_path, CHANCE, hooks="curves,rehearse=cuda")
    assert done.returncode == 0, done.stderr
    (part,) = report.read_parts(tmp_path)
    assert part.trace == ()


def test_that_a_host_with_cuda_alone_has_no_npu_and_code_for_both_takes_its_path_for_cuda(tmp_path: Path) -> None:
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu" / "__init__.py").write_text("raise SystemExit('an installed one is not imported')")
    script = EXPLICIT[: EXPLICIT.index("marks = ")] + "print(DEVICE_TYPE, torch.accelerator.current_accelerator())"
    done = child(tmp_path, script, hooks="rehearse=cuda", ASCEND_STUDIO_REHEARSAL_NPU="no")
    assert done.stdout == "cuda cuda\n", done.stderr
    assert "hooks.given_up" not in [event.get("rule") for event in events(tmp_path)]


@pytest.mark.parametrize("npu_device", ["virtual", "cpu"])
def test_that_device_agnostic_code_meets_an_npu_as_the_wheel_describes_it(tmp_path: Path, npu_device: str) -> None:
    more = {"ASCEND_STUDIO_REHEARSAL_SEED": "1", "ASCEND_STUDIO_REHEARSAL_NPU_DEVICE": npu_device}
    done = child(tmp_path, EXPLICIT, hooks="curves,rehearse=npu", **more)
    assert done.stdout == "trained True\nNone\n", done.stderr
    assert done.stderr.splitlines()[-1] == "AttributeError: 'Properties' object has no attribute 'maxThreadsPerBlock'"
    (part,) = report.read_parts(tmp_path)
    assert part.blocked == ()
    assert len(part.trace) == 1
