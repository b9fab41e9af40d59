"""The steps of a MindSpore training: observations of the wrappers, joined to one point for each optimizer step.

A loss is read when the next step has been started: by then it is ready, and nothing waits for the device.
"""

from __future__ import annotations

import os
import time
import weakref

import ascend_studio
from ascend_studio import hooks
from ascend_studio import mindspore_reading as reading

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict, Hashable, List, Optional, Tuple

CURVES = "curves"
GRADIENT = "gradient"
MANY = 4096  # losses without a step: an evaluation
LONG = 1.0  # seconds of a step, from which on its loss is read at once
REGULAR = 20  # calls of a compiled function that each made one step, after which its counter is read
SELDOM = 50  # times less often
AHEAD = 64  # steps for which a schedule is evaluated at once
ABANDONED = 20  # steps of other optimizers


class Watched:
    """The state of one optimizer."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.index = -1  # in the order of the first steps
        self.steps = 0
        self.count = reading.counter(optimizer)
        self.is_called_from_python = False  # called from Python
        self.ended = 0.0
        self.norms = reading.Allowance()
        self.schedule = reading.Allowance()
        self.rates_from = 0
        self.rates: Any = ()  # of the steps from there on

    def has_moved(self) -> bool:
        """Return whether the optimizer's own counter is further than ours."""
        optimizer = self.optimizer()
        if optimizer is None or self.count is None:
            return False
        before, self.count = self.count, reading.counter(optimizer)
        return self.count is not None and self.count > before

    def advance(self) -> None:
        """Count a step without reading the counter."""
        if self.count is not None:
            self.count += 1

    def skip(self, steps: int) -> None:
        """Count steps that were made and not seen one by one."""
        self.steps += steps
        self.count = None if self.count is None else self.count + steps
        self.ended = 0.0

    def named(self, name: str) -> str:
        return "%s.%d" % (name, self.index) if self.index else name


class Scaler:
    """A loss scaler, and the scale that was last read from it."""

    def __init__(self, scaler: Any, name: str) -> None:
        self.scaler = weakref.ref(scaler)
        self.name = name
        self.last: Optional[float] = reading.number(getattr(scaler, name))

    def read(self) -> Tuple[Optional[float], Optional[float]]:
        """Return the previous scale and the present one."""
        scaler, before = self.scaler(), self.last
        self.last = None if scaler is None else reading.number(getattr(scaler, self.name))
        return before, self.last


class OptimizerUpdate:
    """One call of an optimizer from Python inside another call: of a cell, of Model.train."""

    def __init__(self, watched: Watched, norm: Optional[float], rate: Any) -> None:
        self.watched = watched
        self.norm = norm
        self.rate = rate


class Point:
    """A step whose loss is not read yet."""

    def __init__(self, step: int, losses: Dict[str, List[Any]], values: Dict[str, Any]) -> None:
        self.step = step
        self.losses = losses
        self.values = values
        self.pid = os.getpid()

    def write(self) -> None:
        values = {name: reading.number(value) for name, value in self.values.items()}
        values.update((name, sum(map(reading.number, losses))) for name, losses in self.losses.items())
        ascend_studio.metric(self.step, **values)


