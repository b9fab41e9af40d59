"""Where in a row of equal calls one is missing: their tokens do not tell, their values do.

Of twelve equal layers of which one side lacks the fourth, an edit script may leave out any. The gap is moved to where
the calls on both of its sides differ least.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.tokens import how_far

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.sequence import Match

GAPS = 200
"""More than these are no missing layers."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """Of each call its token, and its signature as `tokens.signatures`."""

    tokens: Array
    values: Array


def slid(found: list[Match], mine: Side, theirs: Side) -> list[Match]:
    """Matches ascending in both, with each gap of one side at its best place."""
    ends = [(-1, -1), *found, (len(mine.tokens), len(theirs.tokens))]
    gaps = [n for n, (a, b) in enumerate(pairwise(ends)) if _is_gap(a, b)]
    if not gaps or len(gaps) > GAPS:
        return found
    pairs = np.array(ends)
    for n in gaps:
        short = 0 if pairs[n + 1, 0] - pairs[n, 0] == 1 else 1
        _slide(pairs, n, short, mine, theirs)
    return [(int(i), int(j)) for i, j in pairs[1:-1]]


def _is_gap(before: Match, after: Match) -> bool:
    return (after[0] - before[0] == 1) != (after[1] - before[1] == 1)


def _slide(pairs: Array, gap: int, short: int, mine: Side, theirs: Side) -> None:
    """Moves the gap behind match `gap`; `short` is the side that has nothing in it."""
    long = 1 - short
    sides = (mine, theirs)
    size = int(pairs[gap + 1, long] - pairs[gap, long] - 1)
    best = 0.0
    chosen: tuple[range, int] | None = None
    for run, by in ((_run(pairs, gap, -1), size), (_run(pairs, gap + 1, 1), -size)):
        here, there = pairs[run, short], pairs[run, long]
        fits = sides[short].tokens[here] == sides[long].tokens[there + by]
        run = run[: int(np.argmin(fits)) if not fits.all() else len(run)]
        here, there = here[: len(run)], there[: len(run)]
        at_least = _far(sides[short], here, sides[long], there + by) - _far(sides[short], here, sides[long], there)
        gain = np.cumsum(at_least)
        if len(gain) and gain.min() < best - 1e-9:
            best = float(gain.min())
            chosen = (run[: int(gain.argmin()) + 1], by)
    if chosen:
        pairs[chosen[0], long] += chosen[1]


def _run(pairs: Array, begin: int, way: int) -> range:
    """Matches from `begin` on that lie side by side, forwards or backwards, without the ends."""
    if not 0 < begin < len(pairs) - 1:
        return range(0)
    end = begin
    while 0 < end + way < len(pairs) - 1 and (pairs[end + way] - pairs[end] == way).all():
        end += way
    return range(begin, end + way, way)


def _far(one: Side, here: Array, other: Side, there: Array) -> Array:
    return how_far(one.values[here], other.values[there])
