"""The runs that two dumps are from, asked for once more with a narrower capture."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.origin import run_around
from studio import files, processes
from studio import run as runs
from studio.errors import StudioError
from studio.security import ledger

if TYPE_CHECKING:
    from studio.run import Run

COMMANDS = ("launch", "script")
PLANNED = "planned"
"""The card of both commands that says what a training captures by itself; tests hold these values against it."""
CAPTURE_END_STATES = ("done", "failed", "withdrawn")


def capture_values(
    request_values: dict[str, Any], step: int, task: str, level: str, targets: tuple[str, ...]
) -> dict[str, Any]:
    """run.json's values for the same training with another capture of one step."""
    again = copy.deepcopy(request_values)
    again[PLANNED] = {
        "capture": "dump", "capture_at": step, "capture_steps": 1, "capture_task": task,
        "capture_level": level if level in ("L0", "L1", "mix") else "mix", "capture_ranks": "",
        "capture_targets": ",".join(targets), "capture_direction": "both", "capture_casts": True,
    }  # fmt: skip
    return again


def origin_run(dump: Path) -> Run:
    """Raises StudioError where the dump is from elsewhere, also in a run that was brought here or started by somebody
    else, or from a command that is no training."""
    folder = run_around(dump)
    mark = processes.read_mark(folder / "worker.json") if folder is not None else None
    if folder is None or (mark is not None and mark.host.host != processes.current_host().host):
        raise StudioError("precision.deeper.not_ours", folder=str(dump))
    run = runs.open_run(folder)
    if run.request.command not in COMMANDS or not ledger.is_remembered(folder / "run.json"):
        raise StudioError("precision.deeper.not_ours", folder=str(dump))
    return run


def run_problem(comparison: Path) -> str:
    """A key where a comparison's trainings cannot be run again; "" where they can, or nobody knows yet."""
    header = files.read_json(comparison / "artifacts/comparison/comparison.json")
    passes = header.get("passes") if isinstance(header, dict) else None
    folders = [Path(str(each.get(side))) for each in passes or () for side in ("target", "golden") if each.get(side)]
    try:
        for folder in folders[:2]:
            origin_run(folder)
    except StudioError:
        return "precision.rule.not_ours"
    return ""


def is_captured(run: Run) -> bool:
    """Whether every rank that could be asked has ended its capture: nothing more is needed of the training."""
    ready = len(list(run.folder.glob("capture.r*.json")))
    states = [files.read_json(path) for path in (run.folder / "artifacts" / "captures").glob("*/rank*.json")]
    over = [each for each in states if isinstance(each, dict) and each.get("state") in CAPTURE_END_STATES]
    return bool(over) and len(over) >= ready
