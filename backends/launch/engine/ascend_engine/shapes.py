"""The shapes of a network: what goes into each cell and what comes out, seen in one step."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ascend_studio
import mindspore as ms
from mindspore import Tensor

from ascend_engine import debugging, device, modes, precision, recipe
from ascend_engine.train import Training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mindspore import nn

    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

FILE = Path("artifacts", "shapes.json")
FORMAT = 1
AMP_WRAPPER = "_backbone"  # the name under which a cell lies in those that mixed precision puts around it
REWRITTEN = re.compile(r"Opt(_\d+)?$")  # what mixed precision adds to the name of a class that it rewrites
INSIDE = ("O1", "auto")  # levels at which operators lower the precision inside a cell and raise it again
HEADS = ("cell", "type", "in", "out", "parameters", "trainable")


def shapes(config: Config, stop: Stop) -> int:
    """Do one step in the current folder, a run's, and tell the shapes; returns the exit code.

    One micro batch, operator by operator: inside a compiled step no cell is called one by one.
    """
    config = config.replace(
        loop="functional", mode="pynative", jit_level="", accumulate=1, steps=1, parallel="none", stages=1,
        sink=False, recompute=False,
    )  # fmt: skip
    modes.enter(config)
    used = device.select(config.device)
    modes.check(config, used)
    debugging.leave_cache_out()
    ms.set_seed(config.seed)
    plan = recipe.build(config)
    classes = {name: type(cell).__name__ for name, cell in plan.network.cells_and_names()}
    training = Training(config, used, plan)
    training.set_learning_rate(1)
    cells = Cells(training.network, classes, is_wrapped=training.network is not plan.network)
    cells.watch()
    if stop:
        return stop.exit_code
    ascend_studio.progress(0, 1, "train")
    training.step(training.batches(1))
    ascend_studio.progress(1, 1, "finish")
    report_shapes(config, used, cells.rows())
    return 0


class Cells:
    """The cells of a network under the names that its author gave them, without those that mixed precision adds.

    classes: name -> class, from before mixed precision was applied, which rewrites some of them.
    """

    def __init__(self, network: nn.Cell, classes: dict[str, str], *, is_wrapped: bool):
        self.classes = classes
        self.is_wrapped = is_wrapped
        # Of several with one name the innermost, which comes last, is the author's.
        self.cells = {self.own_name(full): cell for full, cell in network.cells_and_names()}
        self.shapes_by_cell: dict[str, dict[str, Any]] = {}

    def own_name(self, full: str) -> str:
        words = full.split(".")
        return ".".join(word for word in (words[1:] if self.is_wrapped else words) if word != AMP_WRAPPER)

    def own_class(self, cell: nn.Cell) -> str:
        """Return the name of a cell's class as its author wrote it."""
        name = type(cell).__name__
        return REWRITTEN.sub("", name) if self.is_wrapped else name

    def watch(self) -> None:
        for name, cell in self.cells.items():
            cell.register_forward_hook(self.hook(name))

    def hook(self, name: str) -> Callable:
        """Keeps what the first call had, and counts the others."""

        def see(cell, inputs, outputs):
            first = {"inputs": list(tensors_in(inputs)), "outputs": list(tensors_in(outputs)), "calls": 0}
            self.shapes_by_cell.setdefault(name, first)["calls"] += 1

        return see

    def rows(self) -> list[dict[str, Any]]:
        """As in the file: one for each cell, the outer before the inner ones. A Parameter that two cells share is the
        first one's."""
        counted: set[int] = set()
        return [self.row(name, cell, counted) for name, cell in self.cells.items()]

    def row(self, name: str, cell: nn.Cell, counted: set[int]) -> dict[str, Any]:
        own = [parameter for parameter in cell.get_parameters(expand=False) if id(parameter) not in counted]
        counted.update(map(id, own))
        return {
            "name": name,
            "type": self.classes.get(name) or self.own_class(cell),
            **self.shapes_by_cell.get(name, {"inputs": [], "outputs": [], "calls": 0}),
            "parameters": sum(parameter.size for parameter in own),
            "trainable": sum(parameter.size for parameter in own if parameter.requires_grad),
        }


def tensors_in(value: Any) -> Iterable[dict[str, Any]]:
    """The tensors of a cell's arguments or results, also in tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield {"shape": list(value.shape), "dtype": str(value.dtype).lower()}
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def report_shapes(config: Config, used: str, rows: list[dict[str, Any]]) -> None:
    """Leaves artifacts/shapes.json, and the same as a table in the log."""
    totals = {name: sum(row[name] for row in rows) for name in ("parameters", "trainable")}
    facts = {"format": FORMAT, "recipe": config.recipe, "device": used, "batch": config.batch, "amp": config.amp}
    inside = str(precision.DTYPES[config.amp_dtype]).lower() if config.amp in INSIDE else ""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({**facts, "inside": inside, **totals, "cells": rows}, ensure_ascii=False), "utf-8")
    if inside:
        ascend_studio.note("shapes.inside", level=config.amp, dtype=inside)
    for line in table(rows):
        print(line)
        ascend_studio.note("shapes.line", text=line)
    # Last, since a glance at a run is at the end of its events.
    ascend_studio.artifact("shapes", FILE.absolute())
    ascend_studio.metric(0, cells=len(rows), **totals)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """For a log, which has no language: its words are those of the file."""
    cells = [HEADS, *map(texts, rows)]
    columns = range(len(HEADS))
    widths = [max(len(row[column]) for row in cells) for column in columns]
    return ["  ".join(row[column].ljust(widths[column]) for column in columns).rstrip() for row in cells]


def texts(row: dict[str, Any]) -> tuple[str, ...]:
    name = row["name"] or "(network)"
    counts = (str(row[kind]) if row["parameters"] else "" for kind in ("parameters", "trainable"))
    return (name, row["type"], tensors_text(row["inputs"]), tensors_text(row["outputs"]), *counts)


def tensors_text(tensors: list[dict[str, Any]]) -> str:
    """'float32 4x1x8x8, int32 scalar'."""
    each = ("{} {}".format(tensor["dtype"], "x".join(map(str, tensor["shape"])) or "scalar") for tensor in tensors)
    return ", ".join(each) or "-"
