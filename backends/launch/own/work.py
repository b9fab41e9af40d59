"""A program of the user's own, in the worker: keep what is about to run, run it, watch it, and say why it failed."""

from __future__ import annotations

import math
import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import logs, npu_devices
from backends.common.device_use import file_for_npu
from backends.launch.capture import state
from backends.launch.own.busy_npus import refuse_busy
from backends.launch.own.failed_processes import first_ended_rank, has_metric, judged_by_processes
from backends.launch.own.limits import Memory, keep_to_cores
from backends.launch.own.plan import check_program, code_locations, folder_of, program_command, python_of, script_of
from backends.launch.own.process_records import left_at_once, process_records
from backends.launch.work import end_training
from studio import files, processes
from studio.code.record import keep_code_state
from studio.events import Finding, Journal, Note, attempt_and_rank
from studio.faults.held_folder import current_folder
from studio.run import exit_code, located
from studio.security.secret_words import masked_words
from studio.supervisor import supervise
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Collection

    from backends.launch.own.spec import OwnSpec
    from studio.events import Ended
    from studio.run import Run

RANK_LOGS = "logs"
OWN = "own"  # pattern, see log_curves


def run_script(spec: OwnSpec, run: Run) -> Ended:
    command = program_command(spec, run)
    if not (run.folder / "training.json").exists():
        check_program(command, spec)
        if not spec.limits.share_cards:
            refuse_busy(command, Journal(run.folder, 1))
        note_idle_options(spec, run)
        offer_rehearsal(spec, run)
        keep_code(spec, run)
        state.request_planned(run.folder, spec.planned)
        keep_to_cores(spec.limits.cores)
    linger = math.inf if spec.ending.wait_all else spec.ending.grace
    watch = Watch(spec, run, command.cwd)
    leftovers: set[int] = set()
    ended = supervise(command, run, spec.ending.grace, tick=watch.tick, linger=linger, leftovers=leftovers)
    begun_in, run = run.folder, located(run)
    watch.finish()
    if ended.code == 0 and not ended.reason:
        watch.report_unread_pattern()
    if ended.code == 0 and spec.recording.curves:
        watch.report_missing()
    if ended.code and not ended.reason:
        report_left_over(run, ended)
    ended, findings = end_of_processes(run, ended, leftovers, is_moved=run.folder != begun_in)
    if ended.code and not ended.reason:
        keep_rank_logs(run, command.cwd)
    ended = end_training(run, ended, _left_at_once(run), first_ended=_first_ended(run))
    # Behind what the log explains: the last error is what is told of a run in one sentence.
    Journal(run.folder, attempt_of(run)).write_or_keep(*findings)
    return ended


def end_of_processes(
    run: Run, ended: Ended, leftovers: Collection[int] = (), *, is_moved: bool = False
) -> tuple[Ended, list[Finding]]:
    """Return the end of a program, judged by its processes where it ended well, and which of them failed. `is_moved`:
    the run's folder was, and none of them could say there how it ended."""
    with suppress(OSError):
        if not is_moved:
            return judged_by_processes(current_folder(run.folder), attempt_of(run), ended, leftovers)
    return ended, []


def _left_at_once(run: Run) -> Collection[int]:
    with suppress(OSError):
        return left_at_once(current_folder(run.folder), attempt_of(run))
    return ()


def _first_ended(run: Run) -> int | None:
    with suppress(OSError):
        return first_ended_rank(current_folder(run.folder), attempt_of(run))
    return None


def note_idle_options(spec: OwnSpec, run: Run) -> None:
    """Say that the choice of cards does nothing on a host without one, and what a choice of more cores than there are
    does."""
    journal = Journal(run.folder, 1)
    if spec.limits.visible and not npu_devices.npu_names():
        journal.write_or_keep(Finding(rule="launch.idle_options", severity="warning", args={"options": "--visible"}))
    available = len(os.sched_getaffinity(0))
    if spec.limits.cores is not None and spec.limits.cores > available:
        args = {"count": spec.limits.cores, "available": available}
        journal.write_or_keep(Finding(rule="launch.own.cores_over", severity="warning", args=args))


def offer_rehearsal(spec: OwnSpec, run: Run) -> None:
    """Name the way without a card, before the training fails for lack of one."""
    project = run.request.project
    path = None if npu_devices.npu_names() else file_for_npu(*code_locations(spec, project))
    if path is None:
        return
    line = shlex.join(masked_words(spec.program.line))
    note = Note(key="launch.own.npu_absent", args={"file": path.name, "line": line})
    Journal(run.folder, 1).write_or_keep(note)


def attempt_of(run: Run) -> int:
    mark = processes.read_mark(run.folder / "training.json")
    return mark.attempt if mark else 1


def report_left_over(run: Run, ended: Ended) -> None:
    """The program ended well, and yet the run did not: what it left running failed."""
    if exit_code(run.folder, attempt_of(run)) == "0":
        finding = Finding(rule="launch.own.left_failed", args={"code": ended.code})
        Journal(run.folder, attempt_of(run)).write_or_keep(finding)


