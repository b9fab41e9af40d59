"""Inputs that begin with a parameter and not with what was computed: no noise of products has reached them.

No call names them as parameters where a script takes one itself, such as a temperature. A capture with a record of the
optimizer has their values. Where one side alone runs a call before them that alters values, such as a clamp, which
msprobe names and does not dump, the other side takes what no named call made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import OUTPUT
from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump

ALTERING = frozenset(("clamp", "tril", "triu"))
"""Calls of `alignment.unmatched.LEFT_OUT` that give other values than they were given; casts may be the sides' own."""


def leaf_rows(joined: JoinedDumps, rows: Iterable[int]) -> set[int]:
    """Return those of the rows, inputs of forward calls, that are such inputs unless a call made them."""
    recorded, golden_recorded = _recorded_values(joined)
    altered = _altered_calls(joined)
    return {
        row for row in rows
        if joined.target_value[row] in recorded or joined.golden_value[row] in golden_recorded
        or int(joined.rows.call[row]) in altered
    }  # fmt: skip


def _recorded_values(joined: JoinedDumps) -> tuple[set[int], set[int]]:
    """Return the values of the parameters in the optimizers' records of the target and of the golden side."""
    of_optimizer = np.array([name.kind == OPTIMIZER for name in joined.names] or [False])
    rows = of_optimizer[joined.rows.call] & (joined.rows.role != OUTPUT)
    return set(joined.target_value[rows].tolist()) - {0}, set(joined.golden_value[rows].tolist()) - {0}


def _altered_calls(joined: JoinedDumps) -> frozenset[int]:
    """Return the calls before which one side alone ran a call that alters values."""
    altered = []
    for number, (i, j) in enumerate(zip(joined.calls.target.tolist(), joined.calls.golden.tolist(), strict=True)):
        if i >= 0 and j >= 0 and _altering(joined.target, i) != _altering(joined.golden, j):
            altered.append(number)
    return frozenset(altered)


def _altering(side: Dump, call: int) -> set[str]:
    return {name_of(name).api for name in side.untraced.get(call, ())} & ALTERING
