"""What `--json` says of a training beside what it says of every run: how long, how many steps, how fast."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.events import Note
from studio.run import glance, last_events
from studio.sentences import LENGTH_UNKNOWN
from studio.series import Curves
from studio.tail import RunTail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from studio.run import Glance, Run


def training_answer(run: Run) -> dict[str, Any]:
    """Return seconds of the run and, of rank 0, the median seconds of a step, and the mean samples a second.
    The first step compiles, or loads kernels: it is in none of the two. `last_step` is the number of the last step,
    not a count: a script may begin anywhere and record some; `length_known`: whether it is known how many steps were
    meant, else a training that ended early looks the same as one that is done. `loss` is the same as among the
    metrics. `speed_basis`: "rank_0" where there are several ranks.
    """
    ended = glance(run)
    curves = _curves_of(run)
    figures: dict[str, Any] = {"duration": round((ended.ended - ended.begun) / 1e9, 3), "ranks": len(curves.ranks())}
    steps = [series.point(-1)[0] for series in curves.every_series() if len(series)]
    speed = _speed(curves)
    basis = {"speed_basis": "rank_0"} if speed and figures["ranks"] > 1 else {}
    return {**figures, **_reached(run, steps), **speed, **basis, **_loss(ended)}


def _reached(run: Run, steps: list[int]) -> dict[str, int | bool]:
    """Return what is known of the steps of a training, nothing where it recorded none."""
    notes = (event.key for event in last_events(run.folder) if isinstance(event, Note))
    return {"last_step": max(steps), "length_known": LENGTH_UNKNOWN not in notes} if steps else {}


def _curves_of(run: Run) -> Curves:
    curves, tail, offset = Curves(), RunTail(run.folder), -1
    while tail.offset() > offset:
        offset = tail.offset()
        for (attempt, rank, pid), events in tail.read_processes():
            curves.extend(attempt, rank, events, pid)
    return curves


def _speed(curves: Curves) -> dict[str, float]:
    """Return the figures of speed that are known. The mean is of all samples in all of the time, not of the rates."""
    times, rates = _values(curves, "step_time"), _values(curves, "throughput")
    speed = {"median_step_time": float(np.median(times))} if len(times) else {}
    if len(rates) and len(rates) == len(times):
        speed["mean_throughput"] = float((rates * times).sum() / times.sum())
    return speed


def _values(curves: Curves, name: str) -> NDArray[np.float64]:
    """Return the finite values of rank 0, without the first step's."""
    series = curves.series.get((0, name))
    values: NDArray[np.float64] = series.values[1:] if series is not None else np.empty(0)
    finite: NDArray[np.float64] = values[np.isfinite(values) & (values > 0)]
    return finite


def _loss(ended: Glance) -> dict[str, float]:
    value = ended.values.get("loss", math.nan)
    return {"loss": value} if math.isfinite(value) else {}
