"""The first loss of a process that is NaN or infinite. Python 3.7, standard library only."""

from __future__ import annotations

import json
import re

if False:  # typing costs more at the start than all the rest
    from typing import Callable, Dict

RULE = "run.nonfinite"
# Losses in a row that belong to steps which a loss scaler skipped: a scale that begins too high is lowered in fewer.
SKIPPED = 20
_ZEROS = ("0", "0.0")
_SUFFIX = re.compile(r"\.\d+$")
WORDS = frozenset(("bce", "ce", "cost", "elbo", "kl", "mae", "mse", "nll", "objective", "rmse"))


class NonFiniteLosses:
    """Calls `finding` once, with the step, the name and the value."""

    def __init__(self, finding: Callable[..., None]) -> None:
        self.finding = finding
        self.skipped = 0
        self.is_reported = False

    def add(self, step: int, texts: Dict[str, str]) -> None:
        """`texts`: the numbers of a step as JSON, in which a string is no finite number."""
        name = next((name for name, text in texts.items() if text[0] == '"' and is_loss(name)), "")
        suffix = _SUFFIX.search(name)  # a second optimizer skips steps of its own
        is_skipped = texts.get("skipped" + (suffix.group() if suffix else ""), "0") not in _ZEROS
        self.skipped = self.skipped + 1 if name and is_skipped else 0
        if name and not self.is_reported and self.skipped in (0, SKIPPED):
            self.is_reported = True
            self.finding(RULE, "warning", step=step, name=name, value=json.loads(texts[name]))


def is_loss(name: str) -> bool:
    """Tell by its name whether a metric is what the training makes small: `loss`, or one of the usual other words."""
    lower = name.lower()
    if "loss" in lower:
        return not lower.startswith("loss_scale")
    return not WORDS.isdisjoint(re.split("[^a-z]+", lower))
