"""The pause that a checkpoint makes: what the steps after it took longer, and what the training waited for the copy."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from studio.events import Metric, Note
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

EVERY = 50
CHECKPOINTS = 6
AFTER = 10  # steps in which a checkpoint is written at the latest
BAR = 5.0  # percent of 100 steps


def _pause(recipe: str) -> float:
    """Of one checkpoint, in percent of 100 steps; the median over all of a run."""
    with tempfile.TemporaryDirectory() as folder:
        steps = EVERY * (CHECKPOINTS + 1)
        run = launch(Path(folder), recipe=recipe, mode="jit", steps=steps, checkpoint_every=EVERY)
        assert ended(run, 300).code == 0, run.log.read_text()
        events = events_of(run)
    (told,) = (event.args for event in events if isinstance(event, Note) and event.key == "launch.checkpoints")
    times = [float(one.values["step_time"]) for one in events if isinstance(one, Metric) and "step_time" in one.values]
    usual = statistics.median(times)
    begins = range(EVERY, steps, EVERY)
    longer = statistics.median(sum(times[begin : begin + AFTER]) - AFTER * usual for begin in begins)
    return (max(0.0, longer) + told["seconds"] / told["count"]) / usual


def figures() -> list[Figure]:
    return [
        Figure(what=f"{recipe}: pause of a checkpoint, of 100 @jit steps", value=_pause(recipe), unit="%", bar=BAR)
        for recipe in ("linear", "text")
    ]
