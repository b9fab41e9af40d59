"""Fit y = 2 x + 3, from samples with noise."""

from __future__ import annotations

from torch import nn

from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.pytorch.shards import whole
from ascend_engine.recipe_data.linear import samples


def build(config):
    line = nn.Linear(1, 1)

    def watch():
        return {"weight": whole(line.weight).item(), "bias": whole(line.bias).item()}

    return Recipe(network=line, loss=nn.MSELoss(), train_data=samples(), watch=watch)
