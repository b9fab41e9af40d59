"""Rehearsals as the worker finds them: what was chosen, and what the processes left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backends.launch.rehearse import report
from backends.launch.rehearse.spec import RehearseSpec
from studio import run as runs
from studio import schema

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run


def rehearse_spec(**values: Any) -> RehearseSpec:
    spec = RehearseSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def prepare(folder: Path) -> Run:
    return runs.create(folder, "rehearse", {})


def part(run: Run, rank: int = 0, **values: Any) -> None:
    folder = run.folder / report.PARTS
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"rank": rank, "stance": "npu", "steps": 3, "redirected": {}, "blocked": [], "operators": []}
    (folder / f"part.r{rank}.p1.json").write_text(json.dumps(plain | values))
