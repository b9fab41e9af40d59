"""The training loop of PyTorch."""

from __future__ import annotations

import functools
import platform
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ascend_studio
import numpy as np
import torch
from ascend_studio import hooks

from ascend_engine import debugger, nonfinite_values, prefetch, schedule
from ascend_engine.batches.sequence import Batches, config_for
from ascend_engine.checkpoints import resume_checks
from ascend_engine.checkpoints.checkpoint import Saved
from ascend_engine.data import Stream, stream
from ascend_engine.parallel.process_group import exit_code
from ascend_engine.pytorch import device as devices
from ascend_engine.pytorch import evaluate, group, precision, recipe, state, weights
from ascend_engine.pytorch.group import ALONE
from ascend_engine.pytorch.network_division import divide, note_bytes
from ascend_engine.pytorch.optimizers import make_optimizer, set_learning_rate
from ascend_engine.pytorch.rank_keeper import RankKeeper
from ascend_engine.pytorch.recompute import recompute
from ascend_engine.pytorch.row_files import rows_of
from ascend_engine.pytorch.step import Step
from ascend_engine.record import PHASE_SECONDS, Record

if TYPE_CHECKING:
    from ascend_engine.nonfinite_values import Outcome
    from ascend_engine.options import Config
    from ascend_engine.pytorch.group import TorchGroup
    from ascend_engine.pytorch.recipe import Recipe
    from ascend_engine.stopping import Stop


def train(config: Config, stop: Stop) -> int:
    """Train in the current folder, a run's; returns the exit code."""
    used, device = devices.select(config.device, group.local_rank())
    process_group = group.begin(config, used, device)
    if used == devices.VIRTUAL_NPU and process_group.is_first:
        ascend_studio.note("launch.on_virtual_npu")
    debugger.wait(config, process_group.rank, stop)
    torch.manual_seed(config.seed)
    plan = recipe.build(config)
    if config.initial_weights == "portable":
        weights.draw_portable(plan.network, config.seed)
    if config.weights:
        weights.start_from(plan.network, config.weights, process_group.is_first)
    code = Training(config_for(plan.train_data, config), used, device, plan, process_group).run(stop)
    group.end(process_group)
    return code


def micro_batches(plan: Recipe, config: Config, process_group: TorchGroup) -> Stream | Batches:
    """What this process reads."""
    if isinstance(plan.train_data, Batches):
        return plan.train_data.shared(process_group.reader, process_group.readers)
    return stream(plan.train_data, config, process_group.reader, process_group.readers)


