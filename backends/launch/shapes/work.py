"""Shapes, in the worker: one step in a process of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.plan import launch_command, write_inputs
from backends.launch.spec import Debug, Keep, Parallel
from backends.launch.work import end_training
from studio.supervisor import supervise

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from studio.command import Command
    from studio.events import Ended
    from studio.run import Run

ENGINE = "ascend_engine"


def shapes(spec: LaunchSpec, run: Run) -> Ended:
    """Leaves artifacts/shapes.json, and the same as a table in output.log."""
    spec = alone(spec)
    if not (run.folder / "training.json").exists():
        write_inputs(spec, run.folder)
    ended = supervise(command(spec, run), run, spec.advanced.grace)
    end_training(run, ended)
    return ended


def alone(spec: LaunchSpec) -> LaunchSpec:
    """The same training in one process, from the beginning, and without a debugger: no such choice changes a shape."""
    return replace(spec, parallel=Parallel(), keep=Keep(), debug=Debug())


def command(spec: LaunchSpec, run: Run) -> Command:
    """The training's command, for one step that shows the shapes."""
    training = launch_command(spec, run)
    after = training.argv.index(ENGINE) + 1
    return replace(training, argv=(*training.argv[:after], "shapes", *training.argv[after:]))
