"""A comparison of losses, in the worker: once, or again and again while the runs train."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.losses import result
from backends.precision.losses.compare import Curve, LossJudgement, curve_of, judge_losses
from backends.precision.losses.ranks import judge_ranks
from backends.precision.losses.result import LOSSES_FILE
from studio import run as runs
from studio.errors import StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED
from studio.series import Curves
from studio.supervisor import STOP
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.losses.ranks import RankJudgement
    from backends.precision.losses.spec import LossesSpec
    from studio.run import Run

POLL_SECONDS = 1.0
"""Seconds between two looks at runs that train."""
FAILURES = ("failed", "lost", "gone")
"""Outcomes of runs whose losses may end early."""
MAX_RANKS = 16
MAX_SHARE = 10.0
"""A relative error above which its digits say nothing."""


def compare_losses(spec: LossesSpec, run: Run) -> Ended:
    """Leaves artifacts/losses.json. Raises StudioError and OSError."""
    journal = Journal(run.folder, 1)
    comparing = Comparing(spec, run, journal)
    while True:
        are_over = comparing.are_over()
        judgement = comparing.judge_curves()
        if are_over or not spec.judging.follow:
            return comparing.end(judgement)
        if STOP.stop_requests:
            return Ended(code=STOPPED, reason="stopped")
        time.sleep(POLL_SECONDS)


class Watched:
    """One run's curves, read on."""

    def __init__(self, folder: Path) -> None:
        self.run = runs.open_run(folder)
        self._tail = RunTail(folder)
        self._curves = Curves()

    def curve(self, metric: str) -> Curve | None:
        """Return the curve of the lowest rank that has the metric."""
        curves = self.curves(metric)
        return curves[min(curves)] if curves else None

    def curves(self, metric: str) -> dict[int, Curve]:
        """Return the curve of each rank that has the metric; later attempts hide what they went over again."""
        while news := list(self._tail.read()):
            for attempt, rank, events in news:
                self._curves.extend(attempt, rank, events)
        return {
            rank: curve_of(series.steps, series.values)
            for (rank, name), series in self._curves.series.items()
            if name == metric
        }

    def names(self) -> list[str]:
        return self._curves.names()

    def is_over(self) -> bool:
        return runs.glance(self.run).state in runs.OVER


class Comparing:
    def __init__(self, spec: LossesSpec, run: Run, journal: Journal) -> None:
        self.spec, self.run, self.journal = spec, run, journal
        self.target, self.golden = Watched(spec.runs.target_run), Watched(spec.runs.golden_run)
        self.again = Watched(spec.runs.noise_run) if spec.runs.noise_run != Path() else None
        self.done = -1
        self.of_ranks: RankJudgement | None = None

    def are_over(self) -> bool:
        """Asked before the last judge_curves, so that no step is missed. A step count that both have reached is
        enough."""
        max_steps = self.spec.judging.loss_steps
        return all(curve.is_over() for curve in self._watched()) or bool(max_steps and self.done >= max_steps)

    def _watched(self) -> tuple[Watched, ...]:
        return (self.target, self.golden, *([self.again] if self.again else []))

    def judge_curves(self) -> LossJudgement | None:
        """None as long as one of them has no such metric."""
        metric = self.spec.judging.metric
        target, golden = self.target.curves(metric), self.golden.curves(metric)
        again = self.again.curves(metric) if self.again else {}
        if not target or not golden or (self.again and not again):
            return None
        self.of_ranks = judge_ranks(target, golden, again, self._judged, self.spec.judging.loss_steps)
        judgement = self._whole(self.of_ranks.judgement)
        if judgement.distance.steps != self.done:
            self.done = judgement.distance.steps
            result.write_losses(self.run, metric, judgement, self.of_ranks)
            self.journal.write(Progress(done=self.done, total=self.spec.judging.loss_steps or 0, phase="check"))
        return judgement

    def _judged(self, target: Curve, golden: Curve, again: Curve | None) -> LossJudgement:
        judging = self.spec.judging
        return judge_losses(target, golden, again, steps=judging.loss_steps, allow=judging.allow_losses)

    def _whole(self, judgement: LossJudgement) -> LossJudgement:
        """Return a judgement that is no pass where a run failed: how many steps there should be is not known of the
        golden run, and the target is no training that works."""
        if judgement.verdict != "pass" or self.spec.judging.loss_steps is not None:
            return judgement
        if runs.outcome_of(runs.glance(self.golden.run)) in FAILURES:
            return dataclasses.replace(judgement, verdict="golden_failed")
        if runs.outcome_of(runs.glance(self.target.run)) in FAILURES:
            return dataclasses.replace(judgement, verdict="target_failed")
        return judgement

    def end(self, judgement: LossJudgement | None) -> Ended:
        if judgement is None:
            lacking = next(run for run in self._watched() if run.curve(self.spec.judging.metric) is None)
            raise StudioError(
                "precision.losses.no_metric", run=lacking.run.name, metric=self.spec.judging.metric,
                known=", ".join(lacking.names()[:20]) or "-",
            )  # fmt: skip
        self.journal.write(Artifact(kind="losses", path=LOSSES_FILE))
        args = sentence_args(judgement)
        lone = self.of_ranks.lone_nonfinite if self.of_ranks else None
        args["lone_rank"], args["lone_step"] = lone or (0, 0)
        self.journal.write(Note(key=f"precision.losses.limits_{self._limit_origin(judgement)}", args=args))
        self.journal.write(Note(key="precision.losses.limits_spikes", args=args))
        self.journal.write(*self._remarks(judgement))
        if judgement.verdict in ("pass", "incomplete") and not self.are_over():
            self.journal.write(Finding(rule="precision.losses.running", severity="warning", args=args))
            return Ended(code=NO, reason="incomplete")
        if judgement.verdict == "pass":
            is_cut = judgement.expected < judgement.all_steps
            self.journal.write(Note(key=f"precision.losses.pass{'_cut' if is_cut else ''}", args=args))
            return Ended(code=0)
        self.journal.write(Finding(rule=verdict_key(judgement), severity="warning", args=args))
        return Ended(code=NO, reason="incomplete" if judgement.verdict in ("incomplete", "lone_ranks") else "no")

    def _remarks(self, judgement: LossJudgement) -> Iterator[Finding]:
        """Yield what the verdict does not show: runs that failed, noise of fewer steps, and a golden loss of 0."""
        for watched in self._watched():
            glance = runs.glance(watched.run)
            outcome = runs.outcome_of(glance)
            if outcome in FAILURES:
                args: dict[str, object] = {"run": watched.run.name, "code": "–" if glance.code is None else glance.code}
                yield Finding(rule=f"precision.losses.run_{outcome}", severity="warning", args=args)
        yield from _rank_remarks(self.of_ranks)
        distance, noise = judgement.distance, judgement.noise
        if noise is not None and 0 < noise.steps < distance.steps:
            args = {"noise_steps": noise.steps, "steps": distance.steps}
            yield Finding(rule="precision.losses.noise_short", severity="warning", args=args)
        if distance.zero_golden is not None:
            args = {"step": distance.zero_golden, "max_abs": f"{distance.max_abs:.3g}"}
            yield Finding(rule="precision.losses.golden_zero", severity="warning", args=args)

    def _limit_origin(self, judgement: LossJudgement) -> str:
        if self.spec.judging.allow_losses is not None:
            return "asked"
        if judgement.noise is None:
            return "default"
        return f"default_{judgement.noise_problem}" if judgement.noise_problem else "noise"


