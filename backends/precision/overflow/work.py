"""The overflow check, in the worker: our reader over every step and rank, msprobe over every step of torch."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import numbers_of
from backends.precision.dump.gaps import gaps, lacking_records
from backends.precision.dump.layout import find_dumps, refuse_several_captures
from backends.precision.dump.names import source_of
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from backends.precision.dump.read import read_dump
from backends.precision.msprobe.overflow import run_overflow_check
from backends.precision.overflow.first_overflow import (
    blind_tensors,
    first_overflow,
    has_statistics,
    infinite_calls,
    infinite_inputs,
)
from backends.precision.overflow.result import OVERFLOW_FILE, Named, Overflow, OverflowResult
from studio import files
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from backends.precision.dump.dump import DumpLocation
    from backends.precision.overflow.spec import OverflowSpec
    from studio.run import Run

MAX_NAMES = 8
TORCH_ONLY = "precision.overflow.torch_only"


def overflow_check(spec: OverflowSpec, run: Run) -> Ended:
    """Leaves artifacts/overflow.json. What msprobe names is said and decides nothing. Raises StudioError where there is
    nothing to look through."""
    journal = Journal(run.folder, 1)
    try:
        result = _Looking(spec, run, journal).work()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    files.write_json(run.folder / OVERFLOW_FILE, result)
    journal.write(Artifact(kind="overflow", path=OVERFLOW_FILE), *result_notes(result))
    if result.found:
        return Ended(code=NO, reason="no")
    return Ended(code=0) if result.is_whole else Ended(code=NO, reason="incomplete")


class _Looking:
    def __init__(self, spec: OverflowSpec, run: Run, journal: Journal) -> None:
        self.run, self.journal = run, journal
        python = spec.looked.check_python
        self.python = Path(sys.executable) if python == Path() else python
        self.places = _chosen(spec)
        records = [
            f"step{place.step or 0}/rank{place.rank or 0}/{OPTIMIZER_FILE}" for place in lacking_records(self.places)
        ]
        self.empty = (*gaps(self.places, spec.looked.dump, numbers_of(spec.looked.overflow_steps)), *records)
        self.overflows: list[Overflow] = []
        self.named: list[Named] = []
        self.calls, self.done = 0, 0
        self.infinite, self.inputs, self.damaged, self.unread, self.blind = 0, 0, 0, 0, 0
        self.is_torch = True
        self.problem: tuple[str, dict[str, Any]] = ("", {})

    def work(self) -> OverflowResult:
        for step, group in groupby(self.places, key=lambda location: location.step or 0):
            ranks = list(group)
            for location in ranks:
                self._check_rank(location, step)
            self._check_with_msprobe(ranks, step)
        if self.unread and self.unread + self.damaged == len(self.places):
            raise StudioError("precision.overflow.no_statistics", place=str(self.places[0].folder))
        problem, args = self.problem
        return OverflowResult(
            passes=len(self.places), calls=self.calls, infinite=self.infinite, inputs=self.inputs, damaged=self.damaged,
            unread=self.unread, blind=self.blind, empty=self.empty, found=tuple(self.overflows),
            named=tuple(self.named), problem=problem, args=args,
        )  # fmt: skip

    def _check_rank(self, location: DumpLocation, step: int) -> None:
        raise_if_stopped()
        self.journal.write(Progress(done=self.done, total=len(self.places), phase="overflow-check"))
        self.done += 1
        dump = read_dump(location)
        if dump.damage:
            args = {"place": str(location.folder), "skipped": dump.skipped}
            self.journal.write(Note(key="precision.compare.damaged_dump", args=args))
        self.calls += len(dump.calls)
        self.infinite += infinite_calls(dump)
        self.inputs += infinite_inputs(dump)
        is_damaged = bool(dump.damage or dump.skipped)
        self.damaged += is_damaged
        self.unread += not (is_damaged or has_statistics(dump))
        self.blind += blind_tensors(dump) if has_statistics(dump) else 0
        self.is_torch &= dump.framework != "mindspore"
        if (overflow := first_overflow(dump, step, location.rank or 0)) is not None:
            self.overflows.append(overflow)

    def _check_with_msprobe(self, ranks: list[DumpLocation], step: int) -> None:
        """Once it could not, it is not asked again."""
        if not self.is_torch:
            self.problem = (TORCH_ONLY, {})
        if self.problem[0]:
            return
        scratch = self.run.folder / "artifacts" / "overflow" / f"step{step}"
        check = run_overflow_check([(location.rank or 0, location.folder) for location in ranks], scratch, self.python)
        self.problem = (check.problem, check.args)
        self.named += [
            Named(
                step=step,
                rank=anomaly.rank,
                call=anomaly.call,
                source=source_of(anomaly.stack),
                modules=anomaly.modules,
            )
            for anomaly in check.anomalies
        ]


def _chosen(spec: OverflowSpec) -> tuple[DumpLocation, ...]:
    """Steps before ranks. Raises StudioError where there is none."""
    locations = find_dumps(spec.looked.dump)
    refuse_several_captures(locations)
    chosen_steps = numbers_of(spec.looked.overflow_steps)
    chosen = [location for location in locations if not chosen_steps or (location.step or 0) in chosen_steps]
    available = {location.step or 0 for location in locations}
    if absent := chosen_steps - available:
        names, steps = (", ".join(map(str, sorted(numbers)[:20])) for numbers in (absent, available))
        raise StudioError("precision.overflow.no_step", absent=names, steps=steps)
    return tuple(sorted(chosen, key=lambda location: (location.step or 0, location.rank or 0)))


def result_notes(result: OverflowResult) -> list[Finding | Note]:
    """What is said of it: ours, then msprobe's beside it."""
    ours: Finding | Note
    covered = {"calls": result.calls, "passes": result.passes, "infinite": result.infinite, "inputs": result.inputs}
    if result.first is None and not result.is_whole:
        args = {
            **covered,
            "damaged": result.damaged,
            "unread": result.unread,
            "blind": result.blind,
            "empty": len(result.empty),
        }
        ours = Finding(rule="precision.overflow.incomplete", severity="warning", args=args)
    elif result.first is None:
        has_infinite = result.infinite or result.inputs
        ours = Note(key="precision.overflow.masked" if has_infinite else "precision.overflow.clean", args=covered)
    else:
        ours = Finding(rule=rule_of(result.first), severity="warning", args=args_of(result.first))
    notes = [ours, msprobe_note(result)]
    if result.empty:
        names = ", ".join(result.empty[:MAX_NAMES]) + (" …" if len(result.empty) > MAX_NAMES else "")
        notes.append(Finding(rule="precision.overflow.empty", severity="warning", args={"names": names}))
    return notes


