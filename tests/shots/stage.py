"""What the pictures show: real runs, made here, and copies of them cut off where a live run would be."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch import FEATURE
from backends.migration.certify.spec import CertifySpec
from backends.migration.migrate.spec import MigrateSpec
from backends.migration.scan.spec import ScanSpec
from studio import run as runs
from studio import schema, worker
from studio.project import Project, make_runs_folder
from tests.runs import ended, write_worker
from tests.shots import precision_states, timeline_states, trust_states

if TYPE_CHECKING:
    from studio.run import Run

# A scale far too high at first: float16 gradients overflow, it is halved, and finds its level.
MARKED = {
    "recipe": "digits", "mode": "jit", "amp": "O3", "loss_scale": "dynamic", "scale": 2.0**24, "device": "cpu",
    "checkpoint_every": 60,
}  # fmt: skip

# Scripts of the user's own: one that learns, one that trains in no framework.
XOR = """\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.5, help="learning rate")
parser.add_argument("--steps", type=int, default=200, help="updates of the weights")
parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd", help="how the weights are updated")
parser.add_argument("--momentum", type=float, default=0.0)
parser.add_argument("--save", metavar="FILE", help="where to write the weights at the end")
parser.add_argument("--quiet", action="store_true", help="print nothing")
args = parser.parse_args()
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], device=device)
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]], device=device)
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
optimizer = kinds[args.optimizer](model.parameters(), lr=args.lr)
for step in range(args.steps):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not args.quiet:
        print(f"step {step} loss {loss.item():.4f}")
"""
BY_HAND = """\
weight = 0.0
for step in range(100):
    weight -= 0.1 * 2 * (weight - 3)
print("weight", weight)
"""
GLOBALS = """\
batch_size = 12  # sequences of a micro step
block_size = 1024
learning_rate = 6e-4
max_iters = 600000  # updates in all
out_dir = "out"
compile = True
dtype = "float32"
exec(open("configurator.py").read())
"""
SMALL = """\
# a laptop's
batch_size = 2
max_iters = 20
compile = False
"""
SETTINGS = """\
model: {width: 64, depth: 4}
train:
  lr: 3.0e-4   # peak
  steps: 2000
data: [train.bin, val.bin]
wandb_api_key: none-of-your-business
"""
# For an NPU: attention under autocast with a scaler, and what a card leaves to the host or waits for.
NPU = """\
import torch
import torch_npu
from torch import nn

torch.manual_seed(0)
device = torch.device("npu:0")


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.dense(x)


model = nn.Sequential(nn.Embedding(512, 64), Block(64), Block(64), nn.Linear(64, 512)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("npu")
for step in range(40):
    tokens = torch.arange(8 * 33).reshape(8, 33).add(step).remainder(512).to(device)
    with torch.autocast("npu", dtype=torch.float16):
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    kept = tokens[tokens > 256 + step]
    rank = torch.linalg.matrix_rank(logits[0].float()).item()
    print(f"step {step} loss {loss.item():.4f} kept {len(kept)} rank {rank}")
"""
FILES = {"gpt.py": GLOBALS, "config/small.py": SMALL, "settings.yaml": SETTINGS}
# A project written for a GPU: what works by itself, what has an edit, what needs a person.
GPU_TRAIN = """\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if int(os.environ.get("WORLD_SIZE", "1")) > 1:
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
scaler = torch.cuda.amp.GradScaler(enabled=device.type == "cuda")
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to(device)
if dist.is_initialized():
    model = DistributedDataParallel(model, device_ids=[int(os.environ["LOCAL_RANK"])])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(32, 8, device=device)
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
        loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss {loss.item():.4f}")
"""
GPU_KERNELS = """\
import flash_attn
import torch
from torch.utils.cpp_extension import CUDAExtension

extension = CUDAExtension("kernels", ["kernels.cu"])


@torch.jit.script
def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 1.41421))


def timed(model, x):
    torch.cuda.nvtx.range_push("forward")
    y = flash_attn.flash_attn_func(x, x, x)
    torch.cuda.nvtx.range_pop()
    return torch.nn.DataParallel(model)(y)
"""
GPU_RUN = """\
#!/bin/bash
export CUDA_VISIBLE_DEVICES=0,1
nvidia-smi
torchrun --nproc-per-node 2 train.py
"""
GPU_FILES = {
    "train.py": GPU_TRAIN, "model/kernels.py": GPU_KERNELS, "run.sh": GPU_RUN,
    "requirements.txt": "torch==2.4.0+cu121\nflash-attn\n", "config/base.yaml": "device: cuda\nbackend: nccl\n",
}  # fmt: skip
MUST_HAVE_CUDA = XOR.replace('"cuda" if torch.cuda.is_available() else "cpu"', '"cuda"')


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A project with runs, and one without. `whole`: all recipes; else only what takes seconds."""

    folder: Path
    whole: bool

    @property
    def project(self) -> Path:
        return self.folder / "digits-on-npu"

    @property
    def empty(self) -> Path:
        return self.folder / "new-project"

    @property
    def gpu(self) -> Path:
        """A project to migrate."""
        return self.folder / "gpu-project"

    @property
    def gpu_new(self) -> Path:
        """The same, not scanned yet."""
        return self.folder / "gpu-project-unscanned"

    @property
    def gpu_scanned(self) -> Path:
        """The same, scanned and no more."""
        return self.folder / "gpu-project-scanned"

    @property
    def precision(self) -> Path:
        """Captured on two sides, and compared."""
        return self.folder / "gpt-on-npu"

    def run(self, name: str) -> Run:
        """One of the runs that `build` made."""
        return runs.open_run((self.folder / "names" / name).resolve())