def _rank_remarks(of_ranks: RankJudgement | None) -> Iterator[Finding]:
    """Yield which ranks were compared, where there is more than one."""
    if of_ranks is None or (len(of_ranks.ranks) < 2 and not of_ranks.lacking):
        return
    lacking = _numbers(of_ranks.lacking) or "–"
    if of_ranks.is_mean:
        yield Finding(rule="precision.losses.ranks_mean", severity="info", args={"lacking": lacking})
        return
    args = {"ranks": _numbers(of_ranks.ranks), "rank": of_ranks.rank, "lacking": lacking}
    yield Finding(rule="precision.losses.ranks", severity="warning" if of_ranks.lacking else "info", args=args)


def verdict_key(judgement: LossJudgement) -> str:
    """Return the key of the sentence; of losses that differ, by the first measure that is over its limit."""
    if judgement.verdict == "differs":
        return f"precision.losses.differ_{judgement.exceeded[0]}"
    return f"precision.losses.{judgement.verdict}"


def sentence_args(judgement: LossJudgement) -> dict[str, object]:
    """For the sentences: figures as they are written there."""
    distance = judgement.distance
    first, last = distance.window_steps or (0, 0)
    shift_first, shift_last = distance.shift_steps or (0, 0)
    return {
        "steps": distance.steps, "expected": judgement.expected, "mean_abs": f"{distance.mean_abs:.3g}",
        "mean_rel": _percent(distance.mean_rel), "limit": f"{judgement.limit:.3%}",
        "max_rel": _percent(distance.max_rel), "max_step": distance.max_rel_step or 0,
        "window": _percent(distance.window), "first": first, "last": last,
        "window_limit": f"{judgement.window_limit:.3%}", "step_limit": f"{judgement.step_limit:.3%}",
        "step": distance.nonfinite or distance.both_nonfinite or 0,
        "beyond": judgement.first_beyond or 0, "trend": _percent(abs(distance.trend)),
        "trend_limit": f"{judgement.trend_limit:.3%}", "shift": _percent(distance.shift),
        "shift_limit": f"{judgement.shift_limit:.3%}", "shift_first": shift_first, "shift_last": shift_last,
        "all_steps": judgement.all_steps, "spikes": judgement.spikes.count,
        "spike_limit": f"{judgement.spike_limit:.3%}", "spikes_allowed": judgement.spikes_allowed,
        **_burst_args(judgement),
        "spike_steps": ", ".join(map(str, judgement.spikes.steps)) or "–",
    }  # fmt: skip


def _burst_args(judgement: LossJudgement) -> dict[str, object]:
    first, last = judgement.burst.steps or (0, 0)
    return {
        "burst": _percent(judgement.burst.error), "burst_limit": f"{judgement.burst.limit:.3%}", "burst_first": first,
        "burst_last": last,
    }  # fmt: skip


def _numbers(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:MAX_RANKS])) + (" …" if len(ranks) > MAX_RANKS else "")


def _percent(share: float) -> str:
    """Return a relative error as a person reads it; what is relative to nothing is only large."""
    if math.isnan(share):
        return "-"
    return f"{share:.3%}" if share < MAX_SHARE else f">{MAX_SHARE:.0%}"