def keep_code(spec: OwnSpec, run: Run) -> None:
    """Raises OSError."""
    if not (run.folder / "code.json").exists():
        folder = Path(run.request.project) if run.request.project else folder_of(spec, "")
        script = script_of(spec, run.request.project)
        keep_code_state(run.folder, folder, python_of(spec, run.request.project), script)


class Watch:
    """What is looked at while a program runs; `tick` is to be called about twice a second and once after its end."""

    def __init__(self, spec: OwnSpec, run: Run, folder: Path) -> None:
        """`folder`: where the program starts."""
        from backends.launch.own.log_curves import OFF, LogCurves
        from backends.launch.own.log_losses import LogLosses
        from backends.launch.own.tensorboard_curves import TensorBoardCurves

        self._folder = run.folder
        self._attempt = attempt_of(run)
        self._journal = Journal(run.folder, self._attempt)
        self._log = LogCurves(run, spec.recording.log_pattern, spec.recording.pattern)
        self._losses = LogLosses(run.log, self._journal)
        begun = run.request.time / 1e9
        is_read = spec.recording.log_pattern != OFF
        self._tensorboard = TensorBoardCurves(folder, begun, self._journal) if is_read else None
        limit = spec.limits.memory
        self._memory = None if limit is None else Memory(limit * 10**6, run.folder, self._journal)
        self._left = 0

    def tick(self) -> None:
        """Raises TooMuch and OSError."""
        if self._memory is not None:
            self._memory.tick()
        self._log.tick()
        self._losses.tick()
        if self._tensorboard is not None:
            with suppress(OSError):  # a full disk: the next tick tries again
                self._tensorboard.tick()
        self._report_left_over()

    def finish(self) -> None:
        """What the log holds beyond its last whole line."""
        with suppress(OSError):
            self._log.finish()
        self._losses.finish()
        if self._tensorboard is not None:
            self._tensorboard.finish()

    def _report_left_over(self) -> None:
        """Once, that the program has ended and that what it started goes on; not of what is just ending too."""
        if self._left < 2 and exit_code(self._folder, self._attempt) == "0":
            count = len(processes.marked(self._folder))
            self._left += bool(count)
            if count and self._left == 2:
                self._journal.write_or_keep(Note(key="launch.own.goes_on", args={"count": count}))

    def report_unread_pattern(self) -> None:
        """That no line of the log fits the pattern that was chosen for it."""
        if pattern := self._log.unread_pattern:
            rule = "launch.own.pattern_unread" if pattern == OWN else "launch.own.log_pattern_unread"
            self._journal.write_or_keep(Finding(rule=rule, severity="warning", args={"pattern": pattern}))

    def report_missing(self) -> None:
        """Why there is no curve, where neither a process of the training nor its log has one; where the log alone has
        one, that no Python could be observed, if none could."""
        folder = current_folder(self._folder)
        with suppress(OSError):
            has_files = self._tensorboard is not None and self._tensorboard.has_files
            if self._log.pattern is None and not has_files and not has_metrics(folder, self._attempt):
                why = why_nothing(folder, self._attempt)
                self._journal.write_or_keep(Finding(rule="hooks.nothing_seen", severity="warning", args={"why": why}))
            elif not process_records(folder, self._attempt):
                self._journal.write_or_keep(Finding(rule="launch.own.not_observed", severity="warning"))


def has_metrics(folder: Path, attempt: int) -> bool:
    """Raises OSError."""
    named = [(name, attempt_and_rank(name)) for name in os.listdir(folder)]
    return any(has_metric(folder / name) for name, numbers in named if numbers and numbers[0] == attempt)


# What a process without a metric leaves, see studio/guest/ascend_studio/missing_metrics.py: the most telling first.
WHY = ("given_up", "no_step", "no_mindspore_step", "no_backward", "no_framework")


def why_nothing(folder: Path, attempt: int) -> str:
    """A key of the catalogue. Raises OSError."""
    left = folder / f"nothing_seen.a{attempt}"
    pids = left.read_text("utf-8", "replace").split() if left.exists() else []
    return next((key for key in (f"hooks.why.{why}" for why in WHY) if key in pids), "launch.own.not_loaded")


def keep_rank_logs(run: Run, folder: Path) -> None:
    """Copy the ends of the logs that a launcher keeps for each process, below `folder`, into a failed run: those that
    were written since it began, of two with one name the newer. Never raises."""
    begun = run.request.time / 1e9
    dated_logs = [(_modified(path), path) for path in logs.rank_logs(folder)]
    for written, path in sorted(dated_logs):
        if written >= begun:
            with suppress(OSError):
                (run.folder / RANK_LOGS).mkdir(exist_ok=True)
                files.write_whole(run.folder / RANK_LOGS / path.name, b"\n".join((*last_lines(path, logs.END), b"")))


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
