"""Check first, in the worker: try a few steps, measure, try larger micro batches, tell."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from backends.common import explain
from backends.launch.check import figures
from backends.launch.check.answer import FILE, Answer, Refusal
from backends.launch.check.guard import Limits, end_left_over
from backends.launch.check.host import PART, Load, free_memory
from backends.launch.check.largest import Largest, Point, search_largest
from backends.launch.check.messages import answer_values, messages
from backends.launch.check.trial import Trial, spec_of, try_out
from backends.launch.checkpoints import step_of
from backends.launch.recipes import RECIPES, readers, resolved, workers
from backends.launch.spec import LaunchSpec
from studio import files, machine, schema
from studio.errors import Stopped
from studio.events import Artifact, Ended, Finding, Journal, Metric, Note, Progress
from studio.exit_codes import NO, STOPPED
from studio.units import duration, size

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.check.spec import CheckSpec
    from studio.run import Run

TRIALS = "trials"
SPACE = 64 * 10**6
"""Bytes that stay free on the disk of the runs, whatever is checked."""
MIN_STEPS = 3  # steps: the first, which is no measure, and two that are
MORE_SECONDS = 3.0
ENOUGH = 12
"""Steps whose mean is known to half of what they vary by (Student's 1.8 / sqrt(12))."""
MAX_STEPS = 400
LAUNCHER_BYTES = 10**9
"""What msrun's scheduler and the studio's own watch hold beside the workers: MindSpore is loaded once more."""
STEPS_FOR_MEMORY = 2
SHARE, SHARE_WITH_LARGEST = 0.9, 0.5
RESERVE = 1.5
"""Times that a short trial took that a longer one may take beside its steps."""
REPEATS = 3
"""Times that a short trial took that must be left, so that one more tells how much starts differ."""


def check_first(spec: CheckSpec, run: Run) -> Ended:
    """Leaves artifacts/check.json; of the trials only their events stay."""
    folder = run.folder / TRIALS
    end_left_over(folder)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return Checking(spec, run).check()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")


class Checking:
    """One check: its trials share its limits."""

    def __init__(self, spec: CheckSpec, run: Run) -> None:
        self.spec = spec
        self.run = run
        self.journal = Journal(run.folder, 1)
        self.end = time.monotonic() + spec.check.time_limit
        chosen_limit = spec.check.memory_limit
        self.limit = (
            chosen_limit * 10**6 if chosen_limit is not None else int(PART * free_memory() / on_this_host(spec))
        )
        self.count = 0
        self.load = Load()

    @property
    def limit_of_all(self) -> int:
        """Bytes that all processes of a trial may hold together."""
        count = on_this_host(self.spec)
        return self.limit if count == 1 else count * self.limit + LAUNCHER_BYTES

    @property
    def left(self) -> float:
        """Seconds of the time limit."""
        return self.end - time.monotonic()

    def check(self) -> Ended:
        args = {"memory": size(self.limit), "seconds": duration(self.spec.check.time_limit)}
        self.journal.write(Note(key="launch.check.limits", args=args))
        batch = resolved(self.spec).batch
        first = self.trial(batch, MIN_STEPS)
        if first.summary is None:
            return self.failed(first)
        trials = [first]
        if (steps := self.more_steps(first)) > MIN_STEPS:
            trials.append(self.trial(batch, steps))
        if self.left > REPEATS * first.guarded.seconds:
            trials.append(self.trial(batch, MIN_STEPS))
        trials = [trial for trial in trials if trial.summary]
        return self.report(trials, self.largest(trials) if self.spec.check.largest else None)

    def trial(self, batch: int, steps: int) -> Trial:
        """Raises Stopped, and OSError on a full disk."""
        self.count += 1
        self.journal.write(
            Progress(done=self.count, total=0, phase="check"),
            Note(key="launch.check.trial", args={"batch": batch, "steps": steps}),
        )
        folder = self.run.folder / TRIALS / str(self.count)
        limits = Limits(memory=self.limit_of_all, seconds=max(0.0, self.left), space=SPACE)
        outcome = try_out(spec_of(self.spec, batch, steps), folder, self.run, limits)
        self.clean(folder)
        if outcome.guarded.cut == "stopped":
            raise Stopped
        return outcome

    def clean(self, folder: Path) -> None:
        """Only the record of a trial stays: what it computed is nobody's training."""
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)

    def more_steps(self, first: Trial) -> int:
        """How many steps to measure again, since two tell little: enough for an error of their own, or as many as the
        time allows."""
        pace = max(figures.pace_of(first), 1e-6)
        share = SHARE_WITH_LARGEST if self.spec.check.largest else SHARE
        affordable = min(max(MORE_SECONDS, ENOUGH * pace), share * (self.left - RESERVE * first.guarded.seconds))
        return min(MAX_STEPS, 1 + int(affordable / pace))

    def largest(self, trials: list[Trial]) -> Largest:
        last = trials[-1]
        max_batch = max_samples(self.spec)
        highest = max(trial.peak for trial in trials)
        around, pace = trials[0].guarded.seconds, figures.pace_of(*trials)

        def is_affordable(batch: int) -> bool:
            return around + STEPS_FOR_MEMORY * pace * batch / last.batch < self.left

        return search_largest(
            [Point(batch=last.batch, peak=highest)], self.limit, max_batch, is_affordable, self.attempt
        )

    def attempt(self, batch: int) -> Point | None:
        trial = self.trial(batch, STEPS_FOR_MEMORY)
        if trial.guarded.cut == "memory" or is_out_of_memory(trial):
            return Point(batch=batch, peak=trial.guarded.peak // on_this_host(self.spec), fits=False)
        return Point(batch=batch, peak=trial.peak) if trial.summary else None

    def report(self, trials: list[Trial], largest: Largest | None) -> Ended:
        answer = self.answer(trials, largest)
        files.write_json(self.run.folder / FILE, answer)
        self.journal.write(
            Artifact(kind="check", path=FILE), *messages(answer), Metric(step=0, values=answer_values(answer))
        )
        return Ended(code=0)

    def answer(self, trials: list[Trial], largest: Largest | None) -> Answer:
        steps, last = figures.steps_left(self.spec, step_of(self.spec.keep.resume) or 0), trials[-1]
        trial_steps = [trial.steps for trial in trials]
        seconds = figures.total_of(trials, steps, 1).value
        on_card = [float(trial.summary.card_peak_bytes) for trial in trials if trial.summary]
        written = figures.checkpoints_written(self.spec, steps, seconds)
        return Answer(
            device=last.device,
            batch=last.batch,
            steps=steps,
            measured=sum(len(steps_of_trial) - 1 for steps_of_trial in trial_steps),
            step=figures.step_of(*trial_steps),
            first=figures.mean_of([steps_of_trial[0] for steps_of_trial in trial_steps]),
            peak=figures.highest_of([float(trial.peak) for trial in trials]),
            card_peak=figures.highest_of(on_card) if all(on_card) else None,
            limit=self.limit,
            total=figures.total_of(trials, steps, written),
            disk=figures.disk_of(self.spec, last.checkpoint, written),
            free=machine.free_space(self.run.folder),
            workers=workers(self.spec),
            busy=self.load.cores_of_others(),
            cores=machine.machine().cores,
            largest=largest,
        )

    def failed(self, trial: Trial) -> Ended:
        """Why there is no answer; memory that does not suffice is one: no."""
        cut = trial.guarded.cut
        if cut == "memory" or is_out_of_memory(trial):
            files.write_json(self.run.folder / FILE, Refusal(batch=trial.batch, limit=self.limit, refused=True))
            args = {"batch": trial.batch, "limit": size(self.limit)}
            self.journal.write(Finding(rule="launch.check.no_memory", severity="warning", args=args))
            return Ended(code=NO, reason="no")
        if cut == "time":
            args = {"seconds": duration(self.spec.check.time_limit), "steps": len(trial.steps)}
            self.journal.write(Finding(rule="launch.check.no_time", severity="error", args=args))
            return Ended(code=1)
        if cut == "space":
            args = {"space": size(SPACE), "folder": str(self.run.folder.parent)}
            self.journal.write(Finding(rule="launch.check.no_space", severity="error", args=args))
            return Ended(code=1)
        ended = Ended(code=trial.guarded.code or 1)
        self.journal.write(*trial.errors)
        with suppress(OSError):
            self.journal.write(*explain.findings(self.run.folder, ended))
        return ended


def on_this_host(spec: LaunchSpec) -> int:
    """Workers that share its memory, and train together in a trial."""
    return 1 if spec.parallel.parallel == "none" else spec.parallel.workers


def max_samples(spec: LaunchSpec) -> int:
    """The largest micro batch that could be asked for."""
    highest = int(schema.field_of(LaunchSpec, "batch").high or 1)
    samples = RECIPES[spec.what.recipe].samples
    return highest if samples is None else min(highest, samples // (spec.how.accumulate * readers(spec)))


def is_out_of_memory(trial: Trial) -> bool:
    """As the framework itself says it, of a card's memory too."""
    return any(finding.rule == "launch.out_of_memory" for finding in trial.errors)
