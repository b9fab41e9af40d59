"""Comparisons for the tests of the window: one of real dumps, and synthetic ones."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import (
    EQUAL,
    FIRST,
    FOLDER,
    FOLLOWS,
    MEASURES,
    Comparison,
    First,
    Pass,
)
from backends.precision.compare.comparison_files import open_comparison
from backends.precision.compare.spec import CompareSpec, Sides
from backends.precision.compare.work import compare
from backends.precision.dump.dump import INPUT, OUTPUT
from studio import run as runs
from studio import schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from studio.run import Run

TRAIN = """\
import json
import sys

import torch
from msprobe.pytorch import PrecisionDebugger


class Block(torch.nn.Module):
    def __init__(self, cast):
        super().__init__()
        self.norm, self.up = torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)
        self.cast = cast

    def forward(self, x):
        y = self.norm(x)
        if self.cast:
            y = y.to(torch.bfloat16).to(torch.float32)
        return x + torch.relu(self.up(y))


def captured(out, task, cast):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), Block(False), Block(cast), torch.nn.Linear(8, 2))
    config = {"task": task, "dump_path": out, "rank": [], "step": [], "level": "mix", "async_dump": False,
              task: {"scope": [], "list": [], "data_mode": ["all"]}}
    with open(out + ".json", "w") as file:
        json.dump(config, file)
    debugger = PrecisionDebugger(config_path=out + ".json")
    debugger.start(model=model)
    model(torch.randn(3, 4)).square().mean().backward()
    debugger.stop()
    debugger.step()


captured(sys.argv[1], sys.argv[2], sys.argv[3] == "cast")
"""


def dumped(folder: Path, task: str) -> tuple[Path, Path]:
    """Dump the target and the golden side of one step; the target casts to bfloat16 and back in the second block,
    untraced."""
    folder.mkdir(exist_ok=True)
    script = folder / "train.py"
    script.write_text(TRAIN, encoding="utf-8")
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    sides = {"target": "cast", "golden": "plain"}
    children = [
        subprocess.Popen(
            [sys.executable, str(script), str(folder / side), task, how],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for side, how in sides.items()
    ]  # fmt: skip
    for child in children:
        _, errors = child.communicate(timeout=300)
        assert child.returncode == 0, errors.decode()
    return folder / "target", folder / "golden"


def compared(folder: Path, target: Path, golden: Path) -> tuple[Run, Comparison]:
    """Run the compare command in a run in `folder`."""
    spec = CompareSpec(sides=Sides(target=target, golden=golden))
    run = runs.create(folder, "compare", schema.to_json(spec), None)
    compare(spec, run)
    return run, open_comparison(run.folder / FOLDER)


def make_comparison(
    verdicts: Sequence[int],
    *,
    errors: Sequence[float] | None = None,
    parents: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    backward: Sequence[bool] | None = None,
    passes: Sequence[int] = (0,),
    first: First | None = None,
    rows: int = 2,
) -> Comparison:
    """Return a comparison whose calls have these verdicts.

    Each call has `rows` rows: inputs, and an output as the last. `passes` is the first call of each pass."""
    count = len(verdicts)
    verdict = np.array(verdicts, np.uint8)
    error = np.zeros(count, np.float32) if errors is None else np.array(errors, np.float32)
    parent = np.full(count, -1) if parents is None else np.array(parents)
    stats = np.random.default_rng(0).normal(size=(count * rows, 4))
    nothing = np.full(count * rows, -1, np.int32)
    columns: dict[str, Any] = {
        "target_call": np.arange(count), "golden_call": np.arange(count), "call_verdict": verdict,
        "call_error": error, "call_input": error, "call_allowed": np.full(count, 1e-5, np.float32),
        "parent": parent.astype(np.int32), "stack": np.full(count, -1), "golden_stack": np.full(count, -1),
        "is_backward": np.array(backward if backward is not None else [False] * count, np.bool_),
        "is_module": np.isin(np.arange(count), parent),
        "call": np.repeat(np.arange(count, dtype=np.int32), rows),
        "role": np.tile(np.array([INPUT] * (rows - 1) + [OUTPUT], np.uint8), count),
        "is_scalar": np.zeros(count * rows, np.bool_),
        "item": np.tile(np.array([*range(rows - 1), 0], np.int32), count),
        "target_dtype": np.zeros(count * rows, np.int32), "golden_dtype": np.zeros(count * rows, np.int32),
        "target_shape": np.zeros(count * rows, np.int32), "golden_shape": np.zeros(count * rows, np.int32),
        "target_stats": stats, "golden_stats": stats, "error": np.repeat(error, rows),
        "allowed": np.full(count * rows, 1e-5, np.float32), "verdict": np.repeat(verdict, rows),
        "msprobe": np.zeros(count * rows, np.uint8), "measures": np.empty((0, len(MEASURES))),
        "target_text": nothing, "golden_text": nothing, "target_file": nothing, "golden_file": nothing,
    }  # fmt: skip
    return Comparison(
        passes=tuple(
            Pass(step=number, rank=0, target=None, golden=None, first_call=begin, first_row=begin * rows)
            for number, begin in enumerate(passes)
        ),
        first=first, columns=columns, items=tuple(map(str, range(rows))), dtypes=("torch.float32",),
        names=tuple(names) if names is not None else tuple(f"Torch.relu.{n}.forward" for n in range(count)),
        shapes=((2, 3),), texts=(), stacks=(),
    )  # fmt: skip


def make_large_comparison(calls: int, rows: int) -> Comparison:
    """Return a comparison that is equal in its first third; all calls after the divergence follow from it."""
    at = calls // 3
    verdicts = [EQUAL] * at + [FIRST] + [FOLLOWS] * (calls - at - 1)
    errors = np.where(np.arange(calls) < at, 0, 10 ** np.random.default_rng(1).normal(-3, 0.5, calls))
    first = First(
        name=f"Torch.relu.{at}.forward", direction="forward", place="output", index=0, step=0, rank=0,
        reason="output", args={"error": "0.001", "allowed": "1e-05"}, call=at, row=at * rows + rows - 1, before=at,
    )  # fmt: skip
    return make_comparison(verdicts, errors=errors.tolist(), first=first, rows=rows)
