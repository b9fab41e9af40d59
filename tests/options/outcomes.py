"""What a command would do with a spec, as the product plans it: two specs with one outcome ask for the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from backends.launch import launchers
from backends.launch.capture.spec import CaptureSpec, capture_of
from backends.launch.capture.state import request_of
from backends.launch.check import figures, trial
from backends.launch.check.work import max_samples, on_this_host
from backends.launch.checkpoints import step_of
from backends.launch.engine_options import engine_options, options_text
from backends.launch.export.work import export_command
from backends.launch.nodes import lines_for_nodes
from backends.launch.own.plan import program_command
from backends.launch.plan import launch_command
from backends.launch.preview.answer import preview_answer
from backends.launch.recipes import resolved
from backends.launch.rehearse.work import rehearsal_command
from backends.launch.script import document
from backends.launch.shapes.work import alone
from studio import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.launch.capture.spec import Planned
    from backends.launch.check.spec import CheckSpec
    from backends.launch.own.spec import OwnSpec
    from backends.launch.spec import LaunchSpec
    from studio.command import Command
    from studio.run import Run


def _words(command: Command) -> Any:
    return command.argv, dict(command.env), str(command.cwd)


def _request(planned: Planned) -> Any:
    chosen = capture_of(planned)
    return None if chosen is None else replace(request_of(chosen), id="")


def launch(spec: LaunchSpec, run: Run) -> Any:
    planned = schema.effective(spec).planned
    return _words(launch_command(spec, run)), engine_options(spec), _request(planned), launchers.devices_of(spec)


def shapes(spec: LaunchSpec, run: Run) -> Any:
    return launch(alone(spec), run)


def check_first(spec: CheckSpec, run: Run) -> Any:
    steps = figures.steps_left(spec, 0)
    written = figures.checkpoints_written(spec, steps, 100_000.0)
    return (
        launch(trial.spec_of(spec, 4, 5), run), steps, written, figures.disk_of(spec, 1, written),
        on_this_host(spec), max_samples(spec), resolved(spec).batch, step_of(spec.keep.resume),
    )  # fmt: skip


def nodes(spec: LaunchSpec, run: Run) -> Any:
    return lines_for_nodes(spec, run.folder)


def as_script(spec: LaunchSpec, run: Run) -> Any:
    """What the code is folded for, what stands before it, and the line that starts it; the folding itself takes seconds
    and is tested in `tests/launch/test_as_script.py`."""
    spec = schema.effective(spec)
    has_code = spec.what.recipe != "own" or spec.what.recipe_file.is_file()
    return options_text(spec), document._before(spec) if has_code else "", document._run_line(spec)


def script(spec: OwnSpec, run: Run) -> Any:
    return _words(program_command(spec, run, {})), _request(spec.planned)


def rehearse(spec: Any, run: Run) -> Any:
    return _words(rehearsal_command(spec, run, {})), _request(spec.planned)


def capture(spec: CaptureSpec, run: Run) -> Any:
    return replace(request_of(schema.effective(spec).capture), id="")


def export(spec: Any, run: Run) -> Any:
    return _words(export_command(spec, run))


def preview(spec: Any, run: Run) -> Any:
    return json.loads(msgspec.json.encode(preview_answer(spec)))


OUTCOMES: dict[str, Callable[[Any, Run], Any]] = {
    "launch": launch, "shapes": shapes, "check-first": check_first, "nodes": nodes, "as-script": as_script,
    "script": script, "rehearse": rehearse, "capture": capture, "export": export, "preview": preview,
}  # fmt: skip
