"""The comparison, in the worker: every step and rank that both sides have, then the first divergence of all."""

from __future__ import annotations

import gc
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare import columns, remembered
from backends.precision.compare.answer import write_answer
from backends.precision.compare.comparison import EXTRA, FIRST, FOLDER, MISSING, NO_RESULT
from backends.precision.compare.first import earliest, first_of
from backends.precision.compare.judge import judge
from backends.precision.compare.noise import noise
from backends.precision.compare.opened import opened
from backends.precision.compare.scene import scene
from backends.precision.compare.spec import numbers_of, pairs_of
from backends.precision.compare.state import State, after, allowances
from backends.precision.compare.structure import structure
from backends.precision.compare.table import Table
from backends.precision.compare.told import told
from backends.precision.dump.dump import ROLES
from backends.precision.dump.layout import one_root, places
from backends.precision.dump.pairs import pairs
from backends.precision.dump.read import read_dump
from studio.errors import StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.comparison import First
    from backends.precision.compare.scene import Scene
    from backends.precision.compare.spec import CompareSpec
    from backends.precision.dump.dump import Dump, Place
    from backends.precision.dump.pairs import Pair
    from studio.run import Run

NO = 3  # done, and the answer is no


class _Stopped(Exception):
    pass


def compare(spec: CompareSpec, run: Run) -> Ended:
    """Leaves artifacts/comparison. Raises StudioError where there is nothing to compare, and OSError."""
    gc.disable()  # a hundred thousand small things, none of them in a circle
    try:
        first = _Comparing(spec, run).work()
    except _Stopped:
        return Ended(code=128 + signal.SIGTERM, reason="stopped")
    finally:
        gc.enable()
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
        self.again = self._golden_again()

    def work(self) -> First | None:
        chosen = self._chosen()
        self.last = {pair.rank: pair for pair in chosen}
        for number, pair in enumerate(chosen):
            self._told(number, len(chosen))
            self._compare(pair)
        return self._end()

    def _chosen(self) -> list[Pair]:
        asked = self.spec.compared
        steps, ranks = numbers_of(asked.step_numbers), numbers_of(asked.rank_numbers)
        sides = (places(self.spec.sides.target), places(self.spec.sides.golden))
        for side in sides:
            one_root(side)
        found = [
            pair for pair in pairs(*sides, pairs_of(asked.pairs))
            if (not steps or pair.step in steps) and (not ranks or pair.rank in ranks)
        ]  # fmt: skip
        both = [pair for pair in found if pair.target and pair.golden]
        if not both:
            raise StudioError("precision.compare.nothing_common")
        for key in dict.fromkeys(pair.note for pair in found if pair.note):
            passes = [f"{pair.step}.{pair.rank}" for pair in found if pair.note == key]
            self._note(key, count=len(passes), passes=", ".join(passes[:8]))
        return both

    def _golden_again(self) -> dict[Path, Place]:
        """For each folder of the golden side, where the second golden run has the same step and rank."""
        if self.spec.sides.golden_again == Path():
            return {}
        both = pairs(places(self.spec.sides.golden), places(self.spec.sides.golden_again))
        return {pair.target.folder: pair.golden for pair in both if pair.target and pair.golden}

    def _compare(self, pair: Pair) -> None:
        target, golden = opened(pair, self._note)
        corrected = remembered.matches(remembered.place_of(self.run), remembered.mark(target.calls, golden.calls))
        found = scene(target, golden, corrected)
        measures: Array | None = None
        if self.spec.compared.tensors == "auto" and target.file and golden.file:
            from backends.precision.compare.measured import with_tensors  # not needed, and not cheap, for statistics

            found, measures, failed = with_tensors(found, self._tensor_told)
            if failed:
                self._note("precision.compare.tensors_failed", count=failed)
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
        begin = self.table.add(found, judged, pair.step, pair.rank, measures, self._msprobe(pair, found))
        first = first_of(found, judged, common, pair.step, pair.rank)
        if first is not None:
            self.firsts.append((first, *begin))

    def _msprobe(self, pair: Pair, found: Scene) -> Array | None:
        if not self.spec.beside.msprobe:
            return None
        from backends.precision.msprobe.compare import results
        from backends.precision.msprobe.process import Stopped

        given = self.spec.beside.msprobe_python
        python = Path(sys.executable) if given == Path() else given
        scratch = self.run.folder / "artifacts" / "msprobe" / f"step{pair.step}.rank{pair.rank}"
        folders = (found.target.place.folder, found.golden.place.folder)
        try:
            told = results(*folders, scratch, python, found.target.framework or "torch")
        except Stopped:
            raise _Stopped from None
        if told.problem:
            self._note(told.problem, **told.args)
            return None
        return np.array([told.results.get(name, NO_RESULT) for name in _msprobe_names(found)], np.uint8)

    def _told(self, done: int, total: int) -> None:
        if STOP.asked:
            raise _Stopped
        self.journal.write(Progress(done=done, total=total, phase="compare"))

    def _tensor_told(self, done: int, total: int) -> None:
        if done % 64 == 0:
            if STOP.asked:
                raise _Stopped
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
        self.journal.write(Artifact(kind="comparison", path=FOLDER))
        return first


def _at(first: First, calls: int, rows: int) -> First:
    """With its places in the whole comparison."""
    return replace(first, call=first.call + calls, row=first.row + rows if first.row >= 0 else -1)


def _marked(verdict: int) -> int:
    """A call that one side lacks keeps its mark."""
    return verdict if verdict in (MISSING, EXTRA) else FIRST


def _msprobe_names(found: Scene) -> list[str]:
    """What msprobe calls the rows: "Functional.linear.0.forward.input.0"."""
    rows = found.rows
    calls = [found.target.calls[i] if i >= 0 else "" for i in found.calls.target.tolist()]
    words = {ROLES[0]: "input", ROLES[1]: "input", ROLES[2]: "output", ROLES[3]: "parameters", ROLES[4]: ""}
    return [
        ".".join(filter(None, (calls[call], words[ROLES[role]], rows.items[item])))
        for call, role, item in zip(rows.call.tolist(), rows.role.tolist(), rows.item.tolist(), strict=True)
    ]
