"""The training loop."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mindspore as ms

from ascend_engine import data, device, evaluate, modes, nonfinite, recipe, resume, schedule
from ascend_engine.keep import Keeper
from ascend_engine.optimizers import make_decay, make_optimizer, set_learning_rate
from ascend_engine.precision import make_scaler, mixed
from ascend_engine.record import PHASE_SECONDS, Record
from ascend_engine.step import Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mindspore import Parameter, nn

    from ascend_engine.checkpoint import Saved
    from ascend_engine.options import Config
    from ascend_engine.recipe import Recipe
    from ascend_engine.stopping import Stop


def train(config: Config, stop: Stop) -> int:
    """Train in the current folder, a run's; returns the exit code."""
    modes.enter(config)
    used = device.select(config.device)
    modes.check(config, used)
    ms.set_seed(config.seed)
    plan = recipe.build(config)
    return Training(config, used, plan).run(stop)


def named(kind: str, parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    return {f"{kind}.{parameter.name}": parameter for parameter in parameters}


class Training:
    """A recipe made ready to run: its network at the AMP level, its optimizer, its step."""

    def __init__(self, config: Config, used: str, plan: Recipe):
        self.config = config
        self.plan = plan
        self.begin = 0  # optimizer steps that are done before run()
        self.measured: dict[str, float] = {}  # by the evaluation after the latest step, if there was one
        self.keeper = Keeper(config, self.saved)
        self.network: nn.Cell = mixed(plan.network, config)
        self.network.set_train(True)
        self.scaler = make_scaler(config)
        self.record = Record(config, used, plan)
        self.eval_every = evaluate.steps_between(plan, config.samples_per_step)
        self.optimizer = self.optimizer_of_options() if plan.optimizer is None else plan.optimizer
        self.lr = 0.0  # the one that the optimizer was given last
        self.step = Step(
            self.network,
            plan.loss,
            self.optimizer,
            accumulate=config.accumulate,
            scaler=self.scaler,
            clip=config.clip,
            decay=make_decay(config.optimizer, self.optimizer, config.weight_decay),
            guarded=config.on_nan != "go_on",
            prepare=modes.preparation(config),
        )

    def optimizer_of_options(self) -> Any:
        parameters = self.plan.network.trainable_params()
        return make_optimizer(self.config.optimizer, parameters, self.config.lr)

    def state(self) -> dict[str, Parameter]:
        """Everything that decides how the training goes on, by names that stay."""
        found = named("network", self.plan.network.get_parameters())
        known = {id(parameter) for parameter in found.values()}
        optimizer = self.optimizer.get_parameters()
        found.update(named("optimizer", (p for p in optimizer if id(p) not in known)))
        found.update(named("accumulated", self.step.accumulated))
        if self.scaler is not None:
            found["scaler.value"] = self.scaler.scale_value
        if self.config.loss_scale == "dynamic":
            found["scaler.counter"] = self.scaler.counter
        return found

    def saved(self, number: int) -> Saved:
        return resume.take(self, number)

    def before_run(self) -> None:
        if self.config.resume:
            self.begin = resume.resume(self, self.config.resume)

    def after_step(self, number: int) -> None:
        if number < self.config.steps:  # the last one is still evaluated
            self.keeper.after_step(number, self.record.latest["loss"], self.measured)

    def after_run(self, number: int) -> None:
        """The steps are over, done or stopped; `number` is the last one."""
        if number > self.begin:
            self.keeper.finish(number, self.record.latest["loss"], self.measured)

    def run(self, stop: Stop) -> int:
        self.before_run()
        self.record.start(len(self.plan.train_data))
        for number in range(self.begin + 1, self.config.steps + 1):
            if stop:
                self.after_run(number - 1)
                self.record.stopped(number - 1)
                return stop.exit_code
            if not self.run_step(number):
                return 1
            if number % self.eval_every == 0 and number < self.config.steps:
                self.evaluate(number)
            self.after_step(number)
        return self.finish()

    def run_step(self, number: int) -> bool:
        """Whether the training may go on."""
        scale = None if self.scaler is None else float(self.scaler.scale_value.asnumpy())
        self.measured = {}
        begin = time.perf_counter()
        self.set_learning_rate(number)
        outcome = self.step(self.batches(number))
        self.record.step(number, outcome, time.perf_counter() - begin, self.lr, scale)
        if what := nonfinite.what_of(outcome, scale, self.config.loss_scale == "dynamic"):
            return self.record.nonfinite(number, what, outcome)
        return True

    def set_learning_rate(self, number: int) -> None:
        lr = schedule.rate(self.config, number)
        if lr != self.lr:
            set_learning_rate(self.optimizer, lr)
        self.lr = lr

    def batches(self, number: int):
        config = self.config
        sizes = config.batch, config.accumulate
        batches = data.micro_batches(self.plan.train_data, config.seed, number - 1, *sizes)
        for sample, batch in zip(count((number - 1) * config.samples_per_step, config.batch), batches):
            self.plan.before_batch(sample)
            yield batch

    def evaluate(self, number: int) -> None:
        if self.plan.eval_data is None:
            return
        last = number == self.config.steps
        if last or self.record.evaluate_seconds > PHASE_SECONDS:
            self.record.phase("evaluate", number)
        begin = time.perf_counter()
        self.measured = evaluate.evaluate(self.plan, self.network)
        self.record.evaluated(number, self.measured, time.perf_counter() - begin)

    def finish(self) -> int:
        self.record.trained()
        self.evaluate(self.config.steps)
        self.record.phase("finish", self.config.steps)
        self.after_run(self.config.steps)
        self.plan.finish(Path("artifacts"))
        self.record.summary()
        return 0
