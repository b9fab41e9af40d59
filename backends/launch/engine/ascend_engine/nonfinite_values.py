"""The first loss, gradient or weight that is NaN or infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """loss: mean over the step's samples. finite, norm, sound: as an update gives them; norm: None where it is not
    known."""

    loss: float
    finite: bool
    norm: float | None
    sound: bool


def what_of(outcome: Outcome, scale: float | None, dynamic: bool, others_lost: bool = False) -> str:
    """ "weight", "loss", "gradient", or "" where nothing is wrong.

    The first cause counts: weights that were not finite before the step spoil its loss, and a loss
    its gradients. Gradients that overflow under a loss scale are what it is for, as long as a
    dynamic one can still be lowered: at 1 it is the gradients themselves. `others_lost`: the loss
    of another rank is not finite, and all ranks must come to the same answer.
    """
    if outcome.finite:
        return ""
    if not outcome.sound:
        return "weight"
    if others_lost or not math.isfinite(outcome.loss):
        return "loss"
    return "" if is_overflow(outcome, scale, dynamic) else "gradient"


def is_overflow(outcome: Outcome, scale: float | None, dynamic: bool) -> bool:
    """`scale`: the one that the step was done with, None without a scaler."""
    if outcome.finite or scale is None:
        return False
    return not dynamic or scale > 1
