"""Whether the losses of a training were numbers, from its events: part of how it ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from studio import files
from studio.events import Ended, Finding, Metric, Note, attempt_and_rank
from studio.faults.held_folder import current_folder
from studio.run import NONFINITE
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studio.events import Event, Number

    Process: TypeAlias = tuple[int, int]

RULE = "run.nonfinite"
"""What a training says at its first loss that is no number: studio/guest/ascend_studio/writer/nonfinite_losses.py."""
STEPS_RULE = "run.nonfinite_steps"
UPDATES_RULE = "run.updates_left_out"
CHOSEN_RULE = "launch.nan_skipped"
"""The user asked for updates to be left out where they are no numbers."""
ENGINE_RULE = "launch.nan"
SUMMARY = "launch.summary"
SKIPPED = 20
"""Losses in a row of steps that a loss scaler skipped: a scale that begins too high is lowered in fewer."""
WORDS = frozenset(("bce", "ce", "cost", "elbo", "kl", "mae", "mse", "nll", "objective", "rmse"))
"""What a loss is called otherwise, as in the guest."""
_CHUNK = 1 << 20
_SIGNS = (b'"NaN"', b'Infinity"')
_SIGN_BYTES = 16


def is_loss(name: str) -> bool:
    """Tell whether a metric is a loss by its name, as the guest does."""
    lower = name.lower()
    if "loss" in lower:
        return not lower.startswith("loss_scale")
    return not WORDS.isdisjoint(re.split("[^a-z]+", lower))


def is_told_at_the_end(name: str) -> bool:
    """Tell whether a metric may be infinite on the way: a gradient norm while a loss scaler looks for its scale, a
    perplexity, which is exp(loss), in the first steps."""
    lower = name.lower()
    return ("grad" in lower and "norm" in lower) or not {"perplexity", "ppl"}.isdisjoint(re.split("[^a-z]+", lower))


@dataclass(kw_only=True)
class Losses:
    """One loss of one process: its steps, and those in which it was no number. `value`: of the first of these."""

    name: str
    rank: int
    total: int = 0
    count: int = 0
    step: int = 0
    value: str = ""
    last: Number = 0.0
    _skipped: int = 0

    def add(self, metric: Metric, value: Number) -> None:
        self.total += 1
        self.last = value
        is_skipped = bool(metric.values.get("skipped"))
        self._skipped = self._skipped + 1 if is_skipped and not self.is_last_finite else 0
        if isinstance(value, str) and not 0 < self._skipped < SKIPPED:
            self.count += 1
            self.step, self.value = (self.step, self.value) if self.value else (metric.step, value)

    @property
    def is_last_finite(self) -> bool:
        return not isinstance(self.last, str)

    @property
    def is_told(self) -> bool:
        """Whether it is a fault: any step of a loss, and of others a NaN at the end."""
        return bool(self.count) and (is_loss(self.name) or self.last == "NaN")

    def finding(self) -> Finding:
        args = {"name": self.name, "step": self.step, "value": self.value, "count": self.count, "total": self.total}
        return Finding(rule=STEPS_RULE, severity="warning", args={**args, "rank": self.rank})


def first_finding(step: int, values: dict[str, Number]) -> Finding | None:
    """Return what is told of a step whose loss is no number, as the guest tells it; None for any other."""
    name = next((name for name, value in values.items() if isinstance(value, str) and is_loss(name)), "")
    args = {"step": step, "name": name, "value": values.get(name)}
    return Finding(rule=RULE, severity="warning", args=args) if name else None


def judged_end(folder: Path, attempt: int, ended: Ended) -> tuple[Ended, list[Finding]]:
    """Return the end of a training with what its losses say of it: one that ended well, and whose losses were no
    numbers, has that as its reason; the findings say in which steps. Raises OSError.
    """
    if ended.code or ended.reason:
        return ended, []
    record = _Record(current_folder(folder), attempt)
    findings = record.findings()
    is_nonfinite = bool(findings) or ENGINE_RULE in record.rules
    return (Ended(code=0, reason=NONFINITE) if is_nonfinite else ended), findings


class _Record:
    """What an attempt wrote about its losses. Its events are decoded only where a number is none."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self.rules: set[str] = set()
        self._losses: dict[tuple[int, str], Losses] = {}
        self._updates = (0, 0)
        if has_nonfinite(folder, attempt):
            for number, rank, events in _events(folder):
                if number == attempt:
                    self._add(rank, events)

    def _add(self, rank: int, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Metric):
                self._add_metric(rank, event)
            elif isinstance(event, Finding):
                self.rules.add(event.rule)
            elif isinstance(event, Note) and event.key == SUMMARY:
                self._updates = (_whole(event.args.get("skipped")), _whole(event.args.get("steps")))

    def _add_metric(self, rank: int, metric: Metric) -> None:
        for name, value in metric.values.items():
            if is_loss(name) or is_told_at_the_end(name):
                self._losses.setdefault((rank, name), Losses(name=name, rank=rank)).add(metric, value)

    def findings(self) -> list[Finding]:
        """Return what is told of the losses. Where the user asked that such updates are left out, it is told only where
        the last one was, or half of all."""
        skipped, steps = self._updates
        if skipped * 2 >= max(1, steps):
            return [Finding(rule=UPDATES_RULE, severity="warning", args={"count": skipped, "total": steps})]
        nonfinite = [losses for losses in self._losses.values() if losses.is_told]
        if CHOSEN_RULE in self.rules:
            nonfinite = [losses for losses in nonfinite if not losses.is_last_finite]
        first = min(nonfinite, key=lambda losses: (losses.step, losses.rank), default=None)
        return [first.finding()] if first else []


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _events(folder: Path) -> Iterator[tuple[int, int, list[Event]]]:
    """Yield what RunTail reads, to the end of all files."""
    tail, offset = RunTail(folder), -1
    while tail.offset() > offset:
        offset = tail.offset()
        yield from tail.read()


def has_nonfinite(folder: Path, attempt: int) -> bool:
    """Tell whether an attempt recorded any number that is none, or one that was skipped for that. Raises OSError."""
    names = (path for path in folder.glob("events.a*.jsonl") if (attempt_and_rank(path.name) or (0, 0))[0] == attempt)
    return any(map(_has_sign, names))


def _has_sign(path: Path) -> bool:
    rest = b""
    with files.open_regular(path) as file:
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            if any(sign in text for sign in _SIGNS):
                return True
            rest = text[-_SIGN_BYTES:]
    return False
