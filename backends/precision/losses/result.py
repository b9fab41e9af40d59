"""artifacts/losses.json: how far two curves are apart, and the verdict; written anew while the runs go on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from backends.precision.measure.formats import number
from studio import files

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.losses.compare import Distance, Judged
    from studio.run import Run

FILE = "artifacts/losses.json"


def keep(run: Run, metric: str, found: Judged) -> None:
    """Raises OSError."""
    files.write_json(run.folder / FILE, as_json(metric, found))


def as_json(metric: str, found: Judged) -> dict[str, Any]:
    return {
        "metric": metric, "verdict": found.verdict, "pass": found.verdict == "pass", **_told(found.distance),
        "limit": found.limit, "step_limit": found.step_limit, "first_beyond": found.first_beyond,
        "noise": _told(found.noise) if found.noise else None,
    }  # fmt: skip


def _told(distance: Distance) -> dict[str, Any]:
    values = dataclasses.asdict(distance)
    return {name: number(value) if isinstance(value, float) else value for name, value in values.items()}


def read(folder: Path) -> dict[str, Any]:
    """{} where the file is missing or damaged."""
    found = files.read_json(folder / FILE)
    return found if isinstance(found, dict) else {}


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: all of the file."""
    return read(run.folder)
