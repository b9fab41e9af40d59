"""What a training tells while it runs: events for the studio, lines for the log."""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING

import ascend_studio
from ascend_studio import hooks

from ascend_engine import resource_usage
from ascend_engine.deferred import DeferredCalls
from ascend_engine.nonfinite_values import is_overflow
from ascend_engine.parallel.process_group import ALONE, mean_of_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ascend_engine.nonfinite_values import Outcome
    from ascend_engine.options import Config
    from ascend_engine.parallel.process_group import ProcessGroup

PROGRESS_SECONDS = 0.2
LINE_SECONDS = 1.0
# A shorter evaluation is not shown as a phase: it would only flicker.
PHASE_SECONDS = 0.5


class Every:
    """True at the first asking, then at most once in `seconds`."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.due = -math.inf

    def now(self) -> bool:
        moment = time.monotonic()
        if moment < self.due:
            return False
        self.due = moment + self.seconds
        return True


class Record:
    """The record of one training. All times are in seconds, steps are counted from 1."""

    def __init__(
        self,
        config: Config,
        device: str,
        watch: Callable[[], Mapping[str, float]],
        weight_count: int,
        framework: str,
        process_group: ProcessGroup = ALONE,
    ):
        """`framework`: its name and version. `watch`: see Recipe. `weight_count`: elements that are trained."""
        self.config = config
        self.framework = framework
        self.process_group = process_group
        self.device = device
        self.watch = watch
        self.weight_count = weight_count
        self.latest: dict[str, float] = {}
        self.step_seconds: list[float] = []
        self.evaluate_seconds = 0.0
        self.evaluate_every = 0  # steps from one evaluation to the next
        self.evaluations = {"count": 0, "first": 0.0, "all": 0.0}
        self.overflows = 0
        self.skipped = 0
        self.has_reported_nan = False
        ascend_studio.report_losses(False)  # `nonfinite` tells them, and what becomes of the training
        self.progress_due = Every(PROGRESS_SECONDS)
        self.line_due = Every(LINE_SECONDS)
        self.begin = time.perf_counter()
        self.seconds = 0.0
        self.deferred = DeferredCalls()

    def start(self, samples: int) -> None:
        facts = self._facts()
        self._note("launch.device", device=self.device, asked=self.config.device)
        print(
            f"recipe {self.config.recipe}  device {self.device}  mode {self.config.mode}"
            f"  amp {self.config.amp}  {self.config.optimizer} lr {self.config.lr:g}"
            f"  {self.config.accumulate} x {self.config.batch} samples per step"
        )
        print(
            f"loss scale {self.config.loss_scale}  clip {self.config.clip or 'none'}"
            f"  schedule {self.config.schedule}  warm-up {self.config.warmup}"
            f"  weight decay {self.config.weight_decay:g}"
        )
        print(f"{facts['parameters']} parameters, {samples} samples, {self.framework}")
        if self.config.compiled:
            self.phase("compile", 0)
            self._note("launch.compiling")
            print("compiling the graph (first step) ...")
        self.begin = time.perf_counter()

    def _note(self, key: str, **args) -> None:
        """What holds for all ranks is told by one."""
        if self.process_group.is_first:
            ascend_studio.note(key, **args)

    def phase(self, name: str, done: int) -> None:
        """Not from within a step that is being told: all before it is told first."""
        self.deferred.flush()
        self._record_phase(name, done)

    def _record_phase(self, name: str, done: int) -> None:
        ascend_studio.progress(done, self.config.steps, name)

    def step(self, number: int, outcome: Outcome, seconds: float, lr: float, scale: float | None) -> None:
        """`lr` and `scale` are those that the step was done with."""
        self.deferred.do(self.record_step, number, outcome, seconds, lr, scale, self.watch())
        hooks.stepped(number)

    def record_step(
        self,
        number: int,
        outcome: Outcome,
        seconds: float,
        lr: float,
        scale: float | None,
        watched: Mapping[str, float],
    ) -> None:
        self.step_seconds.append(seconds)
        if is_overflow(outcome, scale, self.config.loss_scale == "dynamic"):
            self._record_overflow(number, scale)
        values = self._values(outcome, seconds, lr, scale, watched)
        ascend_studio.metric(number, **values)
        if len(self.step_seconds) == 1 and self.config.compiled:
            self._note("launch.compiled", seconds=seconds)
            print(f"compiled in {seconds:.1f} s")
        if self.progress_due.now() or number == self.config.steps:
            self._record_phase("train", number)
        if self.line_due.now() or number == self.config.steps:
            self._print_step(number, values)

    def _record_overflow(self, number: int, scale: float) -> None:
        self.overflows += 1
        self._note("launch.overflow", step=number, scale=scale)
        print(f"overflow at step {number}, loss scale {scale:g}: the update is skipped")

    def _values(
        self, outcome: Outcome, seconds: float, lr: float, scale: float | None, watched: Mapping[str, float]
    ) -> dict[str, float]:
        learned = {"loss": outcome.loss, **watched}
        self.latest.update(learned)
        values = {
            **learned,
            "lr": lr,
            "step_time": seconds,
            "throughput": self.config.samples_per_step / seconds,
        }
        if outcome.norm is not None:
            values["grad_norm"] = outcome.norm
        if scale is not None:
            values.update(loss_scale=scale, overflows=self.overflows)
        return values

    def nonfinite(self, number: int, what: str, outcome: Outcome) -> bool:
        """Tells what is no number any more, the first time; returns whether the training goes on.

        Weights that are gone cannot be left out like a step: only "go_on" goes on with them.
        """
        self.deferred.flush()
        policy = "stop" if what == "weight" and self.config.on_nan == "skip" else self.config.on_nan
        value = outcome.norm if what == "gradient" else outcome.loss
        args = {"step": number, "what": what, "value": value}
        self.skipped += policy == "skip"
        # A loss is each rank's own: who lost it tells. The rest all ranks see alike.
        tells = not math.isfinite(value) if what == "loss" else self.process_group.is_first
        if policy == "stop":
            self.phase("train", number)
            if tells:
                ascend_studio.finding("launch.nan_stopped", "error", **args)
        elif tells and not self.has_reported_nan:
            rule = "launch.nan_skipped" if policy == "skip" else "launch.nan"
            ascend_studio.finding(rule, "warning", **args)
        if policy != "stop" and not self.has_reported_nan:
            print(f"NaN or infinite at step {number}: {what}, policy {policy}")
        self.has_reported_nan = True
        return policy != "stop"

    def _print_step(self, number: int, values: Mapping[str, float]) -> None:
        print(
            f"step {number}/{self.config.steps}  loss {values['loss']:.4g}  lr {values['lr']:g}"
            f"  {values['step_time'] * 1e3:.1f} ms/step  {values['throughput']:.0f} samples/s"
        )

    def evaluated(self, number: int, metrics: Mapping[str, float], seconds: float) -> None:
        self.deferred.flush()
        self.evaluate_seconds = seconds
        self._count_evaluation(seconds)
        self.latest.update(metrics)
        if self.process_group.is_first:
            ascend_studio.metric(number, **metrics)
        print("  ".join(f"{name} {value:.4g}" for name, value in metrics.items()), end="")
        print(f"  at step {number}")

    def _count_evaluation(self, seconds: float) -> None:
        """The first one also loads kernels, or compiles."""
        if not self.evaluations["count"]:
            self.evaluations["first"] = seconds
        self.evaluations["count"] += 1
        self.evaluations["all"] += seconds

    def stopped(self, number: int) -> None:
        self.phase("train", number)
        self._note("launch.stopped", step=number)
        print(f"stopped after step {number}")

    def trained(self) -> None:
        """The steps are done; what follows is no part of their time."""
        self.seconds = time.perf_counter() - self.begin

    def summary(self) -> None:
        compile_seconds = self.step_seconds[0] if self.config.compiled else 0.0
        # The first step is no measure of speed in either mode: it also loads kernels.
        usual = statistics.median(self.step_seconds[1:] or self.step_seconds)
        figures = {
            "compile_seconds": round(compile_seconds, 3),
            "train_seconds": round(self.seconds - compile_seconds, 3),
            "step_seconds": usual,
            "samples_per_second": self.config.samples_per_step / usual,
            "first_seconds": self.step_seconds[0],
            "evaluations": {**self.evaluations, "last": self.evaluate_seconds, "every": self.evaluate_every},
            "run_seconds": resource_usage.age(),
            "peak_bytes": resource_usage.peak_memory(),
            "card_peak_bytes": resource_usage.peak_on_card(self.device, self.config.framework),
        }
        args = {**self._facts(), **figures, "overflows": self.overflows, "skipped": self.skipped}
        self.latest.update(mean_of_ranks(self.process_group, {"loss": self.latest["loss"]}))
        self._note("launch.summary", **args, metrics=self.latest)
        print(
            f"done: {len(self.step_seconds)} steps in {self.seconds:.1f} s, of which compiling"
            f" {compile_seconds:.1f} s; {args['samples_per_second']:.0f} samples/s"
        )
        print("  ".join(f"{name} {value:.4g}" for name, value in self.latest.items()))

    def _facts(self) -> dict:
        return {
            "recipe": self.config.recipe,
            "device": self.device,
            "mode": self.config.mode,
            "framework": self.framework,
            "parameters": self.weight_count,
            "steps": len(self.step_seconds),
        }
