"""Shapes, in the worker: one step in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.plan import plan
from backends.launch.spec import Debug, Keep, Parallel
from backends.launch.work import tell_cause
from studio.supervisor import supervise

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from studio.command import Command
    from studio.events import Ended
    from studio.run import Run

ENGINE = "ascend_engine"


def shapes(spec: LaunchSpec, run: Run) -> Ended:
    """Leaves artifacts/shapes.json, and the same as a table in output.log."""
    ended = supervise(command(spec, run), run, spec.advanced.grace)
    tell_cause(run, ended)
    return ended


def command(spec: LaunchSpec, run: Run) -> Command:
    """That of the training, in one process, from the beginning, and without a debugger: no such choice changes a
    shape."""
    alone = plan(replace(spec, parallel=Parallel(), keep=Keep(), debug=Debug()), run)
    after = alone.argv.index(ENGINE) + 1
    return replace(alone, argv=(*alone.argv[:after], "shapes", *alone.argv[after:]))