def build(stage: Stage) -> None:
    """Trains for real, on whatever device is here."""
    (stage.folder / "names").mkdir(parents=True)
    stage.project.mkdir()
    stage.empty.mkdir()
    for name, text in (
        ("xor.py", XOR),
        ("by_hand.py", BY_HAND),
        ("cuda_only.py", MUST_HAVE_CUDA),
        ("transformer_npu.py", NPU),
        *FILES.items(),
    ):
        (stage.project / name).parent.mkdir(exist_ok=True)
        (stage.project / name).write_text(text)
    _migrate(stage)
    precision_states.build(stage.precision, stage.whole)
    timeline_states.build(stage.folder)
    trust_states.build(stage.folder)
    _train(stage, "failed", recipe="linear", device="ascend", steps=20)
    _train(stage, "linear-pynative", recipe="linear", mode="pynative")
    _train(stage, "linear", recipe="linear", mode="jit")
    if stage.whole:
        _train(stage, "digits-pynative", recipe="digits", mode="pynative")
        _train(stage, "text", recipe="text", mode="jit", steps=120)
        _train(stage, "digits-O2", recipe="digits", mode="jit", amp="O2", accumulate=2)
        _train(stage, "marked", **MARKED, steps=120)
        _train(stage, "resumed", **MARKED, steps=300, resume=stage.run("marked").folder)
        _train(stage, "resumed-inexactly", **MARKED, steps=260, lr=0.05, resume=stage.run("marked").folder)
        _train(stage, "ranks", recipe="linear", parallel="data", workers=2, steps=60, device="cpu")
        for command in ("shapes", "check-first"):
            _train(stage, command, command, recipe="digits", mode="jit", device="cpu")
        _train(stage, "preview", "preview")
        _own(stage, "own-script", "script", "xor.py", "--lr", "0.3")
        _own(stage, "own-nothing", "script", "by_hand.py")
        _own(stage, "rehearsal", "rehearse", "xor.py", stance="cuda")
        _own(stage, "rehearsal-refused", "rehearse", "cuda_only.py", stance="npu")
        _own(stage, "rehearsal-npu", "rehearse", "transformer_npu.py", stance="npu", steps=40)
        _train(stage, "digits", recipe="digits", mode="jit")
        _cut(stage, "rehearsal-npu-live", share=0.6, source="rehearsal-npu")
        _cut(stage, "capturing", share=0.6, source="own-script")
    _cut(stage, "compiling", phase="compile")
    _cut(stage, "partial", share=0.4)


def _migrate(stage: Stage) -> None:
    """Scanned and, for the whole stage, migrated into a copy that is certified."""
    for folder in (stage.gpu, stage.gpu_new, stage.gpu_scanned):
        for name, text in GPU_FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    for folder in (stage.gpu, stage.gpu_scanned):
        _of_gpu(folder, "scan", schema.with_value(ScanSpec(), "path", folder))
    if stage.whole:
        copy = stage.folder / "gpu-project-npu"
        spec = schema.with_value(schema.with_value(MigrateSpec(), "path", stage.gpu), "into", copy)
        _of_gpu(stage.gpu, "migrate", spec)
        proof = CertifySpec()
        values = {
            "original": stage.gpu, "migrated": copy, "line": ("python", "train.py"), "workdir": stage.gpu,
            "python": Path(sys.executable),
        }  # fmt: skip
        for name, value in values.items():
            proof = schema.with_value(proof, name, value)
        _of_gpu(stage.gpu, "certify", proof)


def _of_gpu(project: Path, command: str, spec: Any) -> None:
    folder = make_runs_folder(Project(folder=project))
    run = runs.create(folder, command, schema.to_json(spec), project)
    worker.start(run)
    ended(run, seconds=600)


def _train(stage: Stage, name: str, command: str = "launch", **values: Any) -> None:
    spec = next(action for action in FEATURE.actions if action.name == command).spec()
    for field, value in values.items():
        spec = schema.with_value(spec, field, value)
    folder = make_runs_folder(Project(folder=stage.project))
    run = runs.create(folder, command, schema.to_json(spec), stage.project)
    worker.start(run)
    ended(run, seconds=600)
    (stage.folder / "names" / name).symlink_to(run.folder)


def _own(stage: Stage, name: str, command: str, *words: str, **values: Any) -> None:
    """A script of the user's own, in the interpreter that runs the pictures."""
    line = ("python", *words)
    _train(stage, name, command, line=line, workdir=stage.project, python=Path(sys.executable), **values)


def _cut(stage: Stage, name: str, share: float = 1.0, phase: str = "", source: str = "") -> None:
    """A copy of a run, else the last one, as it was earlier: its events up to a phase, or a share of them, and a
    living worker."""
    folder = stage.run(source or ("digits" if stage.whole else "linear")).folder
    copy = folder.with_name(f"{folder.name}-{name}")
    shutil.copytree(folder, copy)
    for path in copy.glob("events*.jsonl"):
        path.write_bytes(b"".join(_earlier(path.read_bytes().splitlines(keepends=True), share, phase)))
    log = copy / "output.log"
    log.write_bytes(b"".join(_earlier(log.read_bytes().splitlines(keepends=True), 0 if phase else share, "")))
    write_worker(copy)
    (stage.folder / "names" / name).symlink_to(copy)


def _earlier(lines: list[bytes], share: float, phase: str) -> list[bytes]:
    lines = [line for line in lines if b'"type":"ended"' not in line]
    if phase:
        last = next((number for number, line in enumerate(lines, 1) if f'"{phase}"'.encode() in line), 1)
        return lines[:last]
    return lines[: int(len(lines) * share)]
