"""The peak of memory that the virtual NPU predicts, against torch's own tracker, sums by hand, and a GPU.

No NPU is here to measure on. The tracker sees the same storages on the CPU, without blocks; what a card's kernels take
while they run is in neither. `support/memory_gpu.json` has what torch's allocator counted on a GPU, as
`memory_networks.py NAME cuda` and `cudnn` print it there.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from studio.paths import GUEST
from tests.prove.support import memory_networks
from tests.prove.support.memory_networks import NETWORKS

BAR = 0.1
GPU = json.loads(Path(memory_networks.__file__).with_name("memory_gpu.json").read_text("utf-8"))
NEAR_GPU = 9
"""Networks that are within BAR of the GPU's own kernels: its GRU keeps what no other kernel does."""
HAND = """
import contextlib, sys
import torch, torch_npu
from torch import nn
sizes, batch = [int(word) for word in sys.argv[1].split(",")], int(sys.argv[2])
net = nn.Sequential(*[nn.Linear(size, after) for size, after in zip(sizes, sizes[1:])]).npu()
optimizer = torch.optim.SGD(net.parameters(), 0.1, foreach=False)
for _ in range(2):
    loss = net(torch.randn(batch, sizes[0]).npu()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del loss
print(torch_npu.npu.max_memory_allocated())
"""
HAND_CASES = (((512, 512, 512), 64), ((256, 2048, 256), 512), ((1024, 1024, 1024, 1024), 1))


def by_hand(sizes: tuple[int, ...], batch: int) -> int:
    """The bytes of a chain of linear layers at its peak, all of float32.

    Either of the second forward pass, while the first gradients are alive: weights and biases twice, the input of each
    layer, and the result. Or of the backward pass of one layer: all weights, the gradients of this layer and those
    behind it, the inputs of this layer and those before it, and the gradients of its result and its input. That of the
    last result is one number, seen as many.
    """
    weights = [first * second + second for first, second in itertools.pairwise(sizes)]
    rows = [batch * size for size in sizes]
    last = len(weights) - 1
    backward = [
        sum(weights) + sum(weights[layer:]) + sum(rows[: layer + 1])
        + (rows[layer + 1] if layer < last else 0) + (rows[layer] if layer else 0)
        for layer in range(len(weights))
    ]  # fmt: skip
    return 4 * max(2 * sum(weights) + sum(rows), *backward)


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(Path(folder), name) for name in NETWORKS]
        hand = [_hand_row(Path(folder), *case) for case in HAND_CASES]
    worst = max(abs(row["error"]) for row in (*rows, *hand))
    near = sum(abs(row["gpu_error"]) <= BAR for row in rows)
    return {
        "passed": worst <= BAR and near >= NEAR_GPU, "bar": BAR, "worst": worst, "near_gpu": near,
        "gpu": f"{GPU['device']}, torch {GPU['torch']}", "networks": rows, "by_hand": hand,
    }  # fmt: skip


def _row(folder: Path, name: str) -> dict[str, Any]:
    expected, *predicted = [_bytes(folder, name, kind) for kind in ("tracker", "npu", "fake")]
    errors = [round(value / expected - 1, 4) for value in predicted]
    on_gpu = GPU["peaks"][name]
    return {
        "network": name, "tracker": expected, "computed": predicted[0], "fake": predicted[1],
        "error": max(errors, key=abs), "gpu_error": round(predicted[1] / on_gpu["torch"] - 1, 4),
        "gpu_error_cudnn": round(predicted[1] / on_gpu["cudnn"] - 1, 4),
    }  # fmt: skip


def _bytes(folder: Path, name: str, kind: str) -> int:
    path = memory_networks.__file__
    return _printed(folder, kind, path, name, kind)


def _hand_row(folder: Path, sizes: tuple[int, ...], batch: int) -> dict[str, Any]:
    expected = by_hand(sizes, batch)
    predicted = _printed(folder, "npu", "-c", HAND, ",".join(map(str, sizes)), str(batch))
    return {
        "network": f"{sizes} x {batch}", "by_hand": expected, "computed": predicted,
        "error": round(predicted / expected - 1, 4),
    }  # fmt: skip


def _printed(folder: Path, kind: str, *words: str) -> int:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"OMP_NUM_THREADS": "1"}
    if kind != "tracker":
        environment |= {
            "PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(folder), "ASCEND_STUDIO_HOOKS": "rehearse=npu",
            "ASCEND_STUDIO_REHEARSAL_FAKE": "1" if kind == "fake" else "0",
        }  # fmt: skip
    line = [sys.executable, "-W", "ignore", *words]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.splitlines()[-1])
