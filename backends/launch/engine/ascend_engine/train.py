"""The training loop."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mindspore as ms
from mindspore import amp

from ascend_engine import data, device, evaluate, recipe
from ascend_engine.optimizers import make_optimizer
from ascend_engine.record import PHASE_SECONDS, Record
from ascend_engine.step import Step

if TYPE_CHECKING:
    from mindspore import nn

    from ascend_engine.options import Config
    from ascend_engine.recipe import Recipe
    from ascend_engine.stopping import Stop

# Up to the first overflow the scale doubles every window: it finds its place from below.
FIRST_SCALE = 2.0**10
SCALE_WINDOW = 100


def train(config: Config, stop: Stop) -> int:
    """Train in the current folder, a run's; returns the exit code."""
    ms.set_context(mode=ms.PYNATIVE_MODE)  # jit compiles the step, not everything around it
    used = device.select(config.device)
    ms.set_seed(config.seed)
    plan = recipe.build(config)
    return Training(config, used, plan).run(stop)


def make_scaler(level: str) -> amp.LossScaler | None:
    if level == "O0":
        return None
    return amp.DynamicLossScaler(FIRST_SCALE, scale_factor=2, scale_window=SCALE_WINDOW)


class Training:
    """A recipe made ready to run: its network at the AMP level, its optimizer, its step."""

    def __init__(self, config: Config, used: str, plan: Recipe):
        self.config = config
        self.plan = plan
        self.network: nn.Cell = amp.auto_mixed_precision(plan.network, config.amp)
        self.network.set_train(True)
        self.scaler = make_scaler(config.amp)
        self.record = Record(config, used, plan)
        self.eval_every = evaluate.steps_between(plan, config.samples_per_step)
        self.step = Step(
            self.network,
            plan.loss,
            self.optimizer_of_options() if plan.optimizer is None else plan.optimizer,
            accumulate=config.accumulate,
            scaler=self.scaler,
            compiled=config.mode == "jit",
        )

    def optimizer_of_options(self) -> Any:
        parameters = self.plan.network.trainable_params()
        return make_optimizer(self.config.optimizer, parameters, self.config.lr)

    def run(self, stop: Stop) -> int:
        self.record.start(len(self.plan.train_data))
        for number in range(1, self.config.steps + 1):
            if stop:
                self.record.stopped(number - 1)
                return stop.exit_code
            self.run_step(number)
            if number % self.eval_every == 0 and number < self.config.steps:
                self.evaluate(number)
        return self.finish()

    def run_step(self, number: int) -> None:
        scale = None if self.scaler is None else float(self.scaler.scale_value.asnumpy())
        begin = time.perf_counter()
        outcome = self.step(self.batches(number))
        self.record.step(number, outcome, time.perf_counter() - begin, scale)

    def batches(self, number: int):
        config = self.config
        sizes = config.batch, config.accumulate
        return data.micro_batches(self.plan.train_data, config.seed, number - 1, *sizes)

    def evaluate(self, number: int) -> None:
        if self.plan.eval_data is None:
            return
        last = number == self.config.steps
        if last or self.record.evaluate_seconds > PHASE_SECONDS:
            self.record.phase("evaluate", number)
        begin = time.perf_counter()
        metrics = evaluate.evaluate(self.plan, self.network)
        self.record.evaluated(number, metrics, time.perf_counter() - begin)

    def finish(self) -> int:
        self.record.trained()
        self.evaluate(self.config.steps)
        self.record.phase("finish", self.config.steps)
        self.plan.finish(Path("artifacts"))
        self.record.summary()
        return 0
