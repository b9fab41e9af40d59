"""A program for a child: dumps of a small transformer, whole and with something planted, one process each.

python captured.py FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional as F

NOISE = {"ulps": 0}
RANDOM = torch.Generator().manual_seed(99)


def noisy(function):
    """Each of its outputs rounded another way, by up to so many ulp, before anybody sees it."""

    def call(*args, **kwargs):
        out = function(*args, **kwargs)
        if NOISE["ulps"] and torch.is_tensor(out) and out.is_floating_point():
            ulps = torch.randint(-NOISE["ulps"], NOISE["ulps"] + 1, out.shape, generator=RANDOM)
            out.data.mul_(1 + torch.finfo(out.dtype).eps * ulps.to(out.dtype))
        return out

    return call


for home, names in (
    (F, ("linear", "layer_norm", "gelu", "relu", "embedding", "cross_entropy")),
    (torch, ("matmul", "softmax")),
    (torch.Tensor, ("__add__", "__mul__")),
):
    for name in names:
        setattr(home, name, noisy(getattr(home, name)))

from msprobe.pytorch import PrecisionDebugger  # noqa: E402 - what it wraps is noisy by now


class Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm, self.other_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)
        self.plant = ""

    def forward(self, x):
        x = x + self.attend(self.norm(x))
        y = self.other_norm(x)
        if self.plant == "cast":
            y = y.bfloat16().to(y.dtype)
        y = F.relu(self.up(y)) if self.plant == "relu" else F.gelu(self.up(y))
        if self.plant == "extra":
            y = y * 1.5
        if self.plant == "divided":
            y = y / 0 * 0
        if self.plant == "nan":
            y.data[0, 0, 0] = float("nan")
        y = self.down(y)
        return y if self.plant == "missing" else x + y

    def attend(self, x):
        if self.plant == "moved":
            key, query = self.key(x), self.query(x)
        else:
            query, key = self.query(x), self.key(x)
        if self.plant == "detached":
            key = key.detach()
        scores = torch.matmul(query, key.transpose(-2, -1)) * (0.25 if self.plant != "scale" else 0.2525)
        out = torch.matmul(torch.softmax(scores, -1), self.value(x))
        if self.plant == "backward":
            out.register_hook(lambda gradient: gradient * 1.05)
        return out


class Model(nn.Module):
    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, size)
        self.blocks = nn.ModuleList(Block(size) for _ in range(3))
        self.head = nn.Linear(size, 20)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def capture(
    folder, plant="", ulps=0, double=False, steps=1, only_step=None, level="mix", task="statistics", weight=0.0,
    autocast=False,
):  # fmt: skip
    NOISE["ulps"] = ulps
    torch.manual_seed(0)
    model = Model()
    if weight:
        model.blocks[1].up.weight.data[0, 0] *= 1 + weight
    if plant == "eps":
        model.blocks[1].other_norm.eps = 1e-3
    model = model.double() if double else model
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    folder.mkdir()
    config = {
        "task": "statistics" if task == "md5" else task, "dump_path": str(folder), "rank": [], "step": [],
        "level": level, "async_dump": False, "tensor": {"scope": [], "list": [], "data_mode": ["all"]},
        "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task},
    }  # fmt: skip
    told = folder.with_suffix(".json")
    told.write_text(json.dumps(config))
    debugger = PrecisionDebugger(config_path=str(told))
    batches = torch.Generator().manual_seed(5)
    for step in range(steps):
        words = torch.randint(0, 20, (2, 9), generator=batches)
        model.blocks[1].plant = plant if only_step in (None, step) else ""
        debugger.start(model=model)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            out = model(words[:, :-1])
        F.cross_entropy(out.float().flatten(0, 1), words[:, 1:].flatten()).backward()
        debugger.stop()
        debugger.step()
        optimizer.step()
        optimizer.zero_grad()


PLANTS = ("cast", "relu", "extra", "nan", "divided", "missing", "moved", "scale", "backward", "eps", "detached")
DUMPS = {
    "healthy": {}, "ulp": {"ulps": 4}, "ulp_again": {"ulps": 3}, "double": {"double": True},
    **{plant: {"plant": plant} for plant in PLANTS}, "weight": {"weight": 0.01},
    "steps": {"steps": 3}, "steps_ulp": {"steps": 3, "ulps": 4},
    "steps_cast": {"steps": 3, "plant": "cast", "only_step": 1},
    "steps_nan": {"steps": 3, "plant": "nan", "only_step": 1},
    "functions": {"level": "L1", "ulps": 4}, "modules": {"level": "L0"}, "tensors": {"task": "tensor"},
    "tensors_weight": {"task": "tensor", "weight": 1e-4}, "digests": {"task": "md5"},
    "autocast": {"autocast": True}, "structure": {"task": "structure"},
    "digests_weight": {"task": "md5", "weight": 1e-6},
}  # fmt: skip


def main(out):
    for name, how in DUMPS.items():
        child = os.fork()
        if not child:
            try:
                capture(out / name, **how)
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"{name} failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
