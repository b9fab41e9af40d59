"""Trainings that ended before their last step, although their program ended well, or of which nobody knows that."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from backends.common.nonfinite_losses import is_loss
from studio.events import Finding, Metric, Note, Progress, decode, process_of
from studio.sentences import LENGTH_UNKNOWN
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

STEP_RULE = "run.ended_early"
EPOCH_RULE = "run.ended_early_epochs"
RANK_RULE = "run.rank_ended_early"
AT_ONCE_RULE = "run.ended_at_once"
_END_BYTES = 1 << 20
_FINISH = "finish"
_PHASES = ("load", "compile", "attach", "train", _FINISH)
"""Of a training. An evaluation behind it says nothing of its steps."""


@dataclass(frozen=True, kw_only=True)
class LastEvents:
    """What the file of a process of a training ends with. `step`: the last one with a loss, 0 without any; `gap`:
    between two of these steps, at most; `losses`: their names; `last`: the last step with any value, 0 without any;
    `progress`: the last of the training itself."""

    rank: int
    pid: int
    step: int
    gap: int
    losses: frozenset[str]
    last: int
    progress: Progress | None

    @property
    def counts_by_log(self) -> bool:
        """Whether its progress is that of all processes of the training, by the lines that they printed."""
        return self.progress is not None and bool(self.progress.log_unit)

    @property
    def reached(self) -> int:
        if self.progress and self.counts_by_log:
            return self.progress.done
        return max(self.step, self.progress.done if self.progress else 0)

    @property
    def kind(self) -> frozenset[str]:
        """The losses by which it is compared with other ranks: one of them may evaluate for all."""
        return self.losses & {"loss"} or self.losses

    @property
    def has_finished(self) -> bool:
        """Whether the training told that it came to its own end, which may be an early one."""
        progress = self.progress
        return progress is not None and (progress.phase == _FINISH or self.reached >= progress.total > 0)

    @property
    def has_length(self) -> bool:
        """Whether it is known how many steps were meant: the training told it, or that it came to its own end."""
        return self.progress is not None and (self.progress.total > 0 or self.progress.phase == _FINISH)

    @property
    def is_early(self) -> bool:
        """Whether steps that were announced are missing. A script may record some of its steps alone."""
        progress = self.progress
        gap = 1 if self.counts_by_log else self.gap  # who reads the log has seen how it counts
        return progress is not None and not self.has_finished and self.reached + gap <= progress.total


def early_end(folder: Path, attempt: int, left_at_once: Collection[int] = ()) -> Finding | None:
    """Return what is told of a training that ended before its last step, where the number of its steps is known or
    other ranks went further, or that left by os._exit, wherever it was. `left_at_once`: pids of processes that did.
    Raises OSError."""
    processes = _processes(folder, attempt)
    findings = (*_before_total(processes), *_behind_others(processes), *_at_once(processes, left_at_once))
    return next(iter(findings), None)


def unknown_length(folder: Path, attempt: int) -> Note | None:
    """Return what a training covered whose meant number of steps nobody told, None where it is known or where no step
    was recorded. Raises OSError."""
    processes = _processes(folder, attempt)
    last = max((process.last for process in processes), default=0)
    if not last or any(process.has_length for process in processes):
        return None
    return Note(key=LENGTH_UNKNOWN, args={"step": last})


def has_told_end(folder: Path, attempt: int) -> bool:
    """Return whether a process of an attempt told that it came to its own end. Raises OSError."""
    return any(process.has_finished for process in _processes(folder, attempt))


def _processes(folder: Path, attempt: int) -> list[LastEvents]:
    """Return what the processes of an attempt left. Raises OSError."""
    names = [(name, owner) for name in sorted(os.listdir(folder)) if (owner := process_of(name))]
    return [_last_events(folder / name, rank, pid) for name, (number, rank, pid) in names if number == attempt]


def _last_events(path: Path, rank: int, pid: int) -> LastEvents:
    events, _ = decode(b"\n".join(last_lines(path, _END_BYTES)))
    all_metrics = [event for event in events if isinstance(event, Metric)]
    metrics = [metric for metric in all_metrics if any(map(is_loss, metric.values))]
    progress = [event for event in events if isinstance(event, Progress) and event.phase in _PHASES]
    steps = sorted({metric.step for metric in metrics})
    return LastEvents(
        rank=rank, pid=pid, step=steps[-1] if steps else 0,
        gap=max((after - before for before, after in pairwise(steps)), default=1),
        losses=frozenset(name for metric in metrics for name in metric.values if is_loss(name)),
        last=max((metric.step for metric in all_metrics), default=0),
        progress=progress[-1] if progress else None,
    )  # fmt: skip


def _before_total(processes: Sequence[LastEvents]) -> Iterator[Finding]:
    for process in processes:
        others = (other for other in processes if other.rank == process.rank and other is not process)
        is_continued = not process.counts_by_log and any(other.reached > process.reached for other in others)
        if process.is_early and process.progress and not is_continued:
            args = {"rank": process.rank, "step": process.reached, "total": process.progress.total}
            rule = EPOCH_RULE if process.progress.log_unit == "epochs" else STEP_RULE
            yield Finding(rule=rule, severity="warning", args=args)


def _behind_others(processes: Sequence[LastEvents]) -> Iterator[Finding]:
    """Yield the rank that is behind, of those with the same losses: others train something else, or count otherwise.
    One step less is a batch that was not full."""
    for kind in {process.kind: None for process in processes if process.losses}:
        last: dict[int, LastEvents] = {}
        for process in sorted(processes, key=_step_of):
            if process.kind == kind:
                last[process.rank] = process
        behind, furthest = min(last.values(), key=_step_of), max(last.values(), key=_step_of)
        if behind.step + 2 * behind.gap <= furthest.step:
            args = {"rank": behind.rank, "step": behind.step, "last": furthest.step}
            yield Finding(rule=RANK_RULE, severity="warning", args=args)


def _step_of(process: LastEvents) -> int:
    return process.step


def _at_once(processes: Sequence[LastEvents], pids: Collection[int]) -> Iterator[Finding]:
    if any(process.counts_by_log and process.has_finished for process in processes):
        return
    for process in processes:
        if process.pid in pids and process.step and not process.has_finished:
            args = {"rank": process.rank, "step": process.step}
            yield Finding(rule=AT_ONCE_RULE, severity="warning", args=args)
