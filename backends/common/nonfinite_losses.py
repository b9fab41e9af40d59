"""Whether the losses of a training were numbers, from its events: part of how it ended."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
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
LOG_RULE = "run.nonfinite_log"
"""A line of the log has a loss that is no number, and no curve does."""
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
_SIGN = re.compile(rb'"NaN"|Infinity"|"skipped[.0-9]{0,8}": ?[1-9]|"launch.overflow"')
_SIGN_BYTES = 24


def is_loss(name: str) -> bool:
    """Tell whether a metric is a loss by its name, as the guest does."""
    lower = name.lower()
    if "loss" in lower:
        return not lower.startswith("loss_scale")
    return not WORDS.isdisjoint(re.split("[^a-z]+", lower))


def skipped_name(name: str) -> str:
    """Return the metric that says whether the step of a loss was skipped: a second optimizer has one of its own."""
    suffix = re.search(r"\.\d+$", name)
    return "skipped" + (suffix[0] if suffix else "")


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
    _skipped: list[tuple[int, str]] = field(default_factory=list)

    def add(self, metric: Metric, value: Number) -> None:
        self.total += 1
        self.last = value
        if isinstance(value, str) and metric.values.get(skipped_name(self.name)):
            self._skipped.append((metric.step, value))
            return
        if len(self._skipped) >= SKIPPED:
            self._count_skipped()
        self._skipped.clear()
        if isinstance(value, str):
            self._count(metric.step, value)

    def close(self) -> None:
        """Count skipped steps that no finite loss came after: whether a lower scale would have helped is not known."""
        self._count_skipped()

    def _count_skipped(self) -> None:
        for step, value in self._skipped:
            self._count(step, value)
        self._skipped.clear()

    def _count(self, step: int, value: str) -> None:
        self.count += 1
        self.step, self.value = (self.step, self.value) if self.value else (step, value)

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


@dataclass(kw_only=True)
class Updates:
    """The updates of one optimizer in one process under a loss scaler: how many, how many it left out, and how many of
    these were the last in a row."""

    total: int = 0
    skipped: int = 0
    in_a_row: int = 0

    def add(self, *, is_skipped: bool) -> None:
        self.total += 1
        self.skipped += is_skipped
        self.in_a_row = self.in_a_row + 1 if is_skipped else 0

    @property
    def is_told(self) -> bool:
        """Whether the training did not learn: all were left out, half of many, or so many at the end that no scale
        helped."""
        if self.skipped < SKIPPED:
            return 0 < self.total == self.skipped
        return self.skipped * 2 >= self.total or self.in_a_row >= SKIPPED

    def finding(self) -> Finding:
        return Finding(rule=UPDATES_RULE, severity="warning", args={"count": self.skipped, "total": self.total})


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
    is_nonfinite = bool(findings) or not record.rules.isdisjoint((ENGINE_RULE, LOG_RULE))
    return (Ended(code=0, reason=NONFINITE) if is_nonfinite else ended), findings


class _Record:
    """What an attempt wrote about its losses. Its events are decoded only where a number is none."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self.rules: set[str] = set()
        self._losses: dict[tuple[int, str], Losses] = {}
        self._scaled: defaultdict[tuple[int, str], Updates] = defaultdict(Updates)
        self._updates = (0, 0)
        if has_nonfinite(folder, attempt):
            for number, rank, events in _events(folder):
                if number == attempt:
                    self._add(rank, events)
        for losses in self._losses.values():
            losses.close()

    def _add(self, rank: int, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Metric):
                self._add_metric(rank, event)
            elif isinstance(event, Finding):
                self.rules.add(event.rule)
            elif isinstance(event, Note) and event.key == SUMMARY:
                steps = _whole(event.args.get("steps"))
                self._updates = (_whole(event.args.get("skipped")), steps)
                self._scaled[rank, SUMMARY] = Updates(total=steps, skipped=_whole(event.args.get("overflows")))

    def _add_metric(self, rank: int, metric: Metric) -> None:
        for name, value in metric.values.items():
            if is_loss(name) or is_told_at_the_end(name):
                self._losses.setdefault((rank, name), Losses(name=name, rank=rank)).add(metric, value)
            elif name.partition(".")[0] == "skipped":
                self._scaled[rank, name].add(is_skipped=bool(value))

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
        if first:
            return [first.finding()]
        return [updates.finding() for updates in self._scaled.values() if updates.is_told][:1]


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
            if _SIGN.search(text):
                return True
            rest = text[-_SIGN_BYTES:]
    return False
