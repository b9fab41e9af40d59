"""What a step costs on the virtual NPU, beside the same step on the CPU."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from studio.paths import GUEST
from tests.bench.figure import Figure

ROUNDS = 5
STEPS = 12
WARM_UP = 3
NETWORKS = (("10 ms", 128, 64, 3.0), ("200 ms", 512, 112, 1.3))
"""Name, width and sequence of a decoder of two layers, and the bar."""
SCRIPT = """
import sys, time
device, width, sequence, steps, warm_up = sys.argv[1], *map(int, sys.argv[2:])
import torch
if device == "npu":
    import torch_npu
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0)
net = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, 100)).to(device)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)
data, target = torch.randn(4, sequence, width).to(device), torch.randint(100, (4, sequence)).to(device)
times, losses = [], []
for step in range(steps):
    begun = time.process_time()
    loss = nn.functional.cross_entropy(net(data).flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    times.append(time.process_time() - begun)
print(sorted(times[warm_up:])[len(times[warm_up:]) // 2], losses[-1])
"""


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [_figure(folder, *network) for network in NETWORKS]


def _figure(folder: str, name: str, width: int, sequence: int, bar: float) -> Figure:
    pairs = [[_step(folder, device, width, sequence) for device in ("cpu", "npu")] for _ in range(ROUNDS)]
    assert len({loss for pair in pairs for _, loss in pair}) == 1, "both compute the same"
    ratios = [npu / cpu for (cpu, _), (npu, _) in pairs]
    seconds = statistics.median(cpu for (cpu, _), _ in pairs)
    return Figure(
        what=f"a step of about {name} on the virtual NPU, operators followed, beside the CPU", unit="x CPU", bar=bar,
        value=statistics.median(ratios), peer=1.0, peer_name=f"({seconds * 1e3:.0f} ms)",
    )  # fmt: skip


def _step(folder: str, device: str, width: int, sequence: int) -> tuple[float, float]:
    """CPU seconds of a step, and the last loss."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    if device == "npu":
        environment |= {
            "PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": folder, "ASCEND_STUDIO_HOOKS": "rehearse=npu",
        }  # fmt: skip
    words = (device, str(width), str(sequence), str(STEPS), str(WARM_UP))
    line = [sys.executable, "-W", "ignore", "-c", SCRIPT, *words]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    seconds, loss = done.stdout.splitlines()[-1].split()
    return float(seconds), float(loss)
