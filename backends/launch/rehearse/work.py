"""A rehearsal, in the worker: run the program under the guest's redirection, and tell what came of it."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.common import card_memory
from backends.common.rehearsal import FILE, OPERATORS, Report, uses_device
from backends.launch.capture import state
from backends.launch.early_end import has_told_end
from backends.launch.own.plan import check_program, program_command
from backends.launch.own.work import end_of_processes, keep_code
from backends.launch.plan import HOOKS, hooks_of
from backends.launch.rehearse import inventory, memory, report
from backends.launch.rehearse.limits import END, Limits
from backends.launch.rehearse.spec import own_of
from backends.launch.virtual_npu import CARD_MEMORY, DEVICES, FAKE, NPU_DEVICE, SEED, STEPS
from backends.launch.work import end_training
from studio import processes
from studio.errors import from_os
from studio.events import Artifact, Ended, Finding, Journal, Note
from studio.exit_codes import NO
from studio.run import located
from studio.supervisor import supervise
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.common.card_memory import MemoryReport
    from backends.common.rehearsal import Fallback
    from backends.launch.rehearse.report import Part
    from backends.launch.rehearse.spec import RehearseSpec
    from studio.command import Command
    from studio.errors import StudioError
    from studio.run import Run

GRACE = 10.0
MAX_FALLBACKS = 10  # that are findings; the report has all
DONE = {
    "cuda": "launch.rehearse.done_cuda", "npu": "launch.rehearse.done_npu", "virtual": "launch.rehearse.done_virtual",
    "cpu": "launch.rehearse.done_cpu", "fake": "launch.rehearse.done_fake",
}  # fmt: skip


def rehearse(spec: RehearseSpec, run: Run) -> Ended:
    """Leaves artifacts/rehearsal.json and artifacts/operators.csv; of a virtual NPU also memory.json and
    operators.json."""
    command = rehearsal_command(spec, run)
    mark = processes.read_mark(run.folder / "training.json")
    journal = Journal(run.folder, mark.attempt if mark else 1)
    if mark is None:
        check_program(command, own_of(spec))
        keep_code(own_of(spec), run)
        state.request_planned(run.folder, spec.planned)
    limits = Limits(spec.rehearsal, run, journal)
    leftovers: set[int] = set()
    ended = supervise(command, run, GRACE, tick=limits.tick, linger=math.inf, leftovers=leftovers)
    begun_in, run = run.folder, located(run)
    (run.folder / END).unlink(missing_ok=True)
    ended, findings = (
        (ended, []) if limits.reached else end_of_processes(run, ended, leftovers, is_moved=run.folder != begun_in)
    )
    reported = report_end(spec, run, journal, ended, limits.reached)
    journal.write_or_keep(*findings)
    return reported


def rehearsal_command(spec: RehearseSpec, run: Run, environ: Mapping[str, str] = os.environ) -> Command:
    chosen = spec.rehearsal
    command = program_command(own_of(spec), run, environ)
    hooks = hooks_of(spec.planned, "curves", "captures", f"rehearse={chosen.stance}")
    env = {**command.env, HOOKS: hooks, DEVICES: str(chosen.host_cards)}
    if chosen.stance == "npu":
        env |= {NPU_DEVICE: "virtual" if chosen.fake else chosen.npu_device, CARD_MEMORY: str(chosen.card_memory)}
        if chosen.fake:
            env[FAKE] = "1"
    if chosen.steps is not None:
        env[STEPS] = str(chosen.steps)
    if chosen.seed is not None:
        env = {"PYTHONHASHSEED": "0", **env, SEED: str(chosen.seed)}  # by which a set of names has its order
    return replace(command, env=env)


def report_end(spec: RehearseSpec, run: Run, journal: Journal, ended: Ended, limit: str) -> Ended:
    parts = report.read_parts(run.folder)
    rows = report.rows_of(parts)
    held = memory.memory_of(parts)
    listed = None if held is None else inventory.inventory_of(parts, rows)
    rehearsal = assembled(spec, run, parts, ended, limit, held)
    try:
        report.write_report(run, rehearsal, rows, held, listed)
    except OSError as error:
        return _lost(journal, from_os(error, run.folder))
    journal.write_or_keep(Artifact(kind="rehearsal", path=FILE), Artifact(kind="operators", path=OPERATORS))
    journal.write_or_keep(summary(rehearsal), *map(fallback_finding, rehearsal.fallbacks[:MAX_FALLBACKS]))
    if held is not None and listed is not None:
        journal.write_or_keep(Artifact(kind="memory", path=card_memory.FILE))
        journal.write_or_keep(*inventory.inventory_events(listed, rehearsal.steps), *memory.memory_events(held))
    if ended.reason == "stopped":
        return ended
    if rehearsal.answer is False:
        if held is None or held.fit != "beyond":
            journal.write_or_keep(refusal(rehearsal, ended))
        return Ended(code=NO, reason="no")
    if held is not None and held.is_fake and not ended.code and not _is_shown(held):
        journal.write_or_keep(Finding(rule="launch.rehearse.not_shown", severity="warning"))
        return Ended(code=NO, reason="incomplete")
    ended = Ended(code=0) if limit else ended
    is_short = rehearsal.answer is None and not ended.code
    if is_short:
        journal.write_or_keep(short_finding(rehearsal.steps, spec.rehearsal.steps))
    judged = end_training(run, ended, is_cut=rehearsal.ended != "script")
    return judged if judged.reason or judged.code or not is_short else Ended(code=0, reason="incomplete")


def short_finding(steps: int, max_steps: int | None) -> Finding:
    """Say how many steps came of those that were asked for."""
    if not steps:
        return Finding(rule="launch.rehearse.no_step", severity="warning")
    return Finding(rule="launch.rehearse.short", severity="warning", args={"steps": steps, "asked": max_steps})


def _is_shown(held: MemoryReport) -> bool:
    """Return whether a rehearsal without numbers has shown that the training fits."""
    return held.is_whole and held.fit == "fits"


def _lost(journal: Journal, error: StudioError) -> Ended:
    """Whoever asked for the report is not told that all is well without it."""
    journal.write_or_keep(Finding(rule=error.key, severity="error", args=error.values))
    return Ended(code=1)


def assembled(
    spec: RehearseSpec, run: Run, parts: list[Part], ended: Ended, limit: str, held: MemoryReport | None = None
) -> Report:
    steps = max((part.steps for part in parts), default=0)
    redirected, blocked = report.redirected_in(parts), report.blocked_in(parts)
    max_steps = spec.rehearsal.steps
    why = limit or ("steps" if max_steps is not None and steps >= max_steps else "script")
    device_operators = sum(part.device_operators for part in parts)
    is_refused = spec.rehearsal.stance == "npu" and (
        any(call.kind == "disabled" for call in blocked)
        or (bool(ended.code) and not limit and any(call.kind == "raised" for call in blocked))
        or (steps > 0 and not uses_device(redirected, device_operators))
        or _is_beyond_a_card(held, ended, limit)
    )
    return Report(
        stance=spec.rehearsal.stance,
        device=next((part.device for part in parts), "cpu"),
        device_operators=device_operators,
        steps=steps,
        losses=report.losses_of(run.folder),
        redirected=redirected,
        blocked=blocked,
        operators=len({row[0] for part in parts for row in part.operators}),
        processes=len(parts),
        ended=why,
        answer=False if is_refused else None if _is_short(run, steps, max_steps) else True,
        traces=tuple(part.trace for part in parts if part.trace),
        fallbacks=report.fallbacks_in(parts),
        is_fake=held is not None and held.is_fake,
    )


def _is_short(run: Run, steps: int, max_steps: int | None) -> bool:
    """Return whether fewer steps came than were asked for; a training that told its own end has no more of them."""
    if steps >= (max_steps or 1):
        return False
    mark = processes.read_mark(run.folder / "training.json")
    with suppress(OSError):
        return not (steps and has_told_end(run.folder, mark.attempt if mark else 1))
    return True


def _is_beyond_a_card(held: MemoryReport | None, ended: Ended, limit: str) -> bool:
    """Return whether a card has too little memory. A computed script may catch that, and go on with less."""
    is_ended_by_it = bool(ended.code) and not limit
    return held is not None and held.fit == "beyond" and (held.is_fake or is_ended_by_it)


def summary(rehearsal: Report) -> Note:
    args = {
        "steps": rehearsal.steps, "redirected": sum(rehearsal.redirected.values()), "blocked": len(rehearsal.blocked),
        "operators": rehearsal.operators, "device_operators": rehearsal.device_operators,
    }  # fmt: skip
    kind = "fake" if rehearsal.is_fake else "virtual" if rehearsal.is_virtual else rehearsal.stance
    return Note(key=DONE[kind], args=args)


def fallback_finding(fallback: Fallback) -> Finding:
    """What an operator without a kernel would cost on a card, at the line of the script that needs it."""
    rule = "launch.rehearse.falls_back" if fallback.kind == "fallback" else "launch.rehearse.may_fall_back"
    args = {"operator": fallback.operator, "calls": fallback.calls, "moved": size(fallback.bytes_moved)}
    return Finding(rule=rule, severity="warning", path=fallback.path, line=fallback.line, args=args)


def refusal(rehearsal: Report, ended: Ended) -> Finding:
    """Why an NPU host would not do it, at the first place that says so."""
    kinds = ("raised", "disabled") if ended.code else ("disabled", "asked")
    first = next((call for kind in kinds for call in rehearsal.blocked if call.kind == kind), None)
    if first is None:
        return Finding(rule="launch.rehearse.no_device", severity="error")
    rule = "launch.rehearse.no_device" if first.kind == "asked" else "launch.rehearse.refused"
    args = {} if first.kind == "asked" else {"message": first.message[:300]}
    return Finding(rule=rule, severity="error", path=first.path, line=first.line, args=args)
