"""Packs for tests, and the trainings that leave real ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

from studio.paths import GUEST
from studio.processes import RUN_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2-7fe1"
TORCH = """
import random, sys
from random import random as draw
import numpy as np, torch
random.seed(1); np.random.seed(1); torch.manual_seed(int(sys.argv[1]))
if sys.argv[2:] == ["deterministic"]:
    torch.use_deterministic_algorithms(True)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.drop = torch.nn.Linear(8, 8), torch.nn.Dropout(0.1)
    def forward(self, x, scale=None):
        return self.drop(self.layer(x)) * scale
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(4, 8)
    loss = net(x, scale=torch.ones(1) * (2 + draw() + np.random.rand())).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())
print("given back", torch.randn, random.random, "exponential_" in vars(torch.Tensor))
"""
MINDSPORE = """
import sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops
ms.set_seed(3)
own = ms.manual_seed
ms.manual_seed(5)
ms.set_context(mode=ms.GRAPH_MODE if sys.argv[1] == "graph" else ms.PYNATIVE_MODE)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 1))
optimizer = nn.SGD(net.trainable_params(), 0.01)
def forward(x):
    return ops.mean(ops.square(net(x)))
grad = ms.value_and_grad(forward, None, optimizer.parameters)
numbers = np.random.default_rng(3)
for step in range(3):
    loss, gradients = grad(ms.Tensor(numbers.standard_normal((4, 8), dtype=np.float32)))
    optimizer(gradients)
    print("loss", float(loss.asnumpy()).hex(), flush=True)
print("given back", own is ms.manual_seed, own.__module__)
"""


def train(folder: Path, script: str, *args: str, hooks: str = "curves,config_pack", **env: str) -> str:
    """Runs it as a worker would, and gives what it printed."""
    (folder / "artifacts").mkdir(parents=True)
    (folder / "train.py").write_text(script)
    own = {
        RUN_VARIABLE: str(folder), "PYTHONPATH": str(GUEST), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "OMP_NUM_THREADS": "1", "MY_API_TOKEN": SECRET, "DATABASE_URL": f"postgres://me:{SECRET}@host/db",
        "HCCL_PROXY": f"http://me:{SECRET}@host", "USE_FLASH": "1", "ASCEND_STUDIO_HOOKS": hooks,
    }  # fmt: skip
    line = (sys.executable, "train.py", *args)
    done = subprocess.run(
        line, cwd=folder, env={**os.environ, **own, **env}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def lines(printed: str, begin: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(begin)]


def own(**changed: Any) -> dict[str, Any]:
    """studio.json of a training on a CPU."""
    whole: dict[str, Any] = {
        "format": 1, "framework": "torch", "reason": "", "rank": 0, "world": 1, "python": "/usr/bin/python",
        "seeds": {"torch.seed": 3, "torch.state": "aa"},
        "determinism": {"torch.deterministic_algorithms": True, "HCCL_DETERMINISTIC": None},
        "versions": {"python": "3.11.7", "torch": "2.13.0"}, "devices": ["CPU"],
        "threads": {"OMP_NUM_THREADS": "1"},
    }  # fmt: skip
    return whole | changed


def write(path: Path, own: dict[str, Any] | None = None, **members: str) -> Path:
    """A pack; names of members with __ for / and .json behind those that have one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if own is not None:
            archive.writestr("studio.json", json.dumps(own))
        for name, text in members.items():
            archive.writestr(name if name in ("env", "pip") else name.replace("__", "/") + ".json", text)
    return path