def rule_of(overflow: Overflow) -> str:
    if overflow.place == "argument":
        return "precision.overflow.argument_at" if overflow.source else "precision.overflow.argument"
    if overflow.has_infinite_inputs:
        return "precision.overflow.infinite_at" if overflow.source else "precision.overflow.infinite"
    if overflow.is_made:
        return "precision.overflow.made_at" if overflow.source else "precision.overflow.made"
    return "precision.overflow.came_at" if overflow.source else "precision.overflow.came"


def args_of(overflow: Overflow) -> dict[str, Any]:
    args = {
        "name": overflow.call,
        "step": overflow.step,
        "rank": overflow.rank,
        "item": overflow.item,
        "value": overflow.value,
    }
    return {**args, "source": overflow.source} if overflow.source else args


def msprobe_note(result: OverflowResult) -> Note:
    """What msprobe's check says, held against ours."""
    if result.problem:
        return Note(key=result.problem, args=result.args)
    if not result.named:
        key = "precision.overflow.only_ours" if result.found else "precision.overflow.neither"
        return Note(key=key)
    named = result.named[0]
    if result.first is None:
        return Note(key="precision.overflow.only_msprobe", args={"name": named.call})
    is_same = (named.call, named.step) == (result.first.call, result.first.step)
    key = "precision.overflow.same" if is_same else "precision.overflow.other"
    return Note(key=key, args={"name": named.call})
