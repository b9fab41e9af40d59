"""The pause that a checkpoint makes: what the steps after it took longer, and what the training waited for the copy."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from studio.events import Metric, Note
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

EVERY = 50
# Steps of 1 ms vary by more than a checkpoint costs, so that it takes many to see it.
CHECKPOINTS = {"linear": 60, "text": 6}
AFTER = 10  # steps in which a checkpoint is written at the latest
BAR = 5.0  # percent of 100 steps


def _pause(recipe: str) -> tuple[float, float]:
    """Of one checkpoint, in percent of 100 steps: what the steps after it took longer than as many in the middle
    between two, the medians over all of a run, and the copy. And how far such stretches without one spread: half
    their interquartile range."""
    with tempfile.TemporaryDirectory() as folder:
        steps = EVERY * (CHECKPOINTS[recipe] + 1)
        run = launch(Path(folder), recipe=recipe, mode="jit", steps=steps, checkpoint_every=EVERY)
        assert ended(run, 300).code == 0, run.log.read_text()
        events = events_of(run)
    (told,) = (event.args for event in events if isinstance(event, Note) and event.key == "launch.checkpoints")
    times = [float(one.values["step_time"]) for one in events if isinstance(one, Metric) and "step_time" in one.values]
    after = [sum(times[begin : begin + AFTER]) for begin in range(EVERY, steps, EVERY)]
    between = [sum(times[begin : begin + AFTER]) for begin in range(EVERY + EVERY // 2, steps, EVERY)]
    longer = statistics.median(after) - statistics.median(between)
    first, _, third = statistics.quantiles(between, n=4)
    hundred = 100 * statistics.median(times)
    pause = max(0.0, longer) + told["seconds"] / told["count"]
    return 100 * pause / hundred, 100 * (third - first) / 2 / hundred


def figures() -> list[Figure]:
    return [_figure(recipe, *_pause(recipe)) for recipe in CHECKPOINTS]


def _figure(recipe: str, pause: float, spread: float) -> Figure:
    what = f"{recipe}: pause of a checkpoint, of 100 @jit steps"
    return Figure(what=what, value=pause, unit="%", bar=BAR, peer=spread, peer_name="spread without one")
