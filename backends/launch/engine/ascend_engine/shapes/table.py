"""The shapes of a network as a file and as a table for the log, whatever the framework is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ascend_studio

if TYPE_CHECKING:
    from ascend_engine.options import Config

FILE = Path("artifacts", "shapes.json")
FORMAT = 1
HEADS = {
    "mindspore": ("cell", "type", "in", "out", "parameters", "trainable"),
    "torch": ("module", "type", "in", "out", "parameters", "trainable"),
}


def report_shapes(config: Config, used: str, rows: list[dict[str, Any]], inside: str) -> None:
    """Leaves artifacts/shapes.json, and the same as a table in the log. `rows`: one for each layer with its "name",
    "type", "inputs", "outputs", "calls", "parameters" and "trainable"; `inside`: see `backends.launch.shapes.answer`.
    """
    totals = {name: sum(row[name] for row in rows) for name in ("parameters", "trainable")}
    facts = {"format": FORMAT, "recipe": config.recipe, "device": used, "batch": config.batch, "amp": config.amp}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({**facts, "inside": inside, **totals, "cells": rows}, ensure_ascii=False), "utf-8")
    if inside:
        ascend_studio.note("shapes.inside", level=config.amp, dtype=inside)
    for line in table(rows, HEADS[config.framework]):
        print(line)
        ascend_studio.note("shapes.line", text=line)
    # Last, since a glance at a run is at the end of its events.
    ascend_studio.artifact("shapes", FILE.absolute())
    ascend_studio.metric(0, cells=len(rows), **totals)


def table(rows: list[dict[str, Any]], heads: tuple[str, ...]) -> list[str]:
    """For a log, which has no language: its words are those of the file."""
    cells = [heads, *map(texts, rows)]
    columns = range(len(heads))
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
