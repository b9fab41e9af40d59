"""The training loop."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mindspore as ms

from ascend_engine import (
    debugging,
    device,
    evaluate,
    model_train,
    modes,
    nonfinite_values,
    prefetch,
    recipe,
    schedule,
)
from ascend_engine.batches.sequence import config_for
from ascend_engine.checkpoints import resume, resume_checks, weights
from ascend_engine.checkpoints.keeper import Keeper
from ascend_engine.optimizers import make_decay, make_optimizer, set_learning_rate
from ascend_engine.own_step import OwnStep
from ascend_engine.parallel import distribute, group
from ascend_engine.parallel.distribute import SplitStep
from ascend_engine.parallel.process_group import ALONE, exit_code
from ascend_engine.precision import make_scaler, mixed
from ascend_engine.recompute import recompute
from ascend_engine.record import PHASE_SECONDS, Record
from ascend_engine.step import Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mindspore import Parameter, nn

    from ascend_engine.checkpoints.checkpoint import Saved
    from ascend_engine.nonfinite_values import Outcome
    from ascend_engine.options import Config
    from ascend_engine.parallel.process_group import ProcessGroup
    from ascend_engine.recipe import Recipe
    from ascend_engine.stopping import Stop


def train(config: Config, stop: Stop) -> int:
    """Train in the current folder, a run's; returns the exit code."""
    modes.enter(config)
    used = device.select(config.device)
    modes.check(config, used)
    distribute.check(config, used)
    process_group = group.begin(config)
    debugging.begin(config, process_group.rank, stop)
    ms.set_seed(config.seed)
    plan = distribute.trained_only(recipe.build(config), process_group, config)
    if config.initial_weights == "portable":
        weights.draw_portable(plan.network, config.seed)
    if config.weights:
        weights.start_from(plan.network, config.weights, process_group.is_first)
    return Training(config_for(plan.train_data, config), used, plan, process_group).run(stop)


