"""The comparison, in the worker: every step and rank that both sides have, then the first divergence of all."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare import columns, remembered
from backends.precision.compare.answer import write_answer
from backends.precision.compare.beside import of_msprobe
from backends.precision.compare.chosen import chosen, golden_again
from backends.precision.compare.comparison import EXTRA, FIRST, FOLDER, MISSING
from backends.precision.compare.first import earliest, first_of
from backends.precision.compare.judge import judge
from backends.precision.compare.noise import noise
from backends.precision.compare.opened import opened
from backends.precision.compare.scene import scene
from backends.precision.compare.state import State, after, allowances
from backends.precision.compare.structure import structure
from backends.precision.compare.table import Table
from backends.precision.compare.told import told
from backends.precision.dump.read import read_dump
from backends.precision.msprobe.process import Stopped
from studio.errors import StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP
from studio.uncollected import uncollected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.comparison import Comparison, First
    from backends.precision.compare.scene import Scene
    from backends.precision.compare.spec import CompareSpec
    from backends.precision.dump.pairs import Pair
    from studio.run import Run

NO = 3  # done, and the answer is no
BETWEEN = 0.2
"""Seconds between two events of progress."""


def compare(spec: CompareSpec, run: Run) -> Ended:
    """Leaves artifacts/comparison. Raises StudioError where there is nothing to compare, and OSError."""
    try:
        with uncollected():
            first = _Comparing(spec, run).work()
    except Stopped:
        return Ended(code=128 + signal.SIGTERM, reason="stopped")
    return Ended(code=NO, reason="no") if first else Ended(code=0)


class _Comparing:
    def __init__(self, spec: CompareSpec, run: Run) -> None:
        self.spec, self.run = spec, run
        self.journal = Journal(run.folder, 1)
        self.table = Table()
        self.firsts: list[tuple[First, int, int]] = []
        self.states: dict[int, State] = {}
        self.last: dict[int, Pair] = {}
        self.notes: list[dict[str, Any]] = []
        self.compared = 0
        self.last_told = -BETWEEN
        self.again = golden_again(spec.sides)

    def work(self) -> First | None:
        passes = chosen(self.spec, self._note)
        self.last = {pair.rank: pair for pair in passes}
        for number, pair in enumerate(passes):
            self._told(number, len(passes))
            self._compare(pair)
        return self._end()

    def _compare(self, pair: Pair) -> None:
        target, golden = opened(pair, self._note)
        corrected = remembered.matches(remembered.place_of(self.run), remembered.mark(target.calls, golden.calls))
        found = scene(target, golden, corrected)
        measures: Array | None = None
        if self.spec.compared.tensors == "auto" and target.file and golden.file:
            from backends.precision.compare.measured import with_tensors  # not needed, and not cheap, for statistics

            measured = with_tensors(found, self._tensor_told, self.run.folder / "scratch")
            found, measures = measured.scene, measured.measures
            for key, args in measured.notes:
                self._note(key, **args)
        if not ((found.calls.target >= 0) & (found.calls.golden >= 0)).any():
            raise StudioError("precision.compare.no_calls_common", target=target.level, golden=golden.level)
        self.compared += int((~np.isnan(found.distance)).sum())
        self._judge(pair, found, measures)

    def _judge(self, pair: Pair, found: Scene, measures: Array | None) -> None:
        again = self.again.get(found.golden.place.folder)
        before = self.states.get(pair.rank, State())
        allowed = allowances(found, before, pair.step)
        measured = noise(found, read_dump(again)) if again else None
        judged = judge(found, allowed, measured, before.product_error)
        if self.last[pair.rank] is not pair:
            self.states[pair.rank] = after(found, allowed, pair.step, judged.product_error)
        common = structure(found)
        for key, args in told(found, judged, common):
            self._note(key, **args)
        scratch = self.run.folder / "artifacts" / "msprobe" / f"step{pair.step}.rank{pair.rank}"
        theirs = of_msprobe(self.spec.beside, found, scratch, self._note)
        begin = self.table.add(found, judged, pair.step, pair.rank, measures, theirs)
        first = first_of(found, judged, common, pair.step, pair.rank)
        if first is not None:
            self.firsts.append((first, *begin))

    def _told(self, done: int, total: int) -> None:
        if STOP.asked:
            raise Stopped
        self.journal.write(Progress(done=done, total=total, phase="compare"))

    def _tensor_told(self, done: int, total: int) -> None:
        if STOP.asked:
            raise Stopped
        if time.monotonic() - self.last_told > BETWEEN:
            self.last_told = time.monotonic()
            self.journal.write(Progress(done=done, total=total, phase="tensors"))

    def _note(self, key: str, **args: Any) -> None:
        note = {"key": key, "args": args}
        if note not in self.notes:
            self.notes.append(note)
            self.journal.write(Note(key=key, args=args))

    def _end(self) -> First | None:
        found = earliest(self.firsts)
        if found is None and not self.compared:
            raise StudioError("precision.compare.no_values")
        first = None
        if found is not None:
            first, calls, rows = found
            first = _at(first, calls, rows)
        comparison = self.table.comparison(first, tuple(self.notes))
        if first is not None:
            comparison.columns["call_verdict"][first.call] = _marked(comparison.columns["call_verdict"][first.call])
            if first.row >= 0:
                comparison.columns["verdict"][first.row] = FIRST
        columns.write(comparison, self.run.folder / FOLDER)
        write_answer(comparison, self.run)
        self.journal.write(Artifact(kind="comparison", path=FOLDER), *_verdict(first, comparison))
        return first


def _verdict(first: First | None, comparison: Comparison) -> Iterator[Note]:
    """For those who read the command's output."""
    if first is None:
        args = {"calls": len(comparison.names), "rows": len(comparison.verdict)}
        yield Note(key="precision.compare.none", args=args)
        return
    shown = ("name", "place", "index", "step", "rank", "source")
    yield Note(key="precision.compare.found", args={name: getattr(first, name) for name in shown})
    yield Note(key=f"precision.first.{first.reason}", args=first.args)


def _at(first: First, calls: int, rows: int) -> First:
    """With its places in the whole comparison."""
    return replace(first, call=first.call + calls, row=first.row + rows if first.row >= 0 else -1)


def _marked(verdict: int) -> int:
    """A call that one side lacks keeps its mark."""
    return verdict if verdict in (MISSING, EXTRA) else FIRST
