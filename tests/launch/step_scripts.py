"""Scripts of the training step by the engine's own modules; `tests.launch.engine_process.check` runs them."""

from __future__ import annotations

COMMON = """
import mindspore as ms, numpy as np
from mindspore import amp, nn
from ascend_engine import data, modes, recipe
from tests.launch.engine_config import OPTIMIZERS, config_of as engine_config
from ascend_engine.optimizers import make_decay, make_optimizer, set_learning_rate
from ascend_engine.step import Step, make_gradient

BASE = "--recipe linear --batch 8 --optimizer sgd --lr 0.1 --steps 5 --device cpu "

def config_of(line):
    config = engine_config(BASE + line)
    modes.enter(config)
    return config

def flat(parameters):
    return np.concatenate([one.asnumpy().ravel() for one in parameters]).astype(np.float64)

ms.set_device("CPU")
MODES = ("pynative", "jit", "graph")
"""

# Compared on one core: MindSpore's CPU kernels share a sum out by how busy their threads are, and on a loaded machine
# the two would differ by that.
ACCUMULATION = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
RATES = {"sgd": 0.05, "momentum": 0.05, "adam": 0.001, "adamw": 0.001}

class Case:
    def __init__(self, name, optimizer, count):
        ms.set_seed(1)
        self.plan = recipe.build(config_of(f"--mode jit --recipe {name}"))
        self.count = count
        self.weights = self.plan.network.trainable_params()
        self.optimizer = make_optimizer(optimizer, self.weights, RATES[optimizer])
        self.step = Step(self.plan.network, self.plan.loss, self.optimizer, accumulate=count, prepare=ms.jit)

    def batches(self, number):
        size = len(self.plan.train_data)
        stream = data.Stream(self.plan.train_data, 1, 32 // self.count, size, 0, 1)
        return [stream[number * self.count + micro] for micro in range(self.count)]

    def moved(self):
        \"\"\"What 5 steps change in the weights; `mean` is the gradient that the first one took.\"\"\"
        before = flat(self.weights)
        for number in range(5):
            for inputs, labels in self.batches(number):
                results = self.step.micro_step(ms.Tensor(inputs), ms.Tensor(labels))
            if self.count > 1:
                self.mean = flat(self.step.accumulated[:-1]) / self.count if number == 0 else self.mean
                results = self.step.update()
            assert results[1].asnumpy()
        return flat(self.weights) - before

    def gradient(self):
        function = ms.jit(make_gradient(self.plan.network, self.plan.loss, self.optimizer.parameters, None))
        ((inputs, labels),) = self.batches(0)
        return flat(function(ms.Tensor(inputs), ms.Tensor(labels))[1])

def length(vector):
    return np.linalg.norm(vector)

for name, tried, counts in TRIED:
    gradient = Case(name, "sgd", 1).gradient()
    whole = {optimizer: Case(name, optimizer, 1).moved() for optimizer in tried}
    for count in counts:
        for optimizer, expected in whole.items():
            case = Case(name, optimizer, count)
            off = case.moved() - expected
            assert length(case.mean - gradient) < 1e-6 * length(gradient), (name, count)
            if optimizer in ("sgd", "momentum"):
                assert np.abs(off).max() < 1e-6, (name, count, optimizer)
            else:
                assert length(off) < 1e-4 * length(expected), (name, count, optimizer)
"""


def accumulation(*tried: tuple[str, tuple[str, ...], tuple[int, ...]]) -> str:
    """Return a script that holds accumulated micro batches against the large batch, for each (recipe, optimizers,
    numbers of micro batches)."""
    return f"{COMMON}\nTRIED = {tried!r}\n{ACCUMULATION}"
