"""Arguments that are no tensors: which of them differ, and which differences mean nothing."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.values.distance import LARGEST
from backends.precision.dump.dump import INPUT, KWARG, NOTHING

if TYPE_CHECKING:
    from backends.precision.compare.values.joined import JoinedDumps

NAMES_OF_MACHINE = re.compile(
    r"0x[0-9a-fA-F]{4,}|\b(cpu|cuda|npu|gpu|ascend|xpu|mps)\b(:\d+)?|generator|process_?group", re.I
)
"""Addresses, devices and groups: each process has its own."""

_FINFO = {
    "float64": (LARGEST["float64"], 2.0**-52, 2.0**-1022), "float32": (LARGEST["float32"], 2.0**-23, 2.0**-126),
    "float16": (LARGEST["float16"], 2.0**-10, 2.0**-14), "bfloat16": (LARGEST["bfloat16"], 2.0**-7, 2.0**-126),
}  # fmt: skip
DTYPE_CONSTANTS = {
    sign * value: (sign * (n + 1), dtype)
    for dtype, values in _FINFO.items() for n, value in enumerate(values) for sign in (1, -1)
}  # fmt: skip
"""`finfo(dtype)`'s max, eps and tiny, and their negatives: which of them a number is, and of what dtype."""


@dataclass(frozen=True, kw_only=True)
class ArgumentDifference:
    """What each side has; "" is no value."""

    target: str
    golden: str

    @property
    def is_nonfinite(self) -> bool:
        """Whether a side has NaN or infinity."""
        numbers = (_number(self.target), _number(self.golden))
        return any(number is not None and not math.isfinite(number) for number in numbers)

    def is_within(self, noise: float) -> bool:
        """Whether both are numbers that may have come from tensors, and carry their noise."""
        target, golden = _number(self.target), _number(self.golden)
        is_float = "." in self.target or "e" in self.target
        return target is not None and golden is not None and is_float and abs(target - golden) <= noise * abs(golden)


def argument_differences(joined: JoinedDumps) -> dict[int, ArgumentDifference]:
    """Return the rows of arguments that differ, and of inputs that are a tensor on one side only."""
    rows = joined.rows
    is_input = (rows.role == INPUT) | (rows.role == KWARG)
    is_aligned = (joined.calls.target[rows.call] >= 0) & (joined.calls.golden[rows.call] >= 0)
    differences = {}
    for row in np.flatnonzero(is_input & is_aligned & ~joined.is_tensor).tolist():
        i, j = int(rows.target[row]), int(rows.golden[row])
        target = joined.target.value.get(i, "") if i >= 0 else ""
        golden = joined.golden.value.get(j, "") if j >= 0 else ""
        if target == golden and _have_same_kind(joined, i, j):
            continue
        if is_same_argument(target, golden, joined.tolerances.same_number):
            continue
        if not is_of_each_dtype(target, golden, joined.other_dtypes):
            differences[row] = ArgumentDifference(target=target, golden=golden)
    return differences


def _have_same_kind(joined: JoinedDumps, i: int, j: int) -> bool:
    """A tensor against nothing has no values to compare, and is a difference all the same."""
    kinds = [int(side.kind[n]) if n >= 0 else NOTHING for side, n in ((joined.target, i), (joined.golden, j))]
    return kinds[0] == kinds[1]


def is_same_argument(target: str, golden: str, same_number: float) -> bool:
    if target == golden:
        return target != "" and golden != ""
    a, b = _number(target), _number(golden)
    if a is not None and b is not None:
        return a == b or abs(a - b) <= same_number * max(abs(a), abs(b)) or (a != a and b != b)
    return bool(NAMES_OF_MACHINE.search(target) and NAMES_OF_MACHINE.search(golden))


def is_of_each_dtype(target: str, golden: str, pairs: frozenset[tuple[str, str]]) -> bool:
    """Whether both are a dtype, or a constant of it, and the sides have these dtypes everywhere."""
    constants = [DTYPE_CONSTANTS.get(_number(text) or 0.0, (0, "")) for text in (target, golden)]
    (which, dtype), (other, golden_dtype) = constants
    if which and which == other:
        return (dtype, golden_dtype) in pairs
    return (_dtype(target), _dtype(golden)) in pairs


def _dtype(text: str) -> str:
    """Return a dtype as a dump names it: "torch.float32" and "Float32" are "float32"."""
    return text.rpartition(".")[2].lower()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
