"""Small trainings for CUDA, and the same for an NPU as somebody would migrate them by hand."""

from __future__ import annotations

PLAIN = """\
import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--resume", default="")
parser.add_argument("--profile", action="store_true")
args = parser.parse_args()
random.seed(5)
torch.manual_seed(7)
torch.cuda.manual_seed_all(11)
torch.cuda.set_device(0)
device = torch.device("cuda:0")
inputs = torch.randn(64, 6)
targets = inputs.sum(1, keepdim=True)
data = torch.utils.data.TensorDataset(inputs, targets)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True, pin_memory=True)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
loss_of = nn.MSELoss().to(device)
if args.resume:
    net.load_state_dict(torch.load(args.resume, map_location="cuda:0"))
if args.profile:
    torch.cuda.synchronize()
for epoch in range(10):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = loss_of(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")
"""
SCALED = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 32))
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(checkpoint(self.body, x, use_reentrant=False))


net = Net().cuda()
optimizer = torch.optim.SGD(
    [{"params": net.body.parameters(), "lr": 0.1}, {"params": net.head.parameters(), "lr": 0.05}], momentum=0.9
)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
total = 0.0
for step in range(1000):
    x = torch.randn(16, 8, device="cuda")
    y = torch.randint(0, 4, (16,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    total += loss.item()
"""
BRAIN = """\
import torch
from torch import nn

torch.manual_seed(3)
device = "cuda"
net = nn.Sequential(nn.Embedding(20, 16), nn.Flatten(), nn.Linear(64, 20)).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.95))
generator = torch.Generator().manual_seed(42)
tokens = torch.randint(0, 20, (400,), generator=generator)


def batch():
    at = torch.randint(0, 390, (8,), generator=generator)
    x = torch.stack([tokens[i : i + 4] for i in at])
    y = torch.stack([tokens[i + 4] for i in at])
    return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)


def evaluate():
    net.eval()
    with torch.no_grad():
        x, y = batch()
        x, y = x.cuda(), y.cuda()
        print("valid", nn.functional.cross_entropy(net(x), y).item())
    net.train()


for step in range(1000):
    x, y = batch()
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        logits = net(x)
        loss = nn.functional.cross_entropy(logits.float(), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        evaluate()
        torch.save(net.state_dict(), "net.pt")
"""
RANKS = """\
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

os.environ.setdefault("RANK", "0")
rank = int(os.environ["RANK"])
store = "file://" + os.path.join(tempfile.mkdtemp(), "store")
dist.init_process_group("nccl", init_method=store, rank=rank, world_size=1)
torch.cuda.set_device(rank)
torch.manual_seed(2)
net = DDP(nn.Linear(4, 2).cuda(rank), device_ids=[rank], gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
group = dist.new_group([0])
for step in range(1000):
    x = torch.randn(4, 4, device=f"cuda:{rank}")
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    value = loss.detach().clone()
    dist.all_reduce(value, op=dist.ReduceOp.SUM, group=group)
    dist.broadcast(value, src=0)
    dist.barrier()
"""
SIMPLE = """\
import json

import torch

settings = json.load(open("settings.json"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(settings["seed"])
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=settings["lr"])
for step in range(1000):
    loss = net(torch.randn(settings["batch"], 4, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ORIGINALS = {"plain": PLAIN, "scaled": SCALED, "brain": BRAIN, "ranks": RANKS, "simple": SIMPLE}
DATA = {"simple": {"settings.json": '{"seed": 1, "lr": 0.1, "batch": 4}\n'}}


def _for_npu(text: str) -> str:
    text = text.replace("torch.cuda.", "torch.npu.").replace('"cuda', '"npu').replace(".cuda(", ".npu(")
    text = text.replace('"nccl"', '"hccl"').replace('f"cuda:', 'f"npu:')
    return text.replace("import torch\n", "import torch\nimport torch_npu\n", 1)


BY_HAND = {name: _for_npu(text) for name, text in ORIGINALS.items()}
_CAPABILITY = 'os.environ["TORCH_NPU_DEVICE_CAPABILITY"] = "8.0"\n'
"""What torch.distributed.broadcast of torch 2.13 reads under transfer_to_npu: without it a card raises, too."""
BY_TRANSFER = {
    name: text.replace(
        "import torch\n", "import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n", 1
    )
    for name, text in ORIGINALS.items()
}


BY_TRANSFER["ranks"] = BY_TRANSFER["ranks"].replace("rank = int", f"{_CAPABILITY}rank = int", 1)


def changed(text: str, *edits: tuple[str, str]) -> str:
    """Return a text with each edit made once."""
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after, 1)
    return text
