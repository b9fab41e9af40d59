"""Going deeper, in the worker: digests of the step, then tensors around the suspect, then one more comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common import child_run
from backends.precision.compare.comparison import FOLDER
from backends.precision.compare.spec import CompareSpec
from backends.precision.deeper.reruns import capture_values, is_captured, origin_run
from backends.precision.dump.dump import DumpLocation
from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER
from backends.precision.dump.read import read_dump
from backends.precision.sides import call_of, open_comparison_run, pass_of
from studio import files, schema
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.exit_codes import DONE, NO, STOPPED
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison
    from backends.precision.deeper.spec import DeeperSpec
    from studio.run import Run

ANSWER = "artifacts/deeper.json"
COMPARE = "compare"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """`key`: what is told when it begins."""

    task: str
    key: str


DIGEST_STAGE = Stage(task="md5", key="precision.deeper.digests")
TENSOR_STAGE = Stage(task="tensor", key="precision.deeper.tensors")


def deeper(spec: DeeperSpec, run: Run) -> Ended:
    """Runs the user's code again, twice for each stage. Raises StudioError."""
    child_run.end_child_run(run)
    try:
        return Deeper(spec, run).work()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")


class Deeper:
    def __init__(self, spec: DeeperSpec, run: Run) -> None:
        self.spec, self.run = spec, run
        self.journal = Journal(run.folder, 1)
        self.comparison = open_comparison_run(spec.chosen.comparison)
        self.call = call_of(self.comparison, spec.chosen.call)
        if name_of(self.comparison.names[self.call]).kind == OPTIMIZER:
            raise StudioError("precision.deeper.optimizer")
        of = pass_of(self.comparison, self.call)
        if of.target is None or of.golden is None:
            raise StudioError("precision.deeper.one_side")
        self.origins = (origin_run(of.target), origin_run(of.golden))
        self.stages = (DIGEST_STAGE, TENSOR_STAGE) if spec.depth.digests else (TENSOR_STAGE,)
        self.done = 0

    def work(self) -> Ended:
        suspect = neighbours_of(self.comparison, self.call, self.spec.depth.around)
        compared = self.spec.chosen.comparison
        for stage in self.stages:
            compared = self.stage(stage, suspect)
            if stage is DIGEST_STAGE:
                suspect = self.earlier(open_comparison_run(compared), suspect)
        files.write_json(self.run.folder / ANSWER, {"comparison": str(compared)})
        self.journal.write(Artifact(kind="comparison", path=str(compared / FOLDER)))
        return Ended(code=0)

    def stage(self, stage: Stage, suspect: Neighbours) -> Path:
        """The folder of a comparison of both trainings, run again."""
        names = ((), ()) if stage is DIGEST_STAGE else (suspect.target, suspect.golden)
        self.journal.write(Note(key=stage.key, args={"step": suspect.step, "calls": len(names[0])}))
        left = [self.again(origin, stage, suspect, some) for origin, some in zip(self.origins, names, strict=True)]
        compare = CompareSpec()
        for name, folder in zip(("target", "golden"), left, strict=True):
            compare = schema.with_value(compare, name, folder)
        run, glance = child_run.run_to_end(self.run, COMPARE, schema.to_json(compare), self.project)
        self.check(glance.code in (DONE, NO), run)
        return run.folder

    def again(self, origin: Run, stage: Stage, suspect: Neighbours, names: tuple[str, ...]) -> Path:
        values = capture_values(origin.request.values, suspect.step, stage.task, suspect.level, names)
        self.journal.write(Progress(done=self.done, total=2 * len(self.stages), phase="deeper"))
        run, _ = child_run.run_to_end(self.run, origin.request.command, values, self.project, is_captured)
        self.done += 1
        self.check(is_captured(run), run)
        return run.folder

    def check(self, is_well: bool, run: Run) -> None:
        raise_if_stopped()
        if not is_well:
            raise StudioError("precision.deeper.failed", run=run.name)

    def earlier(self, compared: Comparison, suspect: Neighbours) -> Neighbours:
        """Neighbours the first call whose bits differ, where that lies before what was suspected."""
        first = compared.first
        if first is None or first.call < 0:
            return suspect
        indices = {name: index for index, name in enumerate(compared.names)}
        at = indices.get(self.comparison.names[self.call], len(indices))
        return neighbours_of(compared, first.call, self.spec.depth.around) if first.call < at else suspect

    @property
    def project(self) -> Path | None:
        return Path(self.run.request.project) if self.run.request.project else None


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Calls around a suspect, in the names of either side: a missing call shifts the counters behind it. `target` and
    `golden`: names of calls, for msprobe's `list`; `level`: of the dump, as it was captured."""

    step: int
    level: str
    target: tuple[str, ...]
    golden: tuple[str, ...]


def neighbours_of(comparison: Comparison, call: int, count: int) -> Neighbours:
    """Return the calls of the same pass from `count` before to `count` behind. Raises StudioError where a dump is
    gone."""
    of = pass_of(comparison, call)
    last = min((each.first_call for each in comparison.passes if each.first_call > call), default=len(comparison.names))
    begin, end = max(of.first_call, call - count), min(last, call + count + 1)
    target, level = _names(of.target, comparison.target_call[begin:end])
    golden, other = _names(of.golden, comparison.golden_call[begin:end])
    return Neighbours(step=of.step, level=level or other, target=target, golden=golden)


def _names(folder: Path | None, indices: NDArray[np.int32]) -> tuple[tuple[str, ...], str]:
    if folder is None:
        return (), ""
    dump = read_dump(DumpLocation(folder=folder))
    return tuple(dump.calls[int(index)] for index in indices if index >= 0), dump.level


def deeper_answer(run: Run) -> dict[str, Any]:
    """For `--json`: the last comparison's folder."""
    answer = files.read_json(run.folder / ANSWER)
    return answer if isinstance(answer, dict) else {}
