"""Each recipe in PyTorch, eager and compiled, and in MindSpore's three modes: its steady step on this machine, beside
a plain loop of PyTorch over the same network and samples; for `lora` beside the Trainer of Hugging Face with peft.

The losses of the plain loops must be those of the recipes: what computes something else is no peer.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from backends.launch.engine_options import write_options
from backends.launch.launchers import ENGINE
from backends.launch.spec import LaunchSpec
from studio import schema
from studio.events import Metric
from studio.paths import GUEST, ROOT
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

STEPS = {"linear": 400, "digits": 120, "text": 40, "dense": 400, "resnet50": 6, "lora": 40}
BAR = 1.0
"""At least as fast as the plain loop; what a median of steps wavers by on this machine is printed as noise."""
MODES: dict[str, dict[str, Any]] = {
    "torch, eager": {"framework": "torch"},
    "torch.compile": {"framework": "torch", "compile": True},
    "MindSpore, PyNative": {"mode": "pynative"},
    "MindSpore, @jit": {"mode": "jit"},
    "MindSpore, graph": {"mode": "graph"},
}
READY = """
import json, statistics, sys, time
import torch
from ascend_engine.options import parse
from ascend_engine.data import stream
from ascend_engine.pytorch import recipe
from ascend_engine.pytorch.optimizers import make_optimizer
from ascend_engine.pytorch.step import labels_of, tensor_of

config = parse(open("options.json").read())
torch.manual_seed(config.seed)
plan = recipe.build(config)
plan.network.train()
cpu = torch.device("cpu")
samples = stream(plan.train_data, config)
seconds, losses = [], []
"""
PLAIN = """
optimizer = make_optimizer(config.optimizer, recipe.trained(plan.network), config.lr, config.weight_decay, False)
for number in range(config.steps):
    begin = time.perf_counter()
    plan.before_batch(samples.first_sample(number))
    inputs, labels = samples[number]
    optimizer.zero_grad()
    loss = plan.loss(plan.network(tensor_of(inputs, cpu)), labels_of(labels, cpu))
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    seconds.append(time.perf_counter() - begin)
"""
TRAINER = """
from transformers import Trainer, TrainerCallback, TrainingArguments

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return config.steps * config.batch
    def __getitem__(self, number):
        inputs, labels = samples[number // config.batch]
        row = number % config.batch
        return {"inputs": torch.from_numpy(inputs[row]), "labels": torch.from_numpy(labels[row]).long()}

class Plain(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = plan.loss(model(inputs["inputs"]), inputs["labels"])
        losses.append(loss.item())
        return loss

class Clock(TrainerCallback):
    def on_step_begin(self, *_, **__):
        self.begin = time.perf_counter()
    def on_step_end(self, *_, **__):
        seconds.append(time.perf_counter() - self.begin)

arguments = TrainingArguments(
    output_dir="trainer", per_device_train_batch_size=config.batch, max_steps=config.steps, learning_rate=config.lr,
    weight_decay=config.weight_decay, lr_scheduler_type="constant", max_grad_norm=0.0, optim="adamw_torch",
    report_to=[], save_strategy="no", logging_strategy="no", use_cpu=True, remove_unused_columns=False,
    disable_tqdm=True, seed=config.seed,
)
Plain(model=plan.network, args=arguments, train_dataset=Rows(), callbacks=[Clock()]).train()
"""
END = """
json.dump({"step": statistics.median(seconds[len(seconds) // 2:]) * 1e3, "losses": losses}, open("plain.json", "w"))
"""


def figures() -> list[Figure]:
    return [figure for recipe in STEPS for figure in of_recipe(recipe)]


def of_recipe(recipe: str) -> list[Figure]:
    first, first_losses = plain(recipe)
    rows = []
    for name, choices in MODES.items():
        if (recipe == "lora" and "framework" not in choices) or (choices.get("compile") and not shutil.which("g++")):
            continue
        step, losses = trained(recipe, choices)
        if name == "torch, eager":
            step = min(step, trained(recipe, choices)[0])  # as of the plain loop, the better of two
            different = max(abs(a - b) for a, b in zip(losses, first_losses, strict=True))
            assert different < 1e-4 * max(map(abs, first_losses)), f"{recipe}: losses differ by {different}"
        rows.append((name, step))
    second, _ = plain(recipe)
    peer, noise = min(first, second), abs(first - second) / min(first, second)
    peer_name = "Trainer with peft" if recipe == "lora" else "a plain loop of torch"
    return [
        Figure(
            what=f"{recipe}: {name}, step", value=step / peer, unit="x", peer=1.0,
            peer_name=f"({peer:.3g} ms) {peer_name}",
            bar=BAR + max(noise, 0.05) if name == "torch, eager" else None, noise=noise,
        )
        for name, step in rows
    ]  # fmt: skip


def trained(recipe: str, choices: dict[str, Any]) -> tuple[float, list[float]]:
    """Median of the second half of the steps, in ms, and all losses."""
    with tempfile.TemporaryDirectory() as folder:
        run = launch(Path(folder), recipe=recipe, steps=STEPS[recipe], device="cpu", seed=1, **choices)
        assert ended(run, seconds=900).code == 0, run.log.read_text()
        metrics = [event.values for event in events_of(run) if isinstance(event, Metric)]
    times = [float(values["step_time"]) for values in metrics if "step_time" in values]
    losses = [float(values["loss"]) for values in metrics if "loss" in values]
    return statistics.median(times[len(times) // 2 :]) * 1e3, losses


def plain(recipe: str) -> tuple[float, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        spec = LaunchSpec()
        for name, value in {"framework": "torch", "recipe": recipe, "steps": STEPS[recipe], "device": "cpu"}.items():
            spec = schema.with_value(spec, name, value)
        write_options(spec, Path(folder))
        script = READY + (TRAINER if recipe == "lora" else PLAIN) + END
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (GUEST, ENGINE, ROOT)))}
        subprocess.run(
            [sys.executable, "-c", script], cwd=folder, env=env, check=True, capture_output=True, timeout=900
        )
        result = json.loads(Path(folder, "plain.json").read_text("utf-8"))
    return result["step"], result["losses"]
