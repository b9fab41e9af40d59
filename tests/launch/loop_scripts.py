"""Scripts that compare the loops of the engine inside one process, for the tests and for `prove loops`."""

from __future__ import annotations

COMMON = """
import math, re, shutil, threading
from pathlib import Path
import mindspore as ms, numpy as np
from mindspore import nn
from ascend_engine import data, failures, modes, recipe, stopping
from tests.launch.engine_config import config_of
from ascend_engine.train import Training

ms.set_device("CPU")
BASE = "--recipe own --batch 4 --optimizer adamw --lr 0.01 --steps 4 --device cpu "
MODES = ("pynative", "jit", "graph")
LOOPS = ("functional", "cell", "model")

class Run:
    def __init__(self, line, plan=None):
        self.config = config_of(BASE + line)
        modes.enter(self.config)
        modes.check(self.config, "cpu")
        ms.set_seed(1)
        self.training = Training(self.config, "cpu", plan() if plan else recipe.build(self.config))
        self.outcomes, self.scales, self.weights = [], [], []
        self.told = self.training.record.step
        self.training.record.step = self.keep

    def keep(self, number, outcome, seconds, lr, scale):
        self.told(number, outcome, seconds, lr, scale)
        self.outcomes.append(outcome)
        self.scales.append(scale)
        self.weights.append(self.flat())

    def flat(self):
        parameters = self.training.plan.network.trainable_params()
        return np.concatenate([one.asnumpy().ravel() for one in parameters])

    def __call__(self):
        self.code = self.training.run(stopping.Stop())
        return self

def assert_same(one, other, exact=True):
    assert len(one.outcomes) == len(other.outcomes)
    assert np.array_equal(one.weights, other.weights)
    for a, b in zip(one.outcomes, other.outcomes):
        # Operator by operator, MindSpore tries numbers of threads for its sums: their last bits vary.
        within = 0 if exact else 1e-6
        assert math.isclose(a.loss, b.loss, rel_tol=within) and math.isclose(a.norm, b.norm, rel_tol=within), (a, b)

class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.widen, self.gelu, self.narrow = nn.Dense(8, 32), nn.GELU(), nn.Dense(32, 8)
        self.calls = 0

    def construct(self, x):
        return x + self.narrow(self.gelu(self.widen(x)))

class Counted(Block):
    \"\"\"Operator by operator, a call is a call of this.\"\"\"
    def construct(self, x):
        self.calls += 1
        return x + self.narrow(self.gelu(self.widen(x)))

def plan_of(block, dataset=None):
    def plan():
        blocks = nn.SequentialCell(block(), block())
        parts = {"network": blocks, "loss": nn.MSELoss(), "recompute": tuple(blocks)}
        return recipe.Recipe(train_data=dataset or samples(), **parts)
    return plan

def samples():
    values = np.random.default_rng(0).normal(size=(96, 8)).astype(np.float32)
    return data.Arrays(values, np.sin(values))
"""
_EVERY_LOOP = """
COUNTS = {counts}

for mode in MODES:
    exact = mode != "pynative"
    for count in COUNTS[mode]:
        words = f"--recipe linear --mode {mode} --accumulate {count} --clip 1 --weight-decay 0.1 --warmup 3"
        functional = Run(words)()
        for loop in LOOPS[1:] if count == 4 else ("cell",):
            assert_same(Run(f"{words} --loop {loop} --data-workers 3 --prefetch 5")(), functional, exact)
    precision = "--amp O2 --loss-scale dynamic --scale 16777216 --accumulate 2"
    functional = Run(f"--mode {mode} {precision}", plan_of(Block))()
    assert functional.scales[-1] < 2**24
    for loop in ("cell",) if mode == "pynative" else ("model",):
        other = Run(f"--mode {mode} {precision} --loop {loop}", plan_of(Block))()
        assert other.scales == functional.scales
        assert np.array_equal(other.weights, functional.weights)
assert "data" not in [thread.name for thread in threading.enumerate()]
"""
_PLANTED = """
import ascend_studio
found = []
ascend_studio.finding = lambda rule, severity, *place, **args: found.append((rule, args))

def planted(value, step, count):
    \"\"\"3000 is a float16, and so is what the network makes of it, but not 1024 times the gradient.\"\"\"
    dataset = samples()
    number = data.sample_numbers(96, 96, 1, (step - 1) * 4 * count, step * 4 * count)[-1]
    dataset.inputs[number] = value
    return plan_of(Block, dataset)

PLANTED = {planted}

for mode in MODES:
    for loop, count in PLANTED[mode]:
        line = f"--mode {mode} --loop {loop} --accumulate {count}"
        run = Run(f"{line} --amp O2 --loss-scale dynamic", planted(3000, 3, count))()
        assert [one.finite for one in run.outcomes] == [True, True, False, True], (line, run.outcomes)
        assert run.scales == [1024, 1024, 1024, 512], (line, run.scales)
        assert np.array_equal(run.weights[1], run.weights[2]), line
        assert not np.array_equal(run.weights[2], run.weights[3]), line
        found.clear()
        run = Run(f"{line} --on-nan stop", planted(np.nan, 3, count))()
        assert (run.code, len(run.outcomes), run.training.number) == (1, 3, 2), line
        assert [(rule, args["step"], args["what"]) for rule, args in found] == [("launch.nan_stopped", 3, "loss")], line
        assert np.array_equal(run.weights[1], run.weights[2]), line
"""


def every_loop(*, is_whole: bool) -> str:
    """Return a script that fails where a loop has other numbers than the functional one. `is_whole`: with each number
    of micro batches, not only with one or two a mode."""
    some = {"pynative": (4,), "jit": (2, 4), "graph": (4,)}
    every = {"pynative": (1, 4), "jit": (2, 4, 8), "graph": (1, 4)}
    return COMMON + _EVERY_LOOP.replace("{counts}", repr(every if is_whole else some))


def planted_numbers(*, is_whole: bool) -> str:
    """Return a script that fails where a planted number is not found at its step. `is_whole`: in each loop of each
    mode, not only in one loop a mode."""
    some = {"pynative": (("cell", 2),), "jit": (("model", 2),), "graph": (("cell", 2),)}
    every = dict.fromkeys(some, (("cell", 2), ("model", 2)))
    return COMMON + _PLANTED.replace("{planted}", repr(every if is_whole else some))
