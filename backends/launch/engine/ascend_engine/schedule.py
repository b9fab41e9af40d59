"""What follows from the step alone, so that a resumed training goes on with it: the learning rate, and when is
evaluated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.recipe_data.defaults import Dataset


def rate(config: Config, step: int) -> float:
    """The learning rate of step `step`, counted from 1.

    It rises in a line over the first `warmup` steps, the last of which has the full rate; the
    schedule begins after them.
    """
    if config.warmup and step <= config.warmup:
        return config.lr * step / config.warmup
    return config.lr * _share(config, step - config.warmup - 1)


def _share(config: Config, done: int) -> float:
    """What is left of the full rate after `done` steps of the schedule."""
    if config.schedule == "step":
        return config.decay_rate ** (done // config.decay_every)
    if config.schedule == "cosine":
        # The first step has the full rate; it would be 0 right after the last.
        length = max(1, config.steps - config.warmup)
        return (1 + math.cos(math.pi * min(done / length, 1.0))) / 2
    return 1.0


def steps_between_evaluations(data: Dataset | None, samples_per_step: int) -> int:
    """So many that they take well under a tenth of the time. `data`: the validation samples.

    A forward pass costs a third of a training step for the same samples.
    """
    samples = 0 if data is None else len(data)
    return max(1, -(-10 * samples // samples_per_step))
