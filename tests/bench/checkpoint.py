"""What a checkpoint costs: the pause, in which the training waits for the copy, and what the steps take longer beside
which it is written."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from studio.events import Metric, Note
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

EVERY = 50
# Steps of 1 ms vary by more than a checkpoint costs, so that it takes many to see it.
CHECKPOINTS = {"linear": 150, "text": 6}
AFTER = 10  # steps in which a checkpoint is written at the latest
BAR = 5.0  # percent of 100 steps


def figures() -> list[Figure]:
    return [figure for recipe in CHECKPOINTS for figure in _figures(recipe)]


def _figures(recipe: str) -> list[Figure]:
    """In percent of 100 steps. Steps beside the writing are compared with as many in the middle between two
    checkpoints, the medians over all of a run; the peer is how far such stretches without one spread: half their
    interquartile range."""
    with tempfile.TemporaryDirectory() as folder:
        steps = EVERY * (CHECKPOINTS[recipe] + 1)
        run = launch(Path(folder), recipe=recipe, mode="jit", steps=steps, checkpoint_every=EVERY)
        assert ended(run, seconds=300).code == 0, run.log.read_text()
        events = events_of(run)
    (told,) = (event.args for event in events if isinstance(event, Note) and event.key == "launch.checkpoints")
    times = [float(one.values["step_time"]) for one in events if isinstance(one, Metric) and "step_time" in one.values]
    percent = 100 / (100 * statistics.median(times))
    beside = [sum(times[begin : begin + AFTER]) for begin in range(EVERY, steps, EVERY)]
    between = [sum(times[begin : begin + AFTER]) for begin in range(EVERY + EVERY // 2, steps, EVERY)]
    longer = statistics.median(beside) - statistics.median(between)
    first, _, third = statistics.quantiles(between, n=4)
    what = f"{recipe}: a checkpoint, of 100 @jit steps"
    pause = percent * told["seconds"] / told["count"]
    spread = percent * (third - first) / 2
    return [
        Figure(what=f"{what}: the pause", value=pause, unit="%", bar=BAR),
        Figure(
            what=f"{what}: and longer steps beside it",
            value=pause + max(0.0, percent * longer),
            unit="%",
            bar=BAR,
            peer=spread,
            peer_name="spread without one",
        ),
    ]
