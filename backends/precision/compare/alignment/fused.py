"""An operator of one side that stands for several of the other: a fused attention or norm, and the same written out.

Where the two sides differ between calls that both have, one side by a single operator that is known to be fused and the
other by several, what they make is held against each other where the next call takes it: the walk has judged that. They
stand for each other where each such value is explained, and is held against a limit that means something. What their
backward makes is judged in the same way, wherever it goes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.compare.comparison import EQUAL, EXPLAINED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Name

FUSED = re.compile("attention|norm|rotary|swiglu|geglu|softmax|cross_?entropy|logsumexp|lstm|gru")
"""Operators that others are written out for. An activation is none: two of them differ by little."""
FEWEST_PARTS = 2
"""A single call for another is no fusion."""


@dataclass(frozen=True, kw_only=True)
class FusedCalls:
    """Indices into the alignment. `whole`: one call of one side; `parts`: those of the other that it stands for, both
    of the forward; `backward`: the calls of their backward."""

    whole: int
    parts: tuple[int, ...]
    backward: tuple[int, ...]

    @property
    def calls(self) -> tuple[int, ...]:
        return (self.whole, *self.parts, *self.backward)


def find_fused(joined: JoinedDumps, judgement: Judgement, alone: Iterable[int]) -> tuple[FusedCalls, ...]:
    """Return the operators that stand for others, of the calls that one side has `alone`."""
    calls = list(alone)
    forward = [call for call in calls if joined.names[call].direction not in BACKWARD]
    candidates = [pair for gap in _gaps(forward) if (pair := _whole_and_parts(joined, gap))]
    if not candidates:
        return ()
    taken = _taken_values(joined, judgement)
    return tuple(
        FusedCalls(whole=whole, parts=parts, backward=_backward_of(joined, (whole, *parts), calls))
        for whole, parts in candidates
        if _is_verified(joined, judgement, taken, (whole, *parts))
    )


def _gaps(calls: list[int]) -> Iterator[list[int]]:
    """Yield the calls that stand side by side."""
    for _, group in groupby(enumerate(calls), lambda pair: pair[1] - pair[0]):
        yield [call for _, call in group]


def _whole_and_parts(joined: JoinedDumps, gap: list[int]) -> tuple[int, tuple[int, ...]] | None:
    targets = [call for call in gap if joined.calls.golden[call] < 0]
    goldens = [call for call in gap if joined.calls.target[call] < 0]
    single, several = sorted((targets, goldens), key=len)
    if len(single) != 1 or len(several) < FEWEST_PARTS or not FUSED.search(joined.names[single[0]].api.lower()):
        return None
    return single[0], tuple(several)


def _taken_values(joined: JoinedDumps, judgement: Judgement) -> Array:
    """Return the rows that calls of both sides take from calls, (n, 4): row, its call, and who made it on each side."""
    producers = (judgement.producer, judgement.golden_producer)
    rows = np.flatnonzero((producers[0] >= 0) & (producers[1] >= 0))
    makers = (joined.rows.call[side[rows]] for side in producers)
    return np.stack([rows, joined.rows.call[rows], *makers], axis=1)


def _is_verified(joined: JoinedDumps, judgement: Judgement, taken: Array, fused: tuple[int, ...]) -> bool:
    """Whether what both make agrees wherever a call that both sides have takes it."""
    is_inside = np.isin(taken[:, 1:], fused)
    rows = taken[~is_inside[:, 0] & is_inside[:, 1] & is_inside[:, 2], 0].tolist()
    return bool(rows) and all(_agrees(joined, judgement, row) for row in rows)


def _agrees(joined: JoinedDumps, judgement: Judgement, row: int) -> bool:
    """Whether a value is explained, by a limit or as near as one rounding."""
    if judgement.verdict[row] not in (EQUAL, EXPLAINED):
        return False
    is_near = bool(joined.distance[row] <= joined.tolerances.rounding(float(joined.eps[row])))
    return is_near or bool(np.isfinite(judgement.allowed[row]))


def _backward_of(joined: JoinedDumps, forward: tuple[int, ...], alone: list[int]) -> tuple[int, ...]:
    keys = {_key(joined.names[call], joined.calls.target[call] < 0) for call in forward}
    return tuple(
        call for call in alone
        if joined.names[call].direction in BACKWARD and _key(joined.names[call], joined.calls.target[call] < 0) in keys
    )  # fmt: skip


def _key(name: Name, is_missing: bool) -> tuple[str, str, str, int, bool]:
    return name.kind, name.api, name.type, name.number, bool(is_missing)
