"""Two dense layers, which learn what another such network, drawn once, makes of random inputs."""

from __future__ import annotations

import torch
from torch import nn

from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.recipe_data.dense import HIDDEN, INPUTS, OUTPUTS, samples


class Layer(nn.Module):
    """(batch, inputs) -> (batch, outputs): a product with a weight (inputs, outputs), without a bias."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        # As nn.Linear begins, whose weight lies the other way.
        nn.init.kaiming_uniform_(self.weight.T, a=5**0.5)

    def forward(self, inputs):
        return inputs @ self.weight


class Network(nn.Module):
    """(batch, 64) -> (batch, 16)."""

    def __init__(self):
        super().__init__()
        self.first = Layer(INPUTS, HIDDEN)
        self.activation = nn.ReLU()
        self.second = Layer(HIDDEN, OUTPUTS)

    def forward(self, inputs):
        return self.second(self.activation(self.first(inputs)))


def build(config):
    return Recipe(network=Network(), loss=nn.MSELoss(), train_data=samples())
