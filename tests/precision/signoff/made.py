"""Comparisons for these tests: real dumps of tests/recorded, one side changed in one place."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from backends.precision.report.spec import ReportSpec
from backends.precision.report.work import REPORT_FILE, write_report
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Metric
from tests.precision.dump.recorded import copy_of
from tests.precision.msprobe.recorded import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Run


def compared(folder: Path, name: str, change: Callable[[dict[str, Any]], None] | None = None) -> Run:
    """The run of a comparison of a recorded dump with a copy of it, whose dump.json may be changed."""
    target, golden = copy_of(name, folder / "target"), copy_of(name, folder / "golden")
    if change is not None:
        path = target / "dump.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        change(found["data"])
        path.write_text(json.dumps(found), encoding="utf-8")
    return compared_dumps(folder, target, golden)


def compared_dumps(folder: Path, target: Path, golden: Path, golden_again: Path | None = None, **chosen: Any) -> Run:
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
    if golden_again is not None:
        spec = schema.with_value(spec, "golden_again", golden_again)
    for name, value in chosen.items():
        spec = schema.with_value(spec, name, value)
    run = runs.create(folder / "runs", "compare", schema.to_json(spec))
    compare(spec, run)
    return run


def perturb(call: str, key: str = "output", place: int = 0) -> Callable[[dict[str, Any]], None]:
    """Five percent more in every statistic of one tensor."""

    def change(data: dict[str, Any]) -> None:
        entry = data[call][key][place]
        for name in ("Max", "Min", "Mean", "Norm"):
            entry[name] *= 1.05

    return change


def sides(folder: Path) -> tuple[Path, Path]:
    """The two dumps, each in a run with the same losses."""
    made = []
    for name in ("target", "golden"):
        run = runs.create(folder / name, "script", {})
        losses = (Metric(step=step, values={"loss": 1 / step}) for step in range(1, 9))
        Journal(run.folder, 1).write(*losses, Ended(code=0))
        made.append(Path(shutil.copytree(RECORDED / "target", run.folder / "artifacts" / "captures" / "a")))
    return made[0], made[1]


def reported_outcome(folder: Path, comparison: Run) -> str:
    """What the report of a comparison opens with."""
    spec = schema.with_value(ReportSpec(), "comparison", comparison.folder)
    spec = schema.with_value(spec, "report_language", "en")
    run = runs.create(folder / "reports", "precision-report", schema.to_json(spec))
    write_report(spec, run)
    match = re.search(r'class="outcome (\w+)"', (run.folder / REPORT_FILE).read_text(encoding="utf-8"))
    return match[1] if match else ""
