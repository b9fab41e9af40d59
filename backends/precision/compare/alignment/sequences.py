"""Which element of one sequence of tokens is which of another.

Tokens that occur once in each are anchors (the idea of Bram Cohen's patience diff); between anchors the shortest edit
script (E. Myers, An O(ND) Difference Algorithm, 1986) with a bound on its length, and beyond that the k-th occurrence
of a token on one side is the k-th on the other. So a missing element does not shift those after it, and no input
costs more than O(n log n + n * MAX_EDITS)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.precision.compare.arrays import Array

MAX_EDITS = 300
"""How many insertions and deletions Myers' search follows between two anchors. A bound on the work."""

Match = tuple[int, int]


def match_sequences(left: Array, right: Array) -> list[Match]:
    """Return pairs of indices with equal tokens, ascending in both."""
    return _match_slices(left, right, 0, 0)


def _match_slices(left: Array, right: Array, left_begin: int, right_begin: int) -> list[Match]:
    """Match parts of both sequences, which begin at the given indices."""
    head = _common_prefix(left, right)
    tail = _common_prefix(left[head:][::-1], right[head:][::-1])
    i, j = left_begin + head, right_begin + head
    middle = _match_middle(left[head : len(left) - tail], right[head : len(right) - tail], i, j)
    ends = (left_begin + len(left) - tail, right_begin + len(right) - tail)
    heads = [(left_begin + n, right_begin + n) for n in range(head)]
    return [*heads, *middle, *((ends[0] + n, ends[1] + n) for n in range(tail))]


def _common_prefix(left: Array, right: Array) -> int:
    """Return how many elements both begin with."""
    size = min(len(left), len(right))
    differs = np.flatnonzero(left[:size] != right[:size])
    return int(differs[0]) if len(differs) else size


def _match_middle(left: Array, right: Array, left_begin: int, right_begin: int) -> list[Match]:
    if not len(left) or not len(right):
        return []
    anchors = longest_ascending(_unique_in_both(left, right))
    if not anchors:
        return [(left_begin + i, right_begin + j) for i, j in _match_unanchored(left.tolist(), right.tolist())]
    matches: list[Match] = []
    i = j = 0
    for anchor, partner in [*anchors, (len(left), len(right))]:
        matches += _match_slices(left[i:anchor], right[j:partner], left_begin + i, right_begin + j)
        if anchor < len(left):
            matches.append((left_begin + anchor, right_begin + partner))
        i, j = anchor + 1, partner + 1
    return matches


def _unique_in_both(left: Array, right: Array) -> list[Match]:
    tokens, indices, counts = np.unique(left, return_index=True, return_counts=True)
    others, other_indices, other_counts = np.unique(right, return_index=True, return_counts=True)
    unique, unique_others = tokens[counts == 1], others[other_counts == 1]
    _, i, j = np.intersect1d(unique, unique_others, assume_unique=True, return_indices=True)
    return sorted(zip(indices[counts == 1][i].tolist(), other_indices[other_counts == 1][j].tolist(), strict=True))


def longest_ascending(pairs: Iterable[Match]) -> list[Match]:
    """Return the longest part of pairs (ascending in the first) that ascends in the second too."""
    tails: list[int] = []
    ends: list[int] = []
    matches = list(pairs)
    before = [-1] * len(matches)
    for n, (_, j) in enumerate(matches):
        length = bisect_left(tails, j)
        before[n] = ends[length - 1] if length else -1
        if length == len(tails):
            tails.append(j)
            ends.append(n)
        tails[length], ends[length] = j, n
    return _chain(matches, before, ends[-1] if ends else -1)


def _chain(matches: list[Match], before: list[int], last: int) -> list[Match]:
    chain = []
    while last >= 0:
        chain.append(matches[last])
        last = before[last]
    return chain[::-1]


def _match_unanchored(left: Sequence[int], right: Sequence[int]) -> list[Match]:
    script = _match_by_edits(left, right)
    return _match_by_occurrence(left, right) if script is None else script


def _match_by_edits(left: Sequence[int], right: Sequence[int]) -> list[Match] | None:
    """Return the matches of a shortest edit script (Myers); None where that is longer than MAX_EDITS."""
    n, m = len(left), len(right)
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(MAX_EDITS, n + m) + 1):
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
    """Follow the trail back: each edit is one insertion or deletion and what is equal after it."""
    matches: list[Match] = []
    for edits in range(len(trail) - 1, 0, -1):
        furthest, k = trail[edits], x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = furthest[k + 1] if down else furthest[k - 1]
        begin = before if down else before + 1
        matches += [(x - n, y - n) for n in range(1, x - begin + 1)]
        x, y = before, before - (k + 1 if down else k - 1)
    matches += [(x - n, y - n) for n in range(1, x + 1)]
    return matches[::-1]


def _match_by_occurrence(left: Sequence[int], right: Sequence[int]) -> list[Match]:
    indices: dict[int, list[int]] = defaultdict(list)
    for j, token in enumerate(right):
        indices[token].append(j)
    counts: Counter[int] = Counter()
    matches = []
    for i, token in enumerate(left):
        if counts[token] < len(indices[token]):
            matches.append((i, indices[token][counts[token]]))
        counts[token] += 1
    return longest_ascending(matches)
