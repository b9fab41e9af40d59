"""Arguments that are no tensors: which of them differ, and which differences mean nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.distance import LARGEST
from backends.precision.dump.dump import INPUT, KWARG

if TYPE_CHECKING:
    from backends.precision.compare.scene import Scene

SAME = 1e-9
"""Floats that differ by less are the same number written twice."""
OF_THE_MACHINE = re.compile(
    r"0x[0-9a-fA-F]{4,}|\b(cpu|cuda|npu|gpu|ascend|xpu|mps)\b(:\d+)?|generator|process_?group", re.I
)


_FINFO = {
    "float64": (LARGEST["float64"], 2.0**-52, 2.0**-1022), "float32": (LARGEST["float32"], 2.0**-23, 2.0**-126),
    "float16": (LARGEST["float16"], 2.0**-10, 2.0**-14), "bfloat16": (LARGEST["bfloat16"], 2.0**-7, 2.0**-126),
}  # fmt: skip
CONSTANTS = {
    sign * value: (sign * (n + 1), dtype)
    for dtype, values in _FINFO.items() for n, value in enumerate(values) for sign in (1, -1)
}  # fmt: skip
"""`finfo(dtype)`'s max, eps and tiny, and their negatives: which of them a number is, and of what dtype."""


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
        if not is_same(mine, theirs) and not of_each_dtype(mine, theirs, scene.other_dtypes):
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


def of_each_dtype(mine: str, theirs: str, pairs: frozenset[tuple[str, str]]) -> bool:
    """A dtype, or a constant of it, where the sides have other dtypes everywhere."""
    one, other = (CONSTANTS.get(_number(text) or 0.0, (0, "")) for text in (mine, theirs))
    if one[0] and one[0] == other[0]:
        return (one[1], other[1]) in pairs
    return (_dtype(mine), _dtype(theirs)) in pairs


def _dtype(text: str) -> str:
    """As a dump names dtypes: "torch.float32" and "Float32" are "float32"."""
    return text.rpartition(".")[2].lower()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
