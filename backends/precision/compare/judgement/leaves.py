"""Inputs that begin with a parameter and not with what was computed: no noise of products has reached them.

No call names them as parameters where a script takes one itself, such as a temperature. A capture with a record of the
optimizer has their values. Where one side alone runs a call that alters values, such as a clamp, which msprobe names
and does not dump, the next call takes its result; a single number may be taken some calls later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import OUTPUT
from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump

    LoneNames = tuple[list[str], list[str]]

ALTERING = frozenset(("clamp", "tril", "triu"))
"""Calls of `alignment.unmatched.LEFT_OUT` that give other values than they were given; casts may be the sides' own."""


def leaf_rows(joined: JoinedDumps, rows: Iterable[int]) -> set[int]:
    """Return those of the rows, inputs of forward calls, that are such inputs unless a call made them."""
    recorded, golden_recorded = _recorded_values(joined)
    alterations = lone_alterations(joined)
    leaves = set()
    for row in rows:
        is_recorded = joined.target_value[row] in recorded or joined.golden_value[row] in golden_recorded
        if is_recorded or (alterations and alteration_of(joined, row, alterations) is not None):
            leaves.add(row)
    return leaves


def alteration_of(joined: JoinedDumps, row: int, alterations: Mapping[int, LoneNames]) -> LoneNames | None:
    """Return the `lone_alterations` whose result a row may be: those right before its call or, of a number, of the last
    calls before it."""
    call = int(joined.rows.call[row])
    reach = joined.tolerances.calls_to_input if joined.golden_size[row] == 1 else 0
    return next((alterations[each] for each in range(call, call - reach - 1, -1) if each in alterations), None)


def lone_alterations(joined: JoinedDumps) -> dict[int, LoneNames]:
    """Return the calls that alter values and that one side alone has, of the target and of the golden side, by the next
    call that both have."""
    if not joined.target.untraced and not joined.golden.untraced:
        return {}
    alterations: dict[int, LoneNames] = {}
    names: LoneNames = ([], [])
    for number, (i, j) in enumerate(zip(joined.calls.target.tolist(), joined.calls.golden.tolist(), strict=True)):
        names = (names[0] + _altering(joined.target, i), names[1] + _altering(joined.golden, j))
        if i >= 0 and j >= 0:
            apis, golden_apis = ({name_of(name).api for name in each} for each in names)
            if apis != golden_apis:
                alterations[number] = (_without(names[0], golden_apis), _without(names[1], apis))
            names = ([], [])
    return alterations


def _altering(side: Dump, call: int) -> list[str]:
    return [name for name in side.untraced.get(call, ()) if name_of(name).api in ALTERING]


def _without(names: list[str], apis: set[str]) -> list[str]:
    return [name for name in names if name_of(name).api not in apis]


def _recorded_values(joined: JoinedDumps) -> tuple[set[int], set[int]]:
    """Return the values of the parameters in the optimizers' records of the target and of the golden side."""
    of_optimizer = np.array([name.kind == OPTIMIZER for name in joined.names] or [False])
    rows = of_optimizer[joined.rows.call] & (joined.rows.role != OUTPUT)
    return set(joined.target_value[rows].tolist()) - {0}, set(joined.golden_value[rows].tolist()) - {0}
