"""The comparison, in the worker: every step and rank that both sides have, then the first divergence of all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.alignment import manual_matches
from backends.precision.compare.builder import ComparisonBuilder
from backends.precision.compare.comparison import FOLDER, write_answer
from backends.precision.compare.comparison_files import write_comparison
from backends.precision.compare.inputs import open_dumps, second_golden_dumps, select_passes
from backends.precision.compare.judgement.drift import DriftState
from backends.precision.compare.passes import judge_pass
from backends.precision.compare.second_golden import NoiseCounter, noise_of, refuse_equal_content
from backends.precision.compare.tolerances import TOLERANCES, Tolerances
from backends.precision.compare.values.joined import join_dumps
from backends.precision.compare.verdict.coverage import CoverageCounter
from backends.precision.compare.verdict.notes import pass_notes, verdict_notes
from backends.precision.dump.digest import TENSOR_SIZES, TENSORS, dump_digests, tensors_digest
from backends.precision.dump.optimizer import OPTIMIZER
from backends.precision.msprobe.compare import result_column
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED
from studio.gc_pause import gc_paused
from studio.progress import ThrottledProgress
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.comparison import Outcome
    from backends.precision.compare.spec import CompareSpec
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.pairs import DumpPair
    from studio.run import Run


def compare(spec: CompareSpec, run: Run, tolerances: Tolerances = TOLERANCES) -> Ended:
    """Leave artifacts/comparison. Raises StudioError where there is nothing to compare, and OSError."""
    try:
        with gc_paused():
            outcome = _ComparisonRun(spec, run, tolerances).work()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    return (
        Ended(code=0) if outcome == "pass" else Ended(code=NO, reason="incomplete" if outcome == "incomplete" else "no")
    )


class _ComparisonRun:
    """The passes of a comparison, one behind the other. `states`: what the next step of each rank has to know."""

    def __init__(self, spec: CompareSpec, run: Run, tolerances: Tolerances) -> None:
        self.spec, self.run, self.tolerances = spec, run, tolerances
        self.journal = Journal(run.folder, 1)
        self.tensor_progress = ThrottledProgress(self.journal)
        self.builder = ComparisonBuilder()
        self.states: dict[int, DriftState] = {}
        self.last_pair: dict[int, DumpPair] = {}
        self.notes: list[dict[str, Any]] = []
        self.digests: dict[str, dict[str, str]] = {}
        self.compared_rows = 0
        self.second_golden = second_golden_dumps(spec.sides)
        self.noise = NoiseCounter()

    def work(self) -> Outcome:
        candidates = select_passes(self.spec, self._note)
        self.coverage = CoverageCounter(candidates)
        passes = [pair for pair in candidates if pair.target and pair.golden]
        refuse_equal_content(passes, self.second_golden)
        self.last_pair = {pair.rank: pair for pair in passes}
        for number, pair in enumerate(passes):
            raise_if_stopped()
            self.journal.write(Progress(done=number, total=len(passes), phase="compare"))
            self._judge(pair, *self._join(pair))
        return self._end()

    def _join(self, pair: DumpPair) -> tuple[JoinedDumps, Array | None]:
        """Return both dumps of a pass beside each other, and the measures of their tensors where there are any."""
        target, golden = open_dumps(pair, self._note)
        reads_tensors = self.spec.compared.tensors == "auto" and bool(target.file and golden.file)
        for dump in (target, golden):
            folder = dump.place.folder
            content = tensors_digest(folder, raise_if_stopped, has_contents=reads_tensors)
            key = TENSORS if reads_tensors else TENSOR_SIZES
            self.digests[str(folder)] = {**dump_digests(folder), key: content}
        matches = manual_matches.path_of(self.run)
        corrected = manual_matches.read_matches(matches, manual_matches.mark(target.calls, golden.calls))
        joined = join_dumps(target, golden, corrected, self.tolerances)
        measures: Array | None = None
        if reads_tensors:
            from backends.precision.compare.values.tensor_distance import measure_tensors  # slow to import

            measured = measure_tensors(joined, self._report_tensors, self.run.folder / "scratch")
            joined, measures = measured.joined, measured.measures
            for key, args in measured.notes:
                self._note(key, **args)
        is_call = np.array([name.kind != OPTIMIZER for name in joined.names], bool)
        if not ((joined.calls.target >= 0) & (joined.calls.golden >= 0) & is_call).any():
            raise StudioError("precision.compare.no_calls_common", target=target.level, golden=golden.level)
        self.compared_rows += int((~np.isnan(joined.distance)).sum())
        return joined, measures

    def _judge(self, pair: DumpPair, joined: JoinedDumps, measures: Array | None) -> None:
        again = self.second_golden.get(joined.golden.place.folder)
        before = self.states.get(pair.rank, DriftState())
        noise = None if again is None else noise_of(joined, again)
        judged = judge_pass(joined, before, pair.step, pair.rank, noise)
        if noise is not None:
            self.noise.add(joined, noise, judged.judgement)
        if self.last_pair[pair.rank] is not pair:
            self.states[pair.rank] = judged.state()
        for key, args in pass_notes(joined, judged.judgement, judged.unmatched):
            self._note(key, **args)
        self.coverage.add(joined, judged.judgement, judged.unmatched, measures, pair.step, pair.rank)
        scratch = self.run.folder / "artifacts" / "msprobe" / f"step{pair.step}.rank{pair.rank}"
        peer = result_column(self.spec.beside, joined, scratch, self._note)
        self.builder.add(joined, judged.judgement, pair.step, pair.rank, judged.first, measures, peer)

    def _report_tensors(self, done: int, total: int) -> None:
        raise_if_stopped()
        self.tensor_progress.report(done, total, "tensors")

    def _note(self, key: str, **args: Any) -> None:
        note = {"key": key, "args": args}
        if note not in self.notes:
            self.notes.append(note)
            self.journal.write(Note(key=key, args=args))

    def _end(self) -> Outcome:
        for key, args in self.coverage.notes():
            self._note(key, **args)
        again = self.spec.sides.golden_again
        noise = None if again == Path() else self.noise.allowed(again)
        comparison = self.builder.build(tuple(self.notes), self.coverage.coverage(), noise)
        if comparison.first is None and not self.compared_rows:
            raise StudioError("precision.compare.no_values")
        write_comparison(comparison, self.run.folder / FOLDER)
        write_answer(comparison, self.run, self.digests)
        self.journal.write(Artifact(kind="comparison", path=FOLDER), *verdict_notes(comparison))
        return comparison.outcome
