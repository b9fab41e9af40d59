"""Trainings as people write them, with checkpoints by the known ways: killed in the middle, they can be resumed."""

from __future__ import annotations

BEGIN = """
import argparse, json, os, signal, sys
from pathlib import Path
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

def die_at(step):
    "As a kill of the scheduler does, where the test asks for it."
    if Path("die").exists() and step == int(Path("die").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)

def cut(source, target):
    content = Path(source).read_bytes()
    Path(target).write_bytes(content[: len(content) // 2])
"""

TORCH = (
    BEGIN
    + """
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--resume", default="", metavar="PATH")
parser.add_argument("--out", default="out")
args = parser.parse_args()
model = nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
begin = 0
if args.resume:
    state = torch.load(args.resume, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begin = state["step"]
Path(args.out).mkdir(exist_ok=True)
for step in range(begin, args.steps):
    loss = (model(torch.full((8, 4), step + 1.0)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("LOSS", json.dumps([step, loss.item()]), flush=True)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
    torch.save(state, f"{args.out}/step_{step + 1}.pt")
    if Path("die").exists() and step + 1 == int(Path("die").read_text()):
        cut(f"{args.out}/step_{step + 1}.pt", f"{args.out}/step_{step + 2}.pt")
    die_at(step + 1)
"""
)

TRAINER = (
    BEGIN
    + """
from transformers import HfArgumentParser, Trainer, TrainerCallback, TrainingArguments

(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        x = torch.randn(8, generator=generator)
        return {"x": x, "labels": x.sum(0, keepdim=True)}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)
        self.drop = nn.Dropout(0.1)
    def forward(self, x, labels):
        out = self.net(self.drop(x))
        return {"loss": (out - labels).square().mean(), "logits": out}

class Killed(TrainerCallback):
    def on_step_end(self, args, state, control, **others):
        if state.global_step == 7 and Path("die").exists():
            folder = Path(args.output_dir, "checkpoint-7")
            folder.mkdir()
            cut(Path(args.output_dir, "checkpoint-6", "model.safetensors"), folder / "model.safetensors")
        die_at(state.global_step)

class Told(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **others):
        if "loss" in logs:
            print("LOSS", json.dumps([state.global_step, logs["loss"]]), flush=True)

trainer = Trainer(model=Net(), args=args, train_dataset=Rows(), callbacks=[Killed(), Told()])
trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
print("WEIGHTS", json.dumps(trainer.model.net.weight.tolist()))
"""
)
TRAINER_LINE = (
    "python", "train.py", "--output_dir", "out", "--max_steps", "10", "--save_steps", "3", "--logging_steps", "1",
    "--per_device_train_batch_size", "4", "--report_to", "none", "--use_cpu", "--disable_tqdm", "true",
)  # fmt: skip

LIGHTNING = (
    BEGIN
    + """
import pytorch_lightning as L

parser = argparse.ArgumentParser()
parser.add_argument("--ckpt-path", help="go on with this checkpoint")
args = parser.parse_args()

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)
    def training_step(self, batch, index):
        loss = (self.net(batch[0]) - batch[1]).square().mean()
        print("LOSS", json.dumps([self.global_step, loss.item()]), flush=True)
        die_at(self.global_step)
        return loss
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)

rows = torch.utils.data.TensorDataset(torch.randn(32, 8), torch.randn(32, 1))
saved = L.callbacks.ModelCheckpoint("saved", "{epoch}", save_top_k=-1)
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, callbacks=[saved], enable_progress_bar=False,
                    enable_model_summary=False)
trainer.fit(Net(), torch.utils.data.DataLoader(rows, 8), ckpt_path=args.ckpt_path)
"""
)

ACCELERATE = (
    BEGIN
    + """
from accelerate import Accelerator

parser = argparse.ArgumentParser()
parser.add_argument("--resume_from_checkpoint", type=str, default=None)
parser.add_argument("--output_dir", type=str, default=".")
args = parser.parse_args()
accelerator = Accelerator(cpu=True)
model = nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
model, optimizer = accelerator.prepare(model, optimizer)
begin = 0
if args.resume_from_checkpoint:
    accelerator.load_state(args.resume_from_checkpoint)
    begin = int(Path(args.resume_from_checkpoint).name.removeprefix("step_"))
for step in range(begin, 8):
    loss = (model(torch.randn(4, 8)) - 1).square().mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    print("LOSS", json.dumps([step, loss.item()]), flush=True)
    if (step + 1) % 2 == 0:
        accelerator.save_state(f"{args.output_dir}/step_{step + 1}")
    die_at(step + 1)
"""
)
