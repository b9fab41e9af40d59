"""Own recipes whose samples can only be gone through: DataLoaders, iterable datasets, functions of iterators."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import FRESH, Ran, train
from tests.launch.pytorch.earlier_state import earlier_state

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")

RECIPE = """
import random
import numpy as np
import torch
from ascend_engine.pytorch.recipe import Recipe
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Noisy(Dataset):
    def __len__(self):
        return 22

    def __getitem__(self, number):
        x = torch.tensor([number / 22.0]) + 0.01 * torch.rand(1) + 0.01 * random.random() + 0.01 * np.random.rand()
        return x.float(), 2 * x.float()


class Endless(IterableDataset):
    def __iter__(self):
        for number in range(22):
            x = torch.rand(1)
            yield x, 2 * x


def batches():
    for number in range(5):
        x = torch.rand(4, 1)
        yield x, 2 * x.numpy()


def build(config):
    network = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    return Recipe(network=network, loss=nn.MSELoss(), train_data=SOURCE)
"""
SOURCES = {
    "loader": "DataLoader(Noisy(), batch_size=4, shuffle=True)",
    "workers": "DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)",
    "iterable": "Endless()",
    "function": "batches",
}


def run(folder: Path, source: str, options: str = "") -> Ran:
    recipe_file = folder.parent / "recipe.py"
    recipe_file.write_text(RECIPE.replace("SOURCE", source), "utf-8")
    line = f"--framework torch --recipe own --recipe-file {recipe_file} --device cpu --seed 1 --batch 4 --optimizer sgd"
    return train(folder, f"{line} --lr 0.01 {options}", FRESH)


@pytest.mark.parametrize("kind", SOURCES)
def test_that_a_resume_in_the_middle_of_an_epoch_goes_on_bit_for_bit(kind: str, tmp_path: Path) -> None:
    options = "--steps 7 --accumulate 2 --checkpoint-every 4 --keep 9"
    whole = run(tmp_path / "whole", SOURCES[kind], options)
    assert whole.code == 0, whole.output
    earlier = earlier_state(tmp_path / "whole", tmp_path / "earlier", 4)
    rest = run(tmp_path / "rest", SOURCES[kind], f"{options} --resume {earlier}")
    assert rest.note("launch.resumed")["exact"]
    assert rest.metric("loss") == whole.metric("loss")[4:]


def test_that_batches_of_another_size_are_told_and_counted(tmp_path: Path) -> None:
    ran = run(tmp_path / "run", "DataLoader(Noisy(), batch_size=11)", "--steps 4")
    assert ran.note("launch.torch_own_batch") == {"batch": 11, "chosen": 4}
    speeds = zip(ran.metric("throughput"), ran.metric("step_time"), strict=True)
    assert all(throughput * seconds == pytest.approx(11) for throughput, seconds in speeds)


@pytest.mark.parametrize(
    ("source", "options", "rule"),
    [
        ("batches()", "", "launch.torch_data_once"), ("lambda: iter([])", "", "launch.torch_batch"),
        ("lambda: iter([torch.ones(4, 1)])", "", "launch.torch_batch"),
        ("batches", "--data-workers 2", "launch.torch_data_options"),
        ("batches", "--drop-remainder", "launch.torch_data_options"),
    ],
)  # fmt: skip
def test_that_what_cannot_be_trained_with_is_refused_with_a_sentence(
    source: str, options: str, rule: str, tmp_path: Path
) -> None:
    ran = run(tmp_path / "run", source, f"--steps 2 {options}")
    assert [finding["rule"] for finding in ran.findings()] == [rule]
