"""Captures a small contrastive network: `python contrast.py FOLDER NAME...`. A name says what is done to the
temperature or to the running mean, in which dtype, and with how much noise: "clamp-amp-noise"."""

import json
import os
import sys
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch
from torch import nn
from torch.nn import functional as F

NOISE = [0]
LINEAR = F.linear


def noisy_linear(*args, **kwargs):
    out = LINEAR(*args, **kwargs)
    if NOISE[0]:
        ulps = NOISE[0] if out.dtype == torch.float32 else 1
        out.data.mul_(1 + torch.finfo(out.dtype).eps * torch.randint(-ulps, ulps + 1, out.shape).to(out.dtype))
    return out


F.linear = noisy_linear
from msprobe.pytorch import PrecisionDebugger  # noqa: E402 - what it wraps is noisy by now


class Contrast(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.embed, self.first, self.norm = nn.Embedding(30, 16), nn.Linear(16, 16), nn.BatchNorm1d(16)
        self.cells, self.head = nn.GRU(16, 16, batch_first=True), nn.Linear(16, 30)
        self.scale, self.fault = nn.Parameter(torch.tensor(2.5 if fault == "begin" else 2.6592600345611572)), fault

    def forward(self, words):
        x = F.gelu(self.norm(self.first(self.embed(words).flatten(0, 1)))).unflatten(0, words.shape)
        out, _ = self.cells(x + x.mean(1, keepdim=True))
        scale = self.scale
        if self.fault in ("clamp", "idle"):
            scale = scale.clamp(max=2.5 if self.fault == "clamp" else 4.6)
        return self.head(out) * scale.exp()


def capture(out, fault, dtype, noise):
    NOISE[0] = 4 if noise == "noise" else 0
    section = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}
    out.mkdir()
    told = out.with_suffix(".json")
    told.write_text(json.dumps({"task": "statistics", "dump_path": str(out), "rank": [], "step": [], "level": "mix",
                                "async_dump": False, "statistics": section, "tensor": section}))  # fmt: skip
    torch.manual_seed(1)
    net = Contrast(fault)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    batches = torch.Generator().manual_seed(5)
    debugger = PrecisionDebugger(config_path=str(told))
    for _ in range(3):
        words = torch.randint(0, 30, (8, 6), generator=batches)
        debugger.start(model=net)
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "amp"):
            logits = net(words)
        F.cross_entropy(logits.float().flatten(0, 1), words.flatten()).backward()
        debugger.stop()
        debugger.step()
        optimizer.step()
        optimizer.zero_grad()
        if fault == "mean":
            net.norm.running_mean.zero_()


def main(folder, names):
    torch.set_num_threads(1)
    for name in names:
        child = os.fork()
        if not child:
            try:
                capture(folder / name, *name.split("-"))
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"{name} failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
