"""The overflow check, in the worker: our reader over every step and rank, msprobe over every step of torch."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import numbers_of
from backends.precision.dump.layout import one_root, places
from backends.precision.dump.names import source_of
from backends.precision.dump.read import read_dump
from backends.precision.msprobe.overflow import check
from backends.precision.msprobe.process import Stopped
from backends.precision.overflow.first import first_overflow, has_statistics
from backends.precision.overflow.result import FILE, Found, Named, Result
from studio import files
from studio.errors import StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.precision.dump.dump import Place
    from backends.precision.overflow.spec import OverflowSpec
    from studio.run import Run

NO = 3  # done, and the answer is no
STOPPED = 128 + 15
TORCH_ONLY = "precision.overflow.torch_only"


def overflow_check(spec: OverflowSpec, run: Run) -> Ended:
    """Leaves artifacts/overflow.json. Raises StudioError where there is nothing to look through."""
    journal = Journal(run.folder, 1)
    try:
        result = _Looking(spec, run, journal).work()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    files.write_json(run.folder / FILE, result)
    journal.write(Artifact(kind="overflow", path=FILE), *told(result))
    return Ended(code=NO, reason="no") if result.found or result.named else Ended(code=0)


class _Looking:
    def __init__(self, spec: OverflowSpec, run: Run, journal: Journal) -> None:
        self.run, self.journal = run, journal
        given = spec.looked.check_python
        self.python = Path(sys.executable) if given == Path() else given
        self.places = _chosen(spec)
        self.found: list[Found] = []
        self.named: list[Named] = []
        self.calls, self.done = 0, 0
        self.has_figures, self.is_torch = False, True
        self.problem: tuple[str, dict[str, Any]] = ("", {})

    def work(self) -> Result:
        for step, group in groupby(self.places, key=lambda place: place.step or 0):
            ranks = list(group)
            for place in ranks:
                self._look(place, step)
            self._ask_msprobe(ranks, step)
        if not self.has_figures:
            raise StudioError("precision.overflow.no_statistics", place=str(self.places[0].folder))
        problem, args = self.problem
        return Result(
            passes=len(self.places), calls=self.calls, found=tuple(self.found), named=tuple(self.named),
            problem=problem, args=args,
        )  # fmt: skip

    def _look(self, place: Place, step: int) -> None:
        if STOP.asked:
            raise Stopped
        self.journal.write(Progress(done=self.done, total=len(self.places), phase="overflow-check"))
        self.done += 1
        dump = read_dump(place)
        if dump.damage:
            args = {"place": str(place.folder), "skipped": dump.skipped}
            self.journal.write(Note(key="precision.compare.damaged_dump", args=args))
        self.calls += len(dump.calls)
        self.has_figures |= has_statistics(dump)
        self.is_torch &= dump.framework != "mindspore"
        if (found := first_overflow(dump, step, place.rank or 0)) is not None:
            self.found.append(found)

    def _ask_msprobe(self, ranks: list[Place], step: int) -> None:
        """Once it could not, it is not asked again."""
        if not self.is_torch:
            self.problem = (TORCH_ONLY, {})
        if self.problem[0]:
            return
        scratch = self.run.folder / "artifacts" / "overflow" / f"step{step}"
        told = check([(place.rank or 0, place.folder) for place in ranks], scratch, self.python)
        self.problem = (told.problem, told.args)
        self.named += [
            Named(step=step, rank=one.rank, call=one.call, source=source_of(one.stack), modules=one.modules)
            for one in told.anomalies
        ]


def _chosen(spec: OverflowSpec) -> tuple[Place, ...]:
    """Steps before ranks. Raises StudioError where there is none."""
    found = places(spec.looked.dump)
    one_root(found)
    wanted = numbers_of(spec.looked.overflow_steps)
    chosen = [place for place in found if not wanted or (place.step or 0) in wanted]
    if not chosen:
        steps = ", ".join(str(step) for step in sorted({place.step or 0 for place in found})[:20])
        raise StudioError("precision.overflow.no_step", steps=steps)
    return tuple(sorted(chosen, key=lambda place: (place.step or 0, place.rank or 0)))


def told(result: Result) -> list[Finding | Note]:
    """What is said of it: ours, then msprobe's beside it."""
    ours: Finding | Note
    if result.first is None:
        ours = Note(key="precision.overflow.clean", args={"calls": result.calls, "passes": result.passes})
    else:
        ours = Finding(rule=rule_of(result.first), severity="warning", args=args_of(result.first))
    return [ours, beside(result)]


def rule_of(found: Found) -> str:
    if found.is_made:
        return "precision.overflow.made_at" if found.source else "precision.overflow.made"
    return "precision.overflow.came_at" if found.source else "precision.overflow.came"


def args_of(found: Found) -> dict[str, Any]:
    args = {"name": found.call, "step": found.step, "rank": found.rank, "item": found.item, "value": found.value}
    return {**args, "source": found.source} if found.source else args


def beside(result: Result) -> Note:
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
