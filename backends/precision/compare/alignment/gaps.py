"""Where in a row of equal calls one is missing: not their tokens say it, but their values.

Of twelve equal layers of which one side lacks the fourth, an edit script may leave out any. The gap is moved to where
the calls on both of its sides differ least.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.tokens import signature_distance

if TYPE_CHECKING:
    from backends.precision.compare.alignment.sequences import Match
    from backends.precision.compare.arrays import Array

MAX_GAPS = 200
"""More than these are no missing layers. A bound on the work."""


@dataclass(frozen=True, kw_only=True)
class CallSequence:
    """Columns of the calls of one side: `tokens`, and `signatures` as `tokens.signatures` returns them."""

    tokens: Array
    signatures: Array


def place_gaps(matches: list[Match], target: CallSequence, golden: CallSequence, same_parameter: float) -> list[Match]:
    """Return matches, ascending in both, with each gap of one side where it fits best. `same_parameter`: as in
    `Tolerances`."""
    ends = [(-1, -1), *matches, (len(target.tokens), len(golden.tokens))]
    gaps = [n for n, (a, b) in enumerate(pairwise(ends)) if _is_gap(a, b)]
    if not gaps or len(gaps) > MAX_GAPS:
        return matches
    pairs = np.array(ends)
    for n in gaps:
        short = 0 if pairs[n + 1, 0] - pairs[n, 0] == 1 else 1
        _place_gap(pairs, n, short, (target, golden), same_parameter)
    return [(int(i), int(j)) for i, j in pairs[1:-1]]


def _is_gap(before: Match, after: Match) -> bool:
    return (after[0] - before[0] == 1) != (after[1] - before[1] == 1)


def _place_gap(
    pairs: Array, gap: int, short: int, sides: tuple[CallSequence, CallSequence], same_parameter: float
) -> None:
    """Move the gap after match `gap` in place; `short` is the side that has nothing in it."""
    long = 1 - short
    size = int(pairs[gap + 1, long] - pairs[gap, long] - 1)
    best = 0.0
    chosen: tuple[range, int] | None = None
    for run, by in ((_run(pairs, gap, -1), size), (_run(pairs, gap + 1, 1), -size)):
        fits = sides[short].tokens[pairs[run, short]] == sides[long].tokens[pairs[run, long] + by]
        run = run[: int(np.argmin(fits)) if not fits.all() else len(run)]
        calls, partners = pairs[run, short], pairs[run, long]
        signatures = sides[short].signatures[calls]
        moved = signature_distance(signatures, sides[long].signatures[partners + by], same_parameter)
        gain = np.cumsum(moved - signature_distance(signatures, sides[long].signatures[partners], same_parameter))
        if len(gain) and gain.min() < best - 1e-9:
            best = float(gain.min())
            chosen = (run[: int(gain.argmin()) + 1], by)
    if chosen:
        pairs[chosen[0], long] += chosen[1]


def _run(pairs: Array, begin: int, step: int) -> range:
    """Return the matches from `begin` on that lie side by side, forwards or backwards, without the ends."""
    if not 0 < begin < len(pairs) - 1:
        return range(0)
    end = begin
    while 0 < end + step < len(pairs) - 1 and (pairs[end + step] - pairs[end] == step).all():
        end += step
    return range(begin, end + step, step)
