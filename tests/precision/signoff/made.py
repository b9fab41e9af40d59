"""Comparisons for these tests: real dumps of tests/recorded, one side changed in one place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from tests.precision.dump.recorded import copy_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


def compared_dumps(folder: Path, target: Path, golden: Path, golden_again: Path | None = None) -> Run:
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
    if golden_again is not None:
        spec = schema.with_value(spec, "golden_again", golden_again)
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
