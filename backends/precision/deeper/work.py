"""Going deeper, in the worker: digests of the step, then tensors around the suspect, then one more comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common import beside
from backends.precision.compare.comparison import FOLDER
from backends.precision.compare.spec import CompareSpec
from backends.precision.deeper.again import is_captured, origin_run, values
from backends.precision.deeper.around import Around, around
from backends.precision.sides import call_of, opened, pass_of
from studio import files, schema
from studio.errors import StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from backends.precision.deeper.spec import DeeperSpec
    from studio.run import Run

ANSWER = "artifacts/deeper.json"
COMPARE = "compare"
STOPPED = 128 + 15


@dataclass(frozen=True, kw_only=True)
class Stage:
    """`key`: what is told when it begins."""

    task: str
    key: str


DIGESTS = Stage(task="md5", key="precision.deeper.digests")
TENSORS = Stage(task="tensor", key="precision.deeper.tensors")


class Stopped(Exception):
    """The worker was asked to stop."""


def deeper(spec: DeeperSpec, run: Run) -> Ended:
    """Runs the user's code again, twice for each stage. Raises StudioError."""
    beside.end_begun(run)
    try:
        return Deeper(spec, run).work()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")


class Deeper:
    def __init__(self, spec: DeeperSpec, run: Run) -> None:
        self.spec, self.run = spec, run
        self.journal = Journal(run.folder, 1)
        self.comparison = opened(spec.chosen.comparison)
        self.call = call_of(self.comparison, spec.chosen.call)
        of = pass_of(self.comparison, self.call)
        if of.target is None or of.golden is None:
            raise StudioError("precision.deeper.one_side")
        self.origins = (origin_run(of.target), origin_run(of.golden))
        self.stages = (DIGESTS, TENSORS) if spec.depth.digests else (TENSORS,)
        self.done = 0

    def work(self) -> Ended:
        suspect = around(self.comparison, self.call, self.spec.depth.around)
        compared = self.spec.chosen.comparison
        for stage in self.stages:
            compared = self.stage(stage, suspect)
            if stage is DIGESTS:
                suspect = self.earlier(opened(compared), suspect)
        files.write_json(self.run.folder / ANSWER, {"comparison": str(compared)})
        self.journal.write(Artifact(kind="comparison", path=str(compared / FOLDER)))
        return Ended(code=0)

    def stage(self, stage: Stage, suspect: Around) -> Path:
        """The folder of a comparison of both trainings, run again."""
        names = ((), ()) if stage is DIGESTS else (suspect.target, suspect.golden)
        self.journal.write(Note(key=stage.key, args={"step": suspect.step, "calls": len(names[0])}))
        left = [self.again(origin, stage, suspect, some) for origin, some in zip(self.origins, names, strict=True)]
        compare = CompareSpec()
        for name, folder in zip(("target", "golden"), left, strict=True):
            compare = schema.with_value(compare, name, folder)
        run, glance = beside.run_to_end(self.run, COMPARE, schema.to_json(compare), self.project)
        self.check(glance.code in (0, 3), run)
        return run.folder

    def again(self, origin: Run, stage: Stage, suspect: Around, names: tuple[str, ...]) -> Path:
        asked = values(origin.asked.values, suspect.step, stage.task, suspect.level, names)
        self.journal.write(Progress(done=self.done, total=2 * len(self.stages), phase="deeper"))
        run, _ = beside.run_to_end(self.run, origin.asked.command, asked, self.project, is_captured)
        self.done += 1
        self.check(is_captured(run), run)
        return run.folder

    def check(self, is_well: bool, run: Run) -> None:
        if STOP.asked:
            raise Stopped
        if not is_well:
            raise StudioError("precision.deeper.failed", run=run.name)

    def earlier(self, found: Comparison, suspect: Around) -> Around:
        """Around the first call whose bits differ, where that lies before what was suspected."""
        first = found.first
        if first is None or first.call < 0:
            return suspect
        known = {name: index for index, name in enumerate(found.names)}
        at = known.get(self.comparison.names[self.call], len(known))
        return around(found, first.call, self.spec.depth.around) if first.call < at else suspect

    @property
    def project(self) -> Path | None:
        return Path(self.run.asked.project) if self.run.asked.project else None


def answer(run: Run) -> dict[str, Any]:
    """For `--json`: the last comparison's folder."""
    found = files.read_json(run.folder / ANSWER)
    return found if isinstance(found, dict) else {}