def named(kind: str, parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    return {f"{kind}.{parameter.name}": parameter for parameter in parameters}


class Training:
    """A recipe made ready to run: its network at the AMP level, its optimizer, its step."""

    def __init__(self, config: Config, used: str, plan: Recipe, process_group: ProcessGroup = ALONE):
        self.config = config
        self.plan = plan
        self.process_group = process_group
        self.begin = 0  # optimizer steps that are done before run()
        self.number = 0  # the last step that is done
        self.moment = 0.0  # when the step at hand began
        self.measured: dict[str, float] = {}  # by the evaluation after the latest step, if there was one
        self.keeper = Keeper(config, self.saved)
        self.stream = distribute.batches_of(plan.train_data, config, process_group)
        self.reader = prefetch.reader(self.stream, config)
        self.network: nn.Cell = mixed(plan.network, config)
        recompute(plan, config)
        self.network.set_train(True)
        self.scaler = make_scaler(config)
        self.scale: float | None = None  # at the beginning of the step at hand
        weight_count = sum(parameter.size for parameter in plan.network.trainable_params())
        self.record = Record(config, used, plan.watch, weight_count, f"MindSpore {ms.__version__}", process_group)
        self.eval_every = schedule.steps_between_evaluations(plan.eval_data, config.samples_per_step)
        self.record.evaluate_every = self.eval_every
        self.optimizer = self.optimizer_of_options() if plan.optimizer is None else plan.optimizer
        self.lr = 0.0  # the one that the optimizer was given last
        distribute.fuse(config, process_group, self.optimizer.parameters)
        self.step = self.make_step()

    def make_step(self) -> Step | SplitStep | OwnStep:
        if self.plan.train_step is not None:
            others = (*self.plan.network.get_parameters(), *self.optimizer.get_parameters())
            as_cell = self.config.loop != "functional"
            return OwnStep(self.plan.train_step, others, modes.preparation(self.config), as_cell)
        return self.whole_step() if self.config.parallel in ("none", "data") else self.split_step()

    def whole_step(self) -> Step:
        config = self.config
        return Step(
            self.network,
            self.plan.loss,
            self.optimizer,
            accumulate=config.accumulate,
            scaler=self.scaler,
            clip=config.clip,
            decay=make_decay(config.optimizer, self.optimizer, config.weight_decay),
            guarded=config.on_nan != "go_on",
            prepare=modes.preparation(config),
            as_cell=config.loop != "functional",
            process_group=self.process_group,
        )

    def split_step(self) -> SplitStep:
        decay = make_decay(self.config.optimizer, self.optimizer, self.config.weight_decay)
        return SplitStep(self.network, self.plan.loss, self.optimizer, self.config, decay)

    def optimizer_of_options(self) -> Any:
        parameters = self.plan.network.trainable_params()
        return make_optimizer(self.config.optimizer, parameters, self.config.lr)

    def state(self) -> dict[str, Parameter]:
        """Everything that decides how the training goes on, by names that stay."""
        parameters = named("network", self.plan.network.get_parameters())
        known_ids = {id(parameter) for parameter in parameters.values()}
        optimizer = self.optimizer.get_parameters()
        parameters.update(named("optimizer", (p for p in optimizer if id(p) not in known_ids)))
        parameters.update(named("accumulated", self.step.accumulated))
        if self.scaler is not None:
            parameters["scaler.value"] = self.scaler.scale_value
        if self.config.loss_scale == "dynamic":
            parameters["scaler.counter"] = self.scaler.counter
        return parameters

    @property
    def writes_checkpoints(self) -> bool:
        """One rank does, for all; none where each has only a part of the weights."""
        return self.process_group.is_first and not self.process_group.is_split

    @functools.cached_property
    def decides(self) -> dict[str, Any]:
        """It reads samples, which must not happen again at each checkpoint."""
        versions = {"mindspore": ms.__version__}
        return resume_checks.decides(self.config, self.record.device, self.plan, versions)

    def saved(self, number: int) -> Saved:
        return resume.take(self, number)

    def before_run(self) -> None:
        if self.config.resume:
            self.begin = resume.resume(self, self.config.resume)
        group.check_begin(self.process_group, self.state().values())
        group.note_bytes(self.process_group, self.optimizer.parameters, self.optimizer.get_parameters())

    def after_step(self, number: int, loss: float) -> None:
        if self.writes_checkpoints and number < self.config.steps:  # the last one is still evaluated
            self.keeper.after_step(number, self.process_group.mean_loss(loss), self.measured)

    def after_run(self, number: int) -> None:
        """The steps are over, done or stopped; `number` is the last one."""
        if self.writes_checkpoints and number > self.begin:
            loss = self.process_group.mean_loss(self.record.latest["loss"])
            self.keeper.finish(number, loss, self.measured)

    def run(self, stop: Stop) -> int:
        self.before_run()
        self.number = self.begin
        self.record.start(len(self.plan.train_data))
        try:
            goes_on = model_train.fit(self, stop) if self.config.loop == "model" else self.steps(stop)
        finally:
            self.reader.close()
            self.record.deferred.flush()
        if not goes_on:
            return 1
        if self.number < self.config.steps:
            self.after_run(self.number)
            self.record.stopped(self.number)
            return exit_code(self.process_group, stop)
        return self.finish()

    def steps(self, stop: Stop) -> bool:
        """False where the policy for numbers that are none ends the training."""
        while self.number < self.config.steps and not self.process_group.must_stop(stop):
            self.begin_step()
            if not self.end_step(self.step(self.batches(self.number + 1))):
                return False
        return True

    def begin_step(self) -> None:
        """Prepare the step after `number`."""
        self.scale = None if self.scaler is None else float(self.scaler.scale_value.asnumpy())
        self.measured = {}
        self.moment = time.perf_counter()
        self.set_learning_rate(self.number + 1)

    def end_step(self, outcome: Outcome) -> bool:
        """Whether the training may go on. A step that ends it is not kept."""
        number = self.number + 1
        self.record.step(number, outcome, time.perf_counter() - self.moment, self.lr, self.scale)
        dynamic = self.config.loss_scale == "dynamic"
        what = nonfinite_values.what_of(outcome, self.scale, dynamic, self.process_group.others_lost())
        if what and not self.record.nonfinite(number, what, outcome):
            print(f"ends at step {number}: {what} is NaN or infinite", flush=True)
            return False
        self.number = number
        if number % self.eval_every == 0 and number < self.config.steps:
            self.evaluate(number)
        self.after_step(number, outcome.loss)
        return True

    def set_learning_rate(self, number: int) -> None:
        lr = schedule.rate(self.config, number)
        if lr != self.lr:
            set_learning_rate(self.optimizer, lr)
        self.lr = lr

    def batches(self, number: int):
        for micro in range((number - 1) * self.config.accumulate, number * self.config.accumulate):
            self.plan.before_batch(self.stream.first_sample(micro))
            yield self.reader[micro]

    def evaluate(self, number: int) -> None:
        if self.plan.eval_data is None:
            return
        last = number == self.config.steps
        if last or self.record.evaluate_seconds > PHASE_SECONDS:
            self.record.phase("evaluate", number)
        begin = time.perf_counter()
        self.measured = evaluate.evaluate(self.plan, self.network, self.process_group)
        self.record.evaluated(number, self.measured, time.perf_counter() - begin)

    def finish(self) -> int:
        self.record.trained()
        group.check_end(self.process_group, self.optimizer.parameters)
        self.evaluate(self.config.steps)
        self.record.phase("finish", self.config.steps)
        self.after_run(self.config.steps)
        if self.process_group.is_first:
            self.plan.finish(Path("artifacts"))
        self.record.summary()
        return 0
