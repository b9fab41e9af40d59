"""Fit y = 2 x + 3, from samples with noise."""

from mindspore import nn

from ascend_engine.recipe import Recipe
from ascend_engine.recipe_data.linear import samples


def build(config):
    line = nn.Dense(1, 1)

    def watch():
        return {"weight": float(line.weight.asnumpy()[0, 0]), "bias": float(line.bias.asnumpy()[0])}

    return Recipe(network=line, loss=nn.MSELoss(), train_data=samples(), watch=watch)
