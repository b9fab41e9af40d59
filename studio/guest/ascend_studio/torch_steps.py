"""The steps of a PyTorch training: filled by the wrappers of torch_hooks, written as metrics.

A step ends where an optimizer has stepped; in a script without one, where the next backward begins. Steps are counted
from 1, and from the optimizer's own count after a checkpoint. Nothing here keeps a tensor of the training.
"""

from __future__ import annotations

import functools
import math
import time
import weakref

from ascend_studio import hooks, torch_numbers
from ascend_studio.late_metrics import LateMetrics
from ascend_studio.torch_inputs import Roots, size_of
from ascend_studio.torch_numbers import number_of
from ascend_studio.torch_series import Series

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional, Tuple

MAX_SERIES = 8
_PARTS = ("time_data", "time_forward", "time_backward", "time_optimizer")
_RATES = ("throughput", "tokens_per_second")

guarded: Callable[[Callable[..., Any]], Callable[..., Any]] = hooks.guarded("curves")


class Steps:
    def __init__(self, torch: ModuleType) -> None:
        self.torch = torch
        # Also true where torch.export runs the modules themselves.
        self.is_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", bool)
        self.roots = Roots(torch)
        self.metrics = LateMetrics(self._finish)
        self.series: List[Series] = []
        self.without_optimizer = Series(0)

        # Since the training began: seconds, and what went through its networks.
        self.data = self.forward = self.backward = self.optimizer = 0.0
        self.samples = self.tokens = 0
        self.backwards = self.optimizer_count = 0
        self.by_backward = False  # optimizers step inside the backward
        self.separate = False  # each optimizer has its own losses

        # Since the last step of any optimizer.
        self.open = False  # a backward was done
        self.counts_batch = True
        self.losses: List[Any] = []
        self.norms: List[Any] = []
        self.rates: List[Any] = []

        # What runs now.
        self.inside = False  # a root module or a backward: what is called belongs to it
        self.in_backward = self.inside_norm = False
        self.loss: Any = None
        self.scaled: Any = None
        self.scaler: Any = None
        self.stepping: Any = None
        self.has_closure = self.closure_ran = False
        self.backward_begun = self.step_begun = self.inner = 0.0

    # forward

    @guarded
    def forward_begins(self, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> float:
        """Return when it began, for forward_ends; 0 for a module that is no root: a loss, a frozen network."""
        if not self.roots.have(module) or self.torch.jit.is_tracing() or self.is_compiling():
            return 0.0
        if self.counts_batch and not self.closure_ran:  # LBFGS shows its batch many times
            self.counts_batch = False
            samples, tokens = size_of(self.torch, args, kwargs)
            self.samples += samples
            self.tokens += tokens
        self.inside = True
        return time.perf_counter()

    def forward_ends(self, begun: float) -> None:
        self.inside = False
        self.forward += time.perf_counter() - begun

    @guarded
    def evaluates(self) -> None:
        self.metrics.write_out()

    # backward

    @guarded
    def backward_begins(self, tensors: Any) -> None:
        if self.open and self._ends_by_backward():
            self._end(self.without_optimizer)
        # Of LBFGS, which runs its closure many times in a step, what the first run does.
        self.loss = None if self.closure_ran else self._loss_of(tensors)
        self.scaled = None
        self.in_backward = self.inside = True
        self.backward_begun = time.perf_counter()

    @guarded
    def backward_ends(self, done: bool) -> None:
        self.in_backward = self.inside = False
        if done:
            self.backward += time.perf_counter() - self.backward_begun
            self.backwards += 1
            self.open = True
            self.metrics.begin_process()
            self.counts_batch = not self.separate
            if self.loss is not None:
                self.losses.append(self.loss)

    def _ends_by_backward(self) -> bool:
        return self.by_backward or not self.optimizer_count

    def _loss_of(self, tensors: Any) -> Any:
        several = [tensors] if isinstance(tensors, self.torch.Tensor) else list(tensors)
        numbers = [self._unscaled(number) for number in several]
        return None if not numbers or None in numbers else torch_numbers.total(numbers)

    def _unscaled(self, tensor: Any) -> Any:
        if self.scaled is None:
            return number_of(self.torch, tensor)
        output, loss, scale = self.scaled
        return loss if output() is tensor else torch_numbers.scaled(number_of(self.torch, tensor), scale)

    # mixed precision

    @guarded
    def loss_scaled(self, scaler: Any, loss: Any, output: Any) -> None:
        if loss is not output:  # a scaler that is off gives back what it was given
            number = number_of(self.torch, loss)
            self.scaled = (bool if number is None else weakref.ref(output), number, self._scale_of(scaler))

    def _scale_of(self, scaler: Any) -> Any:
        return number_of(self.torch, getattr(scaler, "_scale", None))

    @guarded
    def scaler_begins(self, scaler: Any, optimizer: Any) -> None:
        if scaler.is_enabled():
            self.scaler = scaler
            self.rates = _rates(optimizer)

    @guarded
    def scaler_ends(self, optimizer: Any) -> None:
        """The optimizer was not called where the scaler found an overflow."""
        if self.scaler is not None:
            series = self._series_of(optimizer)
            if series is not None:
                self._end(series, skipped=1.0)
            self.scaler = None

    # gradient norm

    @guarded
    def norm_computed(self, norm: Any) -> None:
        number = number_of(self.torch, norm)
        if number is not None:
            self.norms.append(number)

    def _sample_norm(self, series: Series, optimizer: Any) -> None:
        if not self.norms and not self.roots.shards:
            norm = series.norm(self.torch, optimizer)
            if norm is not None:
                self.norms.append(norm)

    # optimizer

    @guarded
    def closure_ends(self) -> None:
        self.closure_ran = self.stepping is not None

    @guarded
    def step_begins(self, optimizer: Any, has_closure: bool) -> None:
        self.optimizer_count = self.optimizer_count or 1  # it may have come from a file or another process
        if self.in_backward:
            self.by_backward = True
            self.rates = _rates(optimizer)
            return
        if self.stepping is not None and self.stepping() not in (None, optimizer):
            return  # one that steps others: their outermost counts
        self.stepping = weakref.ref(optimizer)
        self.has_closure, self.closure_ran = has_closure, False
        self.rates = _rates(optimizer)
        series = self._series_of(optimizer)
        if series is not None and not has_closure:
            self._sample_norm(series, optimizer)
        self.inner = self.forward + self.backward
        self.step_begun = time.perf_counter()

    @guarded
    def step_ends(self, optimizer: Any) -> None:
        if self.in_backward or self.stepping is None or self.stepping() is not optimizer:
            return
        self.stepping, self.closure_ran = None, False
        inner = self.forward + self.backward - self.inner
        self.optimizer += time.perf_counter() - self.step_begun - inner
        series = self._series_of(optimizer)
        if series is None:
            return
        if self.has_closure:
            self._sample_norm(series, optimizer)
        found_inf = getattr(optimizer, "found_inf", None)
        self._end(series, 0.0 if found_inf is None else number_of(self.torch, found_inf))

    def _series_of(self, optimizer: Any) -> Optional[Series]:
        for series in self.series:
            if series.owner() is optimizer:
                return series
        # A script may make its optimizer anew for each epoch.
        abandoned = next((series for series in self.series if series.owner() is None), None)
        if abandoned is None and len(self.series) < MAX_SERIES:
            abandoned = Series(len(self.series))
            self.series.append(abandoned)
        if abandoned is not None:
            abandoned.take(optimizer)
        return abandoned

    # the end of a step

    def _end(self, series: Series, skipped: Any = 0.0) -> None:
        """Put a step's values together; what can wait does so until it is written."""
        now = time.perf_counter()
        series.count += 1
        if self.losses and not series.is_first:
            self.separate = True
        scale = None
        if self.scaler is None:
            skipped = None
        else:
            scale = self._scale_of(self.scaler)
        rates, times = series.rates(self.torch, self.rates), self._times(series, now)
        values = functools.partial(_values, series.suffix, rates, self.losses, self.norms, scale, skipped, times)
        self.losses, self.norms, self.rates, self.scaler = [], [], [], None
        self.open, self.counts_batch = False, series.is_first or not self.separate
        self.metrics.write(series.count, values)
        if series.is_first:
            hooks.stepped(series.count)
        series.ended = now

    def _times(self, series: Series, now: float) -> Tuple[Any, ...]:
        """Return the times of a step, from the sums at the end of the previous step, the sums now, and the seconds in
        between; none for the first step.
        """
        if not series.is_first:
            return ()
        before = series.totals
        series.totals = (self.data, self.forward, self.backward, self.optimizer, self.samples, self.tokens)
        return (before, series.totals, now - series.ended) if before else ()

    def _finish(self) -> None:
        if self.open and (self._ends_by_backward() or self._is_nonfinite_without_step()):
            self._end(self.without_optimizer)

    def _is_nonfinite_without_step(self) -> bool:
        """Return whether no optimizer ever stepped and losses were no numbers, which may be why."""
        has_stepped = any([series.count for series in self.series])
        total = torch_numbers.value_of(torch_numbers.total(self.losses or [0.0]))
        return not has_stepped and not math.isfinite(total)

    def why_nothing(self) -> str:
        return "hooks.why.no_step" if self.backwards else "hooks.why.no_backward"


def _rates(optimizer: Any) -> List[Any]:
    return [group.get("lr") for group in optimizer.param_groups]


def _values(
    suffix: str, rates: Dict[str, Any], losses: List[Any], norms: List[Any], scale: Any, skipped: Any, times: Any
) -> Dict[str, Any]:
    values = rates
    if losses:
        values["loss" + suffix] = torch_numbers.total(losses)
    if norms:
        values["grad_norm" + suffix] = torch_numbers.norm(norms)
    if skipped is not None:
        values.update({"loss_scale" + suffix: scale, "skipped" + suffix: skipped})
    if times:
        _add_times(values, *times)
    return (
        values if None not in values.values() else {name: value for name, value in values.items() if value is not None}
    )


def _add_times(values: Dict[str, Any], before: Tuple[float, ...], sums: Tuple[float, ...], seconds: float) -> None:
    values["step_time"] = seconds
    for name, total, then in zip(_PARTS, sums, before):
        if total:
            values[name] = total - then
    for name, total, then in zip(_RATES, sums[4:], before[4:]):
        if total > then:
            values[name] = (total - then) / seconds