class Steps:
    def __init__(self, rates_at: Callable[[Any, List[int]], Any]) -> None:
        self.rates_at = rates_at  # what a schedule gives for these steps, outside of any graph
        self.watched: Dict[int, Watched] = {}
        self.scaler: Optional[Scaler] = None
        self.losses: Dict[Hashable, List[Tuple[Any, int]]] = {}
        self.latest: Hashable = None
        self.scale: Any = None
        self.overflow_at = 0.0
        self.overflow_scale: Any = None
        self.lead: Optional[Watched] = None
        self.last: Optional[Watched] = None
        self.others = 0  # steps of other optimizers since the lead's last
        self.number = 0  # of the steps that were told to hooks.stepped
        self.numbered = 0
        self.point: Optional[Point] = None
        self.habits: Dict[Hashable, List[int]] = {}
        self.has_warned_of_sum = False
        self.norm_in_graph: Callable[[Any], Optional[float]] = lambda optimizer: None

    # what is there

    def watch(self, optimizer: Any) -> Watched:
        watched = self.watched.get(id(optimizer))
        if watched is None or watched.optimizer() is not optimizer:
            watched = self.watched[id(optimizer)] = Watched(optimizer)
        return watched

    def watch_scaler(self, scaler: Any, name: str) -> None:
        """`name` is the attribute that holds its loss scale."""
        self.scaler = Scaler(scaler, name)

    # what is seen

    def lost(self, source: Hashable, loss: Any, rows: int) -> None:
        """Record a loss that may belong to the coming step; of losses from one source the sum counts."""
        if self.overflow_at:
            self.skip(self.overflow_at)
        losses = self.losses.setdefault(source, [])
        if len(losses) >= MANY:
            losses.clear()
        losses.append((loss, rows))
        self.latest = source

    def overflowed(self) -> None:
        """Record that the script found gradients that are not finite. Whether it steps nevertheless shows later."""
        self.overflow_at, self.overflow_scale = time.perf_counter(), self.scale

    def skip(self, now: float) -> None:
        """Record a step that was skipped."""
        self.overflow_at, scale, self.scale = 0.0, self.scale, self.overflow_scale
        watched = self.last or next(iter(self.watched.values()), None)
        if watched is not None:
            self.step(watched, self._take(GRADIENT, self.latest), None, None, skipped=1, now=now)
        self.scale = scale  # of the step that has begun

    def record_updates(self, updates: List[OptimizerUpdate], *sources: Hashable) -> None:
        """Record the steps of optimizers that were called from Python; the loss is that of the first source that has
        one.
        """
        losses = self._take(*sources)
        for update in updates:
            self.step(update.watched, losses, update.norm, update.rate)
            losses = []

    def compiled(
        self, source: Hashable, rows: int, result: Any, refers: Callable[[Any], bool], always: bool = False
    ) -> None:
        """Record the end of a compiled call, which may have stepped any optimizer. `always`: where it did not, it
        skipped a step.
        """
        moved = self._moved(source, refers)
        scale, shrunk = self.read_scale()
        is_called_from_python = any(optimizer.is_called_from_python for optimizer in self.watched.values())
        skipped = not moved and (always or (shrunk and not is_called_from_python))
        if not moved and not skipped:
            self._keep_loss(source, reading.loss_in(result), rows)
            return
        self._keep_loss(source, reading.any_loss_in(result), rows)
        losses = self._take(source, GRADIENT, self.latest)
        more = {} if scale is None else {"loss_scale": scale, "skipped": int(skipped)}
        for watched in moved or list(self.watched.values())[-1:]:
            self.step(watched, losses, self.norm_in_graph(watched.optimizer()), self.rate_of(watched), **more)
            losses = []

    def _keep_loss(self, source: Hashable, loss: Any, rows: int) -> None:
        if loss is not None:
            self.lost(source, loss, rows)

    def _moved(self, source: Hashable, refers: Callable[[Any], bool]) -> List[Watched]:
        """Return the optimizers that moved. Reading a counter waits for the device, so a call that always makes one
        step is mostly believed.
        """
        streak, unread = self.habits.setdefault(source, [0, 0])
        watched = self._single_watched()
        if watched is not None and streak >= REGULAR and unread < SELDOM and self.scaler is None:
            self.habits[source][1] += 1
            watched.advance()
            return [watched]
        before = None if watched is None else watched.count
        moved = [optimizer for optimizer in self.watched.values() if optimizer.has_moved()]
        regular = watched is not None and before is not None and watched.count == before + 1
        self.habits[source] = [streak + 1 if regular else 0, 0]
        return moved or [one for one in self.watched.values() if one.count is None and refers(one.optimizer())]

    def _single_watched(self) -> Optional[Watched]:
        return next(iter(self.watched.values())) if len(self.watched) == 1 else None

    def read_scale(self) -> Tuple[Optional[float], bool]:
        """Return the loss scale that the call began with, and whether it left a smaller one."""
        if self.scaler is None:
            return None, False
        before, after = self.scaler.read()
        return before, after is not None and before is not None and after < before

    def _take(self, *sources: Hashable) -> List[Tuple[Any, int]]:
        losses = next((self.losses[source] for source in sources if self.losses.get(source)), [])
        self.losses = {}
        return losses

    # learning rates

    def rate_of(self, watched: Watched) -> Any:
        """Return the learning rate of the step just made. A schedule that ran inside a graph is evaluated once more
        outside of it: MindSpore's own for many steps at once, another as often as its time allows.
        """
        rate = reading.rate_of(watched.optimizer())
        if rate is None or not reading.is_schedule(rate):
            return None if rate is None else reading.number(rate)
        done = max(0, (watched.count or 1) - 1)
        if not watched.rates_from <= done < watched.rates_from + len(watched.rates):
            watched.rates_from, watched.rates = self._rates(watched, rate, done)
        return float(watched.rates[done - watched.rates_from]) if len(watched.rates) else None

    def _rates(self, watched: Watched, rate: Any, step: int) -> Tuple[int, Any]:
        rates = reading.listed_rates(rate)
        if rates is not None:
            return 0, rates
        if not watched.schedule.is_enough():
            return step, ()
        begun = time.perf_counter()
        own = type(rate).__module__ == "mindspore.nn.learning_rate_schedule"
        rates = self.rates_at(rate, list(range(step, step + (AHEAD if own else 1))))
        watched.schedule.spend(time.perf_counter() - begun)
        return step, rates

    # the point

    def step(
        self,
        watched: Watched,
        losses: List[Tuple[Any, int]],
        norm: Optional[float],
        rate: Any,
        now: float = 0.0,
        **more: Any,
    ) -> None:
        now = now or time.perf_counter()
        values: Dict[str, Any] = {"lr": rate, "grad_norm": norm, **more}
        if self.scale is not None:
            values = {"loss_scale": self.scale, "skipped": 0, **values}
        self.overflow_at, self.scale = 0.0, None
        self._number(watched)
        self._warn_of_sum(losses)
        seconds = now - watched.ended if watched.ended else 0.0
        watched.ended = now
        if watched is self.lead and seconds:
            values["step_time"] = seconds
            rows = sum(rows for _, rows in losses)
            values["throughput"] = rows / seconds if rows else None
        watched.norms.earn(seconds)
        watched.schedule.earn(seconds)
        self._keep(watched, losses, values, seconds)
        if watched is self.lead:
            hooks.stepped(self.number)

    def _keep(self, watched: Watched, losses: List[Tuple[Any, int]], values: Dict[str, Any], seconds: float) -> None:
        self.flush()
        named = {watched.named(name): value for name, value in values.items() if value is not None}
        of_losses = {watched.named("loss"): [loss for loss, _ in losses]} if losses else {}
        self.point = Point(watched.steps, of_losses, named)
        if seconds > LONG:
            self.flush()

    def _number(self, watched: Watched) -> None:
        """Return the step's number. The lead is the optimizer whose steps are the training's: the first, while it is
        used.
        """
        if watched.index < 0:
            self._name(watched)
        watched.steps += 1
        self.last = watched
        self.others = 0 if watched is self.lead else self.others + 1
        if self.lead is None or self.others > ABANDONED:
            self.lead, self.others = watched, 0
        if watched is self.lead:
            self.number += 1

    def _name(self, watched: Watched) -> None:
        """Return the suffix of an optimizer's metrics: one that was made when another was gone continues that one's
        curves.
        """
        gone = next(
            (
                optimizer
                for optimizer in self.watched.values()
                if optimizer.index >= 0 and optimizer.optimizer() is None
            ),
            None,
        )
        if gone is None:
            watched.index, self.numbered = self.numbered, self.numbered + 1
            return
        watched.index, watched.steps, gone.index = gone.index, gone.steps, -1
        if gone is self.lead:
            self.lead = watched

    def _warn_of_sum(self, losses: List[Tuple[Any, int]]) -> None:
        if len(losses) > 1 and not self.has_warned_of_sum:
            self.has_warned_of_sum = True
            ascend_studio.note("hooks.summed", count=len(losses))

    def end(self) -> None:
        if self.overflow_at:
            self.skip(self.overflow_at)
        self.flush()

    def flush(self) -> None:
        point, self.point = self.point, None
        if point is not None and point.pid == os.getpid():  # not in a fork of the training
            point.write()
