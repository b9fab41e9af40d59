"""Arguments that are no tensors: which of them differ, and which differences mean nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import INPUT, KWARG

if TYPE_CHECKING:
    from backends.precision.compare.scene import Scene

SAME = 1e-9
"""Floats that differ by less are the same number written twice."""
OF_THE_MACHINE = re.compile(
    r"0x[0-9a-fA-F]{4,}|\b(cpu|cuda|npu|gpu|ascend|xpu|mps)\b(:\d+)?|generator|process_?group", re.I
)


@dataclass(frozen=True, kw_only=True)
class Differing:
    """What both sides have; "" is no value."""

    target: str
    golden: str

    def by_noise(self, noise: float) -> bool:
        """Numbers that came from tensors carry their noise."""
        one, other = _number(self.target), _number(self.golden)
        is_float = "." in self.target or "e" in self.target
        return one is not None and other is not None and is_float and abs(one - other) <= noise * abs(other)


def differing(scene: Scene) -> dict[int, Differing]:
    """Rows of arguments that differ, and of inputs that are a tensor on one side only."""
    rows = scene.rows
    roles = (rows.role == INPUT) | (rows.role == KWARG)
    both = (scene.calls.target[rows.call] >= 0) & (scene.calls.golden[rows.call] >= 0)
    found = {}
    for row in np.flatnonzero(roles & both & ~scene.is_tensor).tolist():
        i, j = int(rows.target[row]), int(rows.golden[row])
        mine = scene.target.value.get(i, "") if i >= 0 else ""
        theirs = scene.golden.value.get(j, "") if j >= 0 else ""
        if mine == theirs and _both_or_none(scene, row, i, j):
            continue
        if not is_same(mine, theirs) and (_dtype(mine), _dtype(theirs)) not in scene.other_dtypes:
            found[row] = Differing(target=mine, golden=theirs)
    return found


def _both_or_none(scene: Scene, row: int, i: int, j: int) -> bool:
    """A tensor against nothing has no values to compare, and is a difference all the same."""
    kinds = [int(side.kind[n]) if n >= 0 else 2 for side, n in ((scene.target, i), (scene.golden, j))]
    return kinds[0] == kinds[1]


def is_same(mine: str, theirs: str) -> bool:
    if mine == theirs:
        return mine != "" and theirs != ""
    one, other = _number(mine), _number(theirs)
    if one is not None and other is not None:
        return one == other or abs(one - other) <= SAME * max(abs(one), abs(other)) or (one != one and other != other)
    return bool(OF_THE_MACHINE.search(mine) and OF_THE_MACHINE.search(theirs))


def _dtype(text: str) -> str:
    """As a dump names dtypes: "torch.float32" and "Float32" are "float32"."""
    return text.rpartition(".")[2].lower()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
