"""Two sequences of tokens beside each other: which element of one is which of the other.

Tokens that occur once in each are anchors (the idea of Bram Cohen's patience diff); between anchors the shortest edit
script (E. Myers, An O(ND) Difference Algorithm, 1986) with a bound on its length, and beyond that the k-th occurrence
of a token on one side is the k-th on the other. So a missing element does not shift those behind it, and no input
costs more than O(n log n + n * LONGEST)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.precision.compare.arrays import Array

LONGEST = 300
"""How many insertions and deletions Myers' search follows between two anchors."""

Match = tuple[int, int]


def matches(left: Array, right: Array) -> list[Match]:
    """Pairs of indices with equal tokens, ascending in both."""
    return _between(left, right, 0, 0)


def _between(left: Array, right: Array, at: int, other: int) -> list[Match]:
    """`at` and `other`: what the indices of both begin with."""
    head = _common(left, right)
    tail = _common(left[head:][::-1], right[head:][::-1])
    found = [(at + n, other + n) for n in range(head)]
    middle = _middle(left[head : len(left) - tail], right[head : len(right) - tail], at + head, other + head)
    ends = (at + len(left) - tail, other + len(right) - tail)
    return [*found, *middle, *((ends[0] + n, ends[1] + n) for n in range(tail))]


def _common(left: Array, right: Array) -> int:
    """How many elements both begin with."""
    size = min(len(left), len(right))
    differs = np.flatnonzero(left[:size] != right[:size])
    return int(differs[0]) if len(differs) else size


def _middle(left: Array, right: Array, at: int, other: int) -> list[Match]:
    if not len(left) or not len(right):
        return []
    anchors = ascending(_once_in_both(left, right))
    if not anchors:
        return [(at + i, other + j) for i, j in _unanchored(left.tolist(), right.tolist())]
    found: list[Match] = []
    i = j = 0
    for here, there in [*anchors, (len(left), len(right))]:
        found += _between(left[i:here], right[j:there], at + i, other + j)
        if here < len(left):
            found.append((at + here, other + there))
        i, j = here + 1, there + 1
    return found


def _once_in_both(left: Array, right: Array) -> list[Match]:
    mine, where, counts = np.unique(left, return_index=True, return_counts=True)
    theirs, there, others = np.unique(right, return_index=True, return_counts=True)
    _, here, over = np.intersect1d(mine[counts == 1], theirs[others == 1], assume_unique=True, return_indices=True)
    return sorted(zip(where[counts == 1][here].tolist(), there[others == 1][over].tolist(), strict=True))


def ascending(pairs: Iterable[Match]) -> list[Match]:
    """The longest part of pairs (ascending in the first) that ascends in the second too."""
    tails: list[int] = []
    ends: list[int] = []
    known = list(pairs)
    before = [-1] * len(known)
    for n, (_, j) in enumerate(known):
        place = bisect_left(tails, j)
        before[n] = ends[place - 1] if place else -1
        if place == len(tails):
            tails.append(j)
            ends.append(n)
        tails[place], ends[place] = j, n
    return _chain(known, before, ends[-1] if ends else -1)


def _chain(known: list[Match], before: list[int], last: int) -> list[Match]:
    found = []
    while last >= 0:
        found.append(known[last])
        last = before[last]
    return found[::-1]


def _unanchored(left: Sequence[int], right: Sequence[int]) -> list[Match]:
    script = _myers(left, right)
    return _by_occurrence(left, right) if script is None else script


def _myers(left: Sequence[int], right: Sequence[int]) -> list[Match] | None:
    """The matches of a shortest edit script; None where that is longer than LONGEST."""
    n, m = len(left), len(right)
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(LONGEST, n + m) + 1):
        trail.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < n and x - k < m and left[x] == right[x - k]:
                x += 1
            furthest[k] = x
            if x >= n and x - k >= m:
                return _walk_back(trail, n, m)
    return None


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[Match]:
    """Each edit is one insertion or deletion and what is equal behind it."""
    found: list[Match] = []
    for edits in range(len(trail) - 1, 0, -1):
        furthest, k = trail[edits], x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = furthest[k + 1] if down else furthest[k - 1]
        begin = before if down else before + 1
        found += [(x - n, y - n) for n in range(1, x - begin + 1)]
        x, y = before, before - (k + 1 if down else k - 1)
    found += [(x - n, y - n) for n in range(1, x + 1)]
    return found[::-1]


def _by_occurrence(left: Sequence[int], right: Sequence[int]) -> list[Match]:
    places: dict[int, list[int]] = defaultdict(list)
    for j, token in enumerate(right):
        places[token].append(j)
    seen: Counter[int] = Counter()
    found = []
    for i, token in enumerate(left):
        if seen[token] < len(places[token]):
            found.append((i, places[token][seen[token]]))
        seen[token] += 1
    return ascending(found)
