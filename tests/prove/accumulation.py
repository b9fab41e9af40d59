"""Accumulated micro batches take the step of the large batch: every recipe, optimizer and number of micro batches."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.launch.engine_process import check
from tests.launch.step_scripts import accumulation

COUNTS = (2, 4, 8)
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")
TRIED = (("linear", OPTIMIZERS, COUNTS), ("digits", OPTIMIZERS, COUNTS), ("text", ("momentum", "adamw"), COUNTS))


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder), accumulation(*TRIED))
    return {"passed": True, "cases": sum(len(optimizers) * len(counts) for _, optimizers, counts in TRIED)}
