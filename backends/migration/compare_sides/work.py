"""Rehearse both sides of a migration with a dump of their first steps, then let `compare` judge the dumps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import child_run
from backends.migration.certify import rehearsals
from backends.migration.certify.copies import COPIES_FOLDER, line_for_npu
from backends.migration.certify.pair_runs import PairRuns
from backends.migration.compare_sides.runs_file import RUNS_FILE, write_names
from studio import files
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.exit_codes import STOPPED
from studio.supervisor import STOP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.certify.copies import ProjectCopy
    from backends.migration.compare_sides.spec import CompareSidesSpec
    from studio.run import Run

COMPARE_COMMAND = "compare"
CAPTURES = "artifacts/captures"
PARTS = 3
"""Both rehearsals, and the comparison."""


def compare_sides(spec: CompareSidesSpec, run: Run) -> Ended:
    """Write artifacts/sides.json: the names of the three runs. It ends as the comparison does. Raises StudioError where
    a side leaves no dump."""
    folder = run.folder / COPIES_FOLDER
    child_run.end_child_run(run)
    try:
        return _SideCaptures(spec, run, folder).compare()
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _SideCaptures(PairRuns):
    def __init__(self, spec: CompareSidesSpec, run: Run, folder: Path) -> None:
        super().__init__(spec, run, folder)
        self.spec = spec
        self.journal = Journal(run.folder, 1)
        self.names: dict[str, str] = {}

    def compare(self) -> Ended:
        golden = self.capture(self.copies[0], "cuda", (self.line,))
        target = self.capture(self.copies[1], "npu", dict.fromkeys((self.line, line_for_npu(self.line))))
        self._note_progress("migration.sides.compares")
        values = {"sides": {"target": str(target.folder), "golden": str(golden.folder)}}
        project = self.run.request.project
        run, glance = child_run.run_to_end(self.run, COMPARE_COMMAND, values, Path(project) if project else None)
        self._keep("comparison", run)
        if STOP.stop_requests or glance.reason == "stopped":
            raise Stopped
        self.journal.write(Artifact(kind="sides", path=RUNS_FILE), Progress(done=PARTS, total=PARTS, phase="sides"))
        if glance.code is None:
            raise StudioError("migration.sides.no_comparison", run=run.name)
        return Ended(code=glance.code, reason=glance.reason)

    def capture(self, copy: ProjectCopy, stance: str, lines: Iterable[tuple[str, ...]]) -> Run:
        """Return the rehearsal that left a dump, by the first of these command lines that does."""
        is_original = copy is self.copies[0]
        key = "migration.sides.captures_original" if is_original else "migration.sides.captures_migrated"
        for line in lines:
            self._note_progress(key, folder=str(copy.source))
            copy.make(line)
            # Both compute alike: autocast of the virtual NPU keeps other operators in float32, by no fault of the code.
            values = rehearsals.rehearsal_values(self.spec, stance, *self.line_in(copy, line), npu_device="cpu")
            values["planned"] = {"capture": "dump", "capture_at": 1, "capture_steps": self.spec.proof.steps}
            run, _ = self.run_in(copy, rehearsals.REHEARSE_COMMAND, values)
            self._keep("golden" if is_original else "target", run)
            if any((run.folder / CAPTURES).glob("*/**/dump.json")):
                _name_source_files(run.folder / CAPTURES, copy)
                return run
        message = rehearsals.last_log_line(run.log)
        raise StudioError("migration.sides.no_dump", folder=str(copy.source), run=run.name, message=message)

    def _keep(self, part: str, run: Run) -> None:
        self.names[part] = run.name
        write_names(self.run, self.names)

    def _note_progress(self, key: str, **args: str) -> None:
        done = len(self.names)
        self.journal.write(Note(key=key, args=args), Progress(done=done, total=PARTS, phase="sides"))


def _name_source_files(captures: Path, copy: ProjectCopy) -> None:
    """Name the files of the project, not of its copy, which goes, in the call stacks of a dump. Raises OSError."""
    for path in captures.rglob("stack.json"):
        text = path.read_text("utf-8")
        for is_ascii in (True, False):
            top, source = (json.dumps(str(folder), ensure_ascii=is_ascii)[1:-1] for folder in (copy.top, copy.source))
            text = text.replace(f"{top}/", f"{source}/")
        files.write_whole(path, text.encode())
