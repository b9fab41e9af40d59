"""Curves of a training that is written with MindSpore and does not know the studio.

Only classes of MindSpore are wrapped, and only where they run in Python: the compiler parses the source of what it
compiles, and must never meet a wrapper of ours there. Only the outermost call is examined: whatever it calls passes
through.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio import mindspore_reading as reading
from ascend_studio.mindspore_compiled import Compiled
from ascend_studio.mindspore_model import Training
from ascend_studio.mindspore_scaling import Scaling
from ascend_studio.mindspore_steps import CURVES, GRADIENT, OptimizerUpdate, Steps
from ascend_studio.recording import Unrecorded

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, List, Optional, Tuple

    from ascend_studio.mindspore_steps import Watched

GRAPH_NORM = "ASCEND_STUDIO_GRAPH_NORM"


def install(mindspore: ModuleType) -> None:
    hooks.reasons["mindspore"] = lambda: "hooks.why.no_mindspore_step"
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        return  # msrun's scheduler runs the script too, and trains nothing
    wraps = Hooks(mindspore)
    scaling = Scaling(wraps)
    compiled = Compiled(wraps, scaling.functions())
    for part in (
        wraps.wrap_optimizers,
        wraps.wrap_gradients,
        wraps.wrap_cells,
        compiled.wrap_compiled,
        compiled.wrap_bytecode,
        scaling.wrap_scalers,
        Training(wraps).wrap_model,
        wraps.add_graph_norm,
    ):
        _warn_if_missing(part)
    atexit.register(hooks.guarded(CURVES)(wraps.steps.end))


def _warn_if_missing(wrap: Callable[[], None]) -> None:
    """Wrap one part. Some names are private to MindSpore and may be missing in another version: the rest works without
    them.
    """
    try:
        wrap()
    except (AttributeError, KeyError, TypeError) as error:
        what = wrap.__name__.partition("_")[2]
        ascend_studio.finding("hooks.unavailable", "warning", what=what, reason=str(error)[:200])


class Calls(threading.local):
    """The calls that this thread is in."""

    depth = 0  # of calls that are looked at as one
    gradient = 0  # of gradients, one inside the other
    optimizing = 0
    compiled = False  # something compiled ran inside the outermost call
    schedule: Any = None  # the learning rate's cell, while its optimizer runs
    rate: Any = None
    scaled: Any = None  # the loss, before the script scaled it
    clipped = False  # the gradients were, by the script, since the last step
    norm: Optional[float] = None  # of them before that
    updates: Tuple[OptimizerUpdate, ...] = ()


class Hooks:
    def __init__(self, mindspore: ModuleType) -> None:
        self.mindspore = mindspore
        self.calls = Calls()
        self.steps = Steps(self._rates_at)
        self.scaling_cells: Tuple[Any, ...] = ()

    def module(self, name: str) -> Any:
        return sys.modules["mindspore." + name]

    # optimizers

    def wrap_optimizers(self) -> None:
        classes = [self.module("nn.optim.optimizer").Optimizer]
        experimental = sys.modules.get("mindspore.experimental.optim.optimizer")
        if experimental is not None:
            classes.append(experimental.Optimizer)
        for optimizer_class in classes:
            self._wrap_optimizer(optimizer_class)

    def _wrap_optimizer(self, optimizers: Any) -> None:
        make, call, calls = optimizers.__init__, optimizers.__call__, self.calls
        watch = hooks.guarded(CURVES)(self.steps.watch)
        stepped, rate_of = hooks.guarded(CURVES)(self._stepped), hooks.guarded(CURVES)(reading.rate_of)

        @functools.wraps(make)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            make(optimizer, *args, **kwargs)
            watch(optimizer)

        @functools.wraps(call)
        def __call__(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if calls.optimizing or calls.gradient or hooks.is_off(CURVES):
                return call(optimizer, *args, **kwargs)
            calls.depth, calls.optimizing, calls.rate = calls.depth + 1, 1, None
            calls.schedule = rate_of(optimizer)
            try:
                result = call(optimizer, *args, **kwargs)
            finally:
                calls.depth, calls.optimizing, calls.schedule = calls.depth - 1, 0, None
            stepped(optimizer, args[0] if args else None)
            return result

        optimizers.__init__, optimizers.__call__ = __init__, __call__

    def _stepped(self, optimizer: Any, gradients: Any) -> None:
        calls, watched = self.calls, self.steps.watch(optimizer)
        watched.is_called_from_python = True
        watched.advance()
        norm = calls.norm if calls.clipped else self._norm(watched, gradients)
        calls.clipped = False
        rate = self.steps.rate_of(watched) if calls.rate is None else calls.rate
        update = OptimizerUpdate(watched, norm, rate)
        if not calls.depth:
            self.steps.record_updates([update], GRADIENT, self.steps.latest)
        elif any(update_.watched is watched for update_ in calls.updates):
            # A second step inside one call: that is a whole training, not a step.
            self.steps.record_updates(list(calls.updates), GRADIENT)
            calls.updates = (update,)
        else:
            calls.updates = (*calls.updates, update)

    def _norm(self, watched: Watched, gradients: Any) -> Optional[float]:
        """Return the norm of the optimizer's gradients. Copying them to the host takes time, so steps are sampled."""
        if not watched.norms.is_enough():
            return None
        begun = time.perf_counter()
        norm = reading.norm(gradients)
        watched.norms.spend(time.perf_counter() - begun)
        scale: Any = getattr(watched.optimizer(), "loss_scale", 1.0)
        return None if norm is None else norm / float(scale)

    def _rates_at(self, schedule: Any, steps: List[int]) -> Any:
        """Return learning rates by running the operators of the schedule one by one: calling the cell would compile it
        in graph mode.
        """
        mindspore = self.mindspore
        with Unrecorded():
            rates = schedule.construct(mindspore.Tensor(steps, mindspore.int32)).asnumpy().reshape(-1)
        return rates if len(rates) == len(steps) else rates[:1]

    # gradients in PyNative

    def wrap_gradients(self) -> None:
        """Wrap the loss function of value_and_grad, grad and GradOperation, which run it here, in Python, and only in
        PyNative.
        """
        base = self.module("ops.composite.base")
        run, calls = base._pynative_forward_run, self.calls
        on_loss = hooks.guarded(CURVES)(self._saw_loss)

        @functools.wraps(run)
        def _pynative_forward_run(fn: Any, sens_param: Any, *args: Any, **kwargs: Any) -> Any:
            if calls.gradient or hooks.is_off(CURVES):
                return run(fn, sens_param, *args, **kwargs)
            calls.gradient, calls.depth, calls.scaled = 1, calls.depth + 1, None
            try:
                result = run(fn, sens_param, *args, **kwargs)
            finally:
                calls.gradient, calls.depth = 0, calls.depth - 1
            on_loss(result[1], args)
            return result

        base._pynative_forward_run = _pynative_forward_run

    def _saw_loss(self, result: Any, arguments: Any) -> None:
        scaled, self.calls.scaled = self.calls.scaled, None
        loss = scaled if scaled is not None else reading.loss_in(result)
        if loss is not None:
            self.steps.lost(GRADIENT, loss, reading.rows_in(arguments))

    # cells

    def wrap_cells(self) -> None:
        cells, clips = self.module("nn.cell").Cell, self._clips()
        call, calls = cells.__call__, self.calls
        graph, mode = self.mindspore.GRAPH_MODE, self.module("context")._get_mode
        ended, clipped = hooks.guarded(CURVES)(self._cell_ended), hooks.guarded(CURVES)(self._clipped)

        @functools.wraps(call)
        def __call__(cell: Any, *args: Any, **kwargs: Any) -> Any:
            if calls.depth:
                result = call(cell, *args, **kwargs)
                if cell is calls.schedule:
                    calls.rate = result
                elif type(cell) is clips:
                    clipped(args)
                return result
            if hooks.is_off(CURVES):
                return call(cell, *args, **kwargs)
            calls.depth, calls.compiled, calls.updates = 1, False, ()
            try:
                result = call(cell, *args, **kwargs)
            finally:
                calls.depth = 0
            if type(cell) is clips:
                clipped(args)
            else:
                ended(cell, args, result, calls.compiled or mode() == graph)
            return result

        cells.__call__ = __call__

    def _clips(self) -> Any:
        return getattr(self.module("ops.function.clip_func"), "_ClipByGlobalNorm", None)

    def _clipped(self, arguments: Any) -> None:
        """Record the norm of the gradients before the script clips them, where it does so by MindSpore's function."""
        watched = self.steps.last or next(iter(self.steps.watched.values()), None)
        if watched is not None and arguments:
            self.calls.clipped, self.calls.norm = True, self._norm(watched, arguments[0])

    def _cell_ended(self, cell: Any, arguments: Any, result: Any, compiled: bool) -> None:
        source, updates = ("cell", id(cell)), self.calls.updates
        self.calls.updates = ()
        loss = reading.loss_in(result)
        if updates:
            loss = reading.any_loss_in(result)
            if loss is not None:
                self.steps.lost(source, loss, reading.rows_in(arguments))
            if isinstance(cell, self.scaling_cells):
                self.steps.scale, _ = self.steps.read_scale()
            self.steps.record_updates(list(updates), source, GRADIENT, self.steps.latest)
        elif compiled or isinstance(cell, self.scaling_cells):
            refers = functools.partial(_is_in_cell, cell)
            always = isinstance(cell, self.scaling_cells)
            self.steps.compiled(source, reading.rows_in(arguments), result, refers, always)
        elif loss is not None and not isinstance(result, (tuple, list)):
            self.steps.lost(source, loss, reading.rows_in(arguments))

    # gradient norm inside a graph

    def add_graph_norm(self) -> None:
        if os.environ.get(GRAPH_NORM) == "1":
            from ascend_studio import mindspore_graph_norm

            mindspore_graph_norm.install(self.mindspore)
            self.steps.norm_in_graph = mindspore_graph_norm.read


def _is_in_cell(cell: Any, optimizer: Any) -> bool:
    return any(cell_ is optimizer for _, cell_ in cell.cells_and_names())