class Training:
    """A recipe made ready to run: its network on the device, its optimizer, its step."""

    def __init__(
        self, config: Config, used: str, device: torch.device, plan: Recipe, process_group: TorchGroup = ALONE
    ):
        self.config = config
        self.device = device
        self.plan = plan
        self.process_group = process_group
        self.begin = 0  # optimizer steps that are done before run()
        self.number = 0  # the last step that is done
        self.moment = 0.0  # when the step at hand began
        self.measured: dict[str, float] = {}  # by the evaluation after the latest step, if there was one
        self.keeper = RankKeeper(config, process_group, self.saved)
        self.stream = micro_batches(plan, config, process_group)
        self.reader = prefetch.reader(self.stream, config)
        plan.network.to(device).train()
        recompute(plan, config)
        weight_count = sum(parameter.numel() for parameter in recipe.trained(plan.network))
        group.check_begin(process_group, plan.network)
        network = divide(plan, config, device, process_group)
        self.parameters = recipe.trained(plan.network)
        self.loss_scale = precision.make_scale(config)
        self.scale: float | None = None  # at the beginning of the step at hand
        self.record = Record(config, used, plan.watch, weight_count, f"PyTorch {torch.__version__}", process_group)
        self.eval_every = schedule.steps_between_evaluations(plan.eval_data, config.samples_per_step)
        self.record.evaluate_every = self.eval_every
        self.optimizer = plan.optimizer or make_optimizer(
            config.optimizer, self.parameters, config.lr, config.weight_decay, config.fused
        )
        self.lr = 0.0  # the one that the optimizer was given last
        self.step = Step(
            network, torch.compile(network) if config.compiled else network, plan.loss, self.optimizer, config, device,
            parameters=self.parameters, scale=self.loss_scale, process_group=process_group,
        )  # fmt: skip
        hooks.training_counts_steps = True

    @functools.cached_property
    def decides(self) -> dict[str, Any]:
        """It reads samples, which must not happen again at each checkpoint."""
        versions = {"torch": torch.__version__}
        return resume_checks.decides(self.config, self.record.device, self.plan, versions)

    def saved(self, number: int) -> Saved:
        """A copy of all state after step `number`, or of what this rank holds of it; waits for the device, and for all
        ranks where one writes what they hold."""
        self.record.deferred.flush()
        row_files = self.process_group.row_files
        take = state.array_of if row_files is None else rows_of
        arrays = state.arrays_of(self.plan, self.optimizer, self.loss_scale, take)
        begin = len(state.NETWORK)
        return Saved(
            step=number,
            weights={name[begin:]: array for name, array in arrays.items() if name.startswith(state.NETWORK)},
            rest={name: array for name, array in arrays.items() if not name.startswith(state.NETWORK)},
            facts={
                "decides": self.decides,
                "overflows": self.record.overflows,
                **resume_checks.place_facts(self.stream, number * self.config.accumulate),
                "generator": torch.get_rng_state().numpy().tobytes().hex(),
                "versions": {
                    "torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version(),
                },
            },
            ranks=row_files,
        )  # fmt: skip

    def resume(self, run: Path) -> int:
        """Give the training the newest state that a run has left; returns the steps that are done. Raises Failure."""
        saved = resume_checks.newest(run)
        resume_checks.check_recipe(self.config, saved)
        names = resume_checks.differing(saved.facts["decides"], self.decides)
        arrays = {**{state.NETWORK + name: array for name, array in saved.weights.items()}, **saved.rest}
        names += state.restore(self.plan, self.optimizer, self.loss_scale, arrays)
        if self.config.recipe == "own" and self.device.type != devices.CPU:
            names.append("generator")  # its state on the card is not kept, and a dropout of the recipe may draw from it
        generator = np.frombuffer(bytes.fromhex(saved.facts["generator"]), np.uint8)
        torch.set_rng_state(torch.from_numpy(generator.copy()))
        self.record.overflows = saved.facts["overflows"]
        names += resume_checks.find_place(self.stream, saved, self.config)
        resume_checks.report_resume(run, saved.step, names)
        return saved.step

    def run(self, stop: Stop) -> int:
        if self.config.resume:
            self.begin = self.resume(self.config.resume)
        self.number = self.begin
        note_bytes(self.process_group, self.plan.network)
        self.record.start(len(self.plan.train_data))
        try:
            goes_on = self.steps(stop)
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
        self.scale = None if self.loss_scale is None else self.loss_scale.scale
        self.measured = {}
        self.moment = time.perf_counter()
        lr = schedule.rate(self.config, self.number + 1)
        if lr != self.lr:
            set_learning_rate(self.optimizer, lr)
        self.lr = lr

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
        if number < self.config.steps:  # the last one is still evaluated
            self.keeper.after_step(number, outcome.loss, self.measured)
        return True

    def batches(self, number: int):
        for micro in range((number - 1) * self.config.accumulate, number * self.config.accumulate):
            self.plan.before_batch(self.stream.first_sample(micro))
            yield self.reader[micro]

    def evaluate(self, number: int) -> None:
        if self.plan.eval_data is None:
            return
        if number == self.config.steps or self.record.evaluate_seconds > PHASE_SECONDS:
            self.record.phase("evaluate", number)
        begin = time.perf_counter()
        self.measured = evaluate.evaluate(self.plan, self.config, self.device, self.process_group)
        self.record.evaluated(number, self.measured, time.perf_counter() - begin)

    def after_run(self, number: int) -> None:
        """The steps are over, done or stopped; `number` is the last one."""
        if number > self.begin:
            self.keeper.finish(number, self.record.latest["loss"], self.measured)

    def finish(self) -> int:
        self.record.trained()
        group.check_end(self.process_group, self.parameters)
        self.evaluate(self.config.steps)
        self.record.phase("finish", self.config.steps)
        self.after_run(self.config.steps)
        self.leave_files()
        self.record.summary()
        return 0

    def leave_files(self) -> None:
        """Those of the recipe. Where ranks hold parts of the weights, each has to ask the network what rank 0 asks."""
        if self.process_group.is_first:
            self.plan.finish(Path("artifacts"))
        elif self.process_group.holds_parts:
            with tempfile.TemporaryDirectory() as folder:
                self.plan.finish(Path(folder))
