"""Runs that a case writes by hand and the product ends: judged, explained, and watched from the command line."""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any

from backends import features
from backends.launch.spec import LaunchSpec
from backends.launch.work import end_training
from studio import run as runs
from studio import schema
from studio.command_line import run_command
from studio.events import Ended, Finding, Journal
from tests.planted.verdicts.case import Observation
from tests.runs import events_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.run import Run

    Row = tuple[int, dict[str, float | str]]


def new_run(folder: Path) -> Run:
    return runs.create(folder, "launch", schema.to_json(LaunchSpec()))


def write_rows(run: Run, rows: Iterable[Row], rank: int = 0, pid: int = 100, attempt: int = 1) -> None:
    """Write what a process recorded: steps with their values, where a string is no finite number."""
    lines = [json.dumps({"type": "metric", "time": step, "step": step, "values": values}) for step, values in rows]
    path = run.folder / f"events.a{attempt}.r{rank}.p{pid}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))


def write_event(run: Run, kind: str, pid: int = 101, **fields: Any) -> None:
    with (run.folder / f"events.a1.r0.p{pid}.jsonl").open("a") as file:
        file.write(json.dumps({"type": kind, "time": 1, **fields}) + "\n")


def observed_end(run: Run, code: int = 0) -> Observation:
    """End the run as its worker would, and watch it: its state in a list, and the exit code of `watch`."""
    Journal(run.folder, 1).write(end_training(run, Ended(code=code)))
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
        exit_code = run_command(["--no-project", "watch", str(run.folder)], features(), lambda path, language: 0)
    state = runs.outcome_of(runs.glance(run))
    return Observation(state=state, exit_code=exit_code, success=state == "done" and exit_code == 0)


def observed_cause(run: Run, code: int = 1) -> Observation:
    """The same of a failure, with the cause that is told as its state, "unknown" where there is none."""
    end = observed_end(run, code)
    rules = [event.rule for event in events_of(run) if isinstance(event, Finding)]
    causes = [rule.split(".")[1] for rule in rules if rule.startswith("explain.") and rule.endswith(".cause")]
    state = causes[0] if causes else end.state if end.success else "unknown"
    return Observation(state=state, exit_code=end.exit_code, success=end.success)
