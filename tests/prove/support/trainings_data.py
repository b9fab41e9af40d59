"""Data and stand-ins for the trainings of `prove virtual_npu`, made here: nothing of it is downloaded."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.prove.support import projects_data

if TYPE_CHECKING:
    from pathlib import Path

NODES, EDGES, FEATURES, CLASSES = 1700, 3400, 16, 7  # of a graph; the scripts cut it at 1600
WANDB = """\
class _Any:
    def __getattr__(self, name):
        return _Any()
    def __call__(self, *args, **kwargs):
        return _Any()
    def __setattr__(self, name, value):
        pass
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Any()
run = _Any()
"""
GYM = """\
import numpy as np
class Box:
    def __init__(self, size):
        self.shape, self.high = (size,), np.ones(size)
    def seed(self, seed):
        self._chance = np.random.RandomState(seed)
    def sample(self):
        return self._chance.uniform(-1, 1, self.shape)
class Point:
    _max_episode_steps = 10
    def __init__(self):
        self.observation_space, self.action_space = Box(4), Box(2)
    def seed(self, seed):
        self._chance = np.random.RandomState(seed)
    def reset(self):
        self._count, self._state = 0, self._chance.uniform(-1, 1, 4)
        return self._state
    def step(self, action):
        self._count += 1
        self._state = self._state + 0.1 * np.concatenate([action, action])
        return self._state, -float(np.square(self._state).sum()), self._count >= 10, {}
def make(name):
    return Point()
"""
ENCODER = """\
import torch
class AutoencoderKL(torch.nn.Module):
    @classmethod
    def from_pretrained(cls, name):
        return cls()
    def encode(self, images):
        self._latent = torch.nn.functional.avg_pool2d(torch.cat([images, images[:, :1]], 1), 8)
        return self
    @property
    def latent_dist(self):
        return self
    def sample(self):
        return self._latent
"""
DIFFUSION_1D = """\
import torch
from denoising_diffusion_pytorch import Dataset1D, GaussianDiffusion1D, Trainer1D, Unet1D
if __name__ == "__main__":
    torch.manual_seed(1)
    model = Unet1D(dim=16, dim_mults=(1, 2), channels=4)
    diffusion = GaussianDiffusion1D(model, seq_length=32, timesteps=20, objective="pred_v")
    data = Dataset1D(torch.rand(16, 4, 32))
    Trainer1D(diffusion, dataset=data, train_batch_size=4, train_lr=8e-5, train_num_steps=4, num_samples=4).train()
"""
LANGUAGE_MODEL = """\
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
torch.manual_seed(1)
model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=2, n_head=2))
rows = [dict(input_ids=row, labels=row) for row in torch.randint(100, (32, 16))]
options = TrainingArguments("out", per_device_train_batch_size=4, max_steps=4, report_to=[], logging_steps=1)
Trainer(model, options, train_dataset=rows).train()
"""


def nothing(place: Path) -> None:
    """The project brings its own."""


def of_examples(place: Path) -> None:
    if place.name == "nanoGPT":
        projects_data.characters(place / "data" / "tiny")
        return
    for folder in (place.parent / "data", place / "data"):
        if not folder.exists():
            projects_data.mnist(folder)
    projects_data.words(place / "data" / "wikitext-2")


def text(path: Path) -> None:
    chance = random.Random(4)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(chance.choice("abcdefgh \n") for _ in range(2000)), "utf-8")


def cora(place: Path) -> None:
    _graph(place / "cora")


def pygcn(place: Path) -> None:
    _graph(place / "data" / "cora")


def _graph(folder: Path) -> None:
    chance = random.Random(5)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [" ".join(str(chance.randrange(2)) for _ in range(FEATURES)) for _ in range(NODES)]
    lines = [f"{number} {row} class{number % CLASSES}\n" for number, row in enumerate(rows)]
    (folder / "cora.content").write_text("".join(lines), "utf-8")
    pairs = {(chance.randrange(NODES), chance.randrange(NODES)) for _ in range(EDGES)}
    (folder / "cora.cites").write_text("".join(f"{one} {other}\n" for one, other in sorted(pairs)), "utf-8")


def masks(place: Path) -> None:
    wandb(place)
    for number in range(12):
        _image(place / "data" / "imgs" / f"{number}.png", number, "RGB", 255)
        _image(place / "data" / "masks" / f"{number}.png", number, "L", 1)


def images(place: Path) -> None:
    """In a folder for each class, and the package of the encoder, whose weights would be downloaded."""
    for number in range(12):
        _image(place / "images" / f"class{number % 2}" / f"{number}.png", number, "RGB", 255, side=256)
    (place / "diffusers").mkdir()
    (place / "diffusers" / "__init__.py").touch()
    (place / "diffusers" / "models.py").write_text(ENCODER, "utf-8")


def labelled_images(place: Path) -> None:
    """With their class in their name, as accelerate's example has them."""
    for number in range(20):
        _image(place / "examples" / "images" / f"class{'ab'[number % 2]}_{number}.jpg", number, "RGB", 255)


def _image(path: Path, number: int, mode: str, most: int, side: int = 32) -> None:
    from PIL import Image

    chance = random.Random(number)
    path.parent.mkdir(parents=True, exist_ok=True)
    count = side * side * len(mode if mode == "RGB" else "L")
    Image.frombytes(mode, (side, side), bytes(chance.randint(0, most) for _ in range(count))).save(path)


def mnist_of_gan(place: Path) -> None:
    projects_data.mnist(place / "data" / "mnist")


def mnist_of_tutorial(place: Path) -> None:
    projects_data.mnist(place / "tutorials" / "data")
    projects_data.mnist(place / "data")


def words_of_tutorial(place: Path) -> None:
    projects_data.words(place / "tutorials" / "02-intermediate" / "language_model" / "data")


def gym(place: Path) -> None:
    (place / "gym.py").write_text(GYM, "utf-8")


def wandb(place: Path) -> None:
    (place / "wandb.py").write_text(WANDB, "utf-8")


def diffusion_1d(place: Path) -> None:
    (place / "train_1d.py").write_text(DIFFUSION_1D, "utf-8")


def language_model(place: Path) -> None:
    (place / "train_clm.py").write_text(LANGUAGE_MODEL, "utf-8")
