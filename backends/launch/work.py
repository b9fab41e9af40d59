"""Launch, in the worker: keep what is about to run, run it, and say why it failed if it did."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import explain
from backends.common.nonfinite_losses import judged_end
from backends.launch.capture import state
from backends.launch.capture.planned import missing_parts
from backends.launch.early_end import early_end, unknown_length
from backends.launch.idle_options import idle_ascend_options
from backends.launch.launchers import python_of
from backends.launch.plan import launch_command, write_inputs
from studio import paths, processes, schema
from studio.code.record import keep_code_state
from studio.events import Ended, Finding, Journal
from studio.faults.held_folder import current_folder
from studio.supervisor import supervise

if TYPE_CHECKING:
    from collections.abc import Collection

    from backends.launch.spec import LaunchSpec
    from studio.run import Run


def launch(spec: LaunchSpec, run: Run) -> Ended:
    if not (run.folder / "code.json").exists():
        keep_code_state(run.folder, Path(run.request.project or paths.ROOT), python_of(spec))
    if not (run.folder / "training.json").exists():
        state.request_planned(run.folder, schema.effective(spec).planned)
        write_inputs(spec, run.folder)
        _note_idle_options(spec, run)
    ended = supervise(launch_command(spec, run), run, spec.advanced.grace)
    return end_training(run, ended)


def _note_idle_options(spec: LaunchSpec, run: Run) -> None:
    """The command line refuses them; a window keeps what was chosen for another device."""
    if options := idle_ascend_options(spec):
        finding = Finding(rule="launch.idle_options", severity="warning", args={"options": ", ".join(options)})
        Journal(run.folder, 1).write_or_keep(finding)


def end_training(
    run: Run, ended: Ended, left_at_once: Collection[int] = (), *, is_cut: bool = False, first_ended: int | None = None
) -> Ended:
    """Return the end of a training, judged by its losses, its last step and what was planned for it where it ended
    well, and add to its events what is known of a failure, of these losses, or of what is missing. `left_at_once`: pids
    of processes that left by os._exit. `is_cut`: it was to end before its last step. `first_ended`: the rank whose
    process ended before the others, where that is known."""
    folder = current_folder(run.folder)
    mark = processes.read_mark(folder / "training.json")
    attempt = mark.attempt if mark else 1
    with suppress(OSError):
        judged, findings = judged_end(folder, attempt, ended)
        if not (ended.code or ended.reason or is_cut):
            if early := early_end(folder, attempt, left_at_once):
                findings = [*findings, early]
                judged = judged if judged.reason else Ended(code=0, reason="incomplete")
            elif covered := unknown_length(folder, attempt):
                Journal(run.folder, attempt).write_or_keep(covered)
        if not (ended.code or ended.reason) and (missing := missing_parts(folder)):
            findings = [*missing, *findings]  # the last one of those is what is told in one sentence
            judged = judged if judged.reason else Ended(code=0, reason="incomplete")
        Journal(run.folder, attempt).write_or_keep(*explain.findings(folder, judged, first_ended), *findings)
        return judged
    return ended
