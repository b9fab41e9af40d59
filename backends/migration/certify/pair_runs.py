"""Runs in copies of both projects of a pair, each of which has its log, its curves and its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common import child_run
from backends.migration.certify.copies import line_at, make_copies, relative_workdir
from studio import run as runs
from studio.errors import Stopped, StudioError
from studio.events import last_error
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.migration.certify.copies import ProjectCopy
    from backends.migration.certify.spec import PairSpec
    from studio.run import Glance, Run


class PairRuns:
    """`tops`: the original and the migrated project; `copies`: of the same, in a folder of the run; `workdir`: where
    the command starts, inside either."""

    def __init__(self, spec: PairSpec, run: Run, folder: Path) -> None:
        self.run = run
        self.tops = (spec.pair.original.resolve(), spec.pair.migrated.resolve())
        workdir = spec.training.workdir
        self.workdir = relative_workdir(workdir.resolve() if workdir.parts else Path(), *self.tops)
        self.copies = make_copies(self.tops[0], self.tops[1], folder, spec.training.linked)
        self.line = spec.training.line

    def line_in(self, copy: ProjectCopy, line: tuple[str, ...]) -> tuple[tuple[str, ...], Path]:
        """Return the command and its working folder inside a copy. Raises StudioError."""
        workdir = copy.top / self.workdir
        if not workdir.is_dir():
            raise StudioError("migration.certify.no_folder", path=str(copy.source / self.workdir))
        return line_at(line, copy.top, self.tops), workdir

    def run_in(self, copy: ProjectCopy, command: str, values: dict[str, Any]) -> tuple[Run, Glance]:
        """Run a command in a copy that was made, to its end. Raises StudioError where it cannot start, and Stopped."""
        run, glance = child_run.run_to_end(self.run, command, values, copy.top)
        if STOP.stop_requests or glance.reason == "stopped":
            raise Stopped
        error = last_error(runs.last_events(run.folder))
        if glance.reason == "failed_to_start" and error is not None:
            # A command that cannot start says nothing about either project.
            args = error.args
            if "path" in args:  # Name the user's file, not its copy, which is about to be removed.
                args = {**args, "path": str(copy.source / copy.project_path(str(args["path"])))}
            raise StudioError(error.rule, **args)
        return run, glance
