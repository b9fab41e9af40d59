"""Fit y = 2 x + 3, from samples with noise."""

import numpy as np
from mindspore import nn

from ascend_engine.data import Arrays
from ascend_engine.recipe import Recipe

SAMPLES = 1024
NOISE = 0.1


def build(config):
    line = nn.Dense(1, 1)

    def watch():
        return {"weight": float(line.weight.asnumpy()[0, 0]), "bias": float(line.bias.asnumpy()[0])}

    return Recipe(network=line, loss=nn.MSELoss(), train_data=samples(), watch=watch)


def samples():
    """The same samples whatever the seed: inputs and labels, float32 (1024, 1)."""
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, (SAMPLES, 1))
    y = 2 * x + 3 + random.normal(0, NOISE, (SAMPLES, 1))
    return Arrays(x.astype(np.float32), y.astype(np.float32))
