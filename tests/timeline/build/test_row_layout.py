"""Rows: nested slices below each other, none over another, none lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from backends.timeline.build import row_layout
from backends.timeline.build.row_layout import depths

Slices = list[tuple[int, int]]
PIECES = some.lists(some.tuples(some.integers(0, 60), some.integers(0, 25)), max_size=60)


def in_order(pieces: Slices) -> Slices:
    return sorted(((start, start + length) for start, length in pieces), key=lambda span: (span[0], -span[1]))


def rows_of(slices: Slices) -> list[int]:
    begin, end = (np.array([span[edge] for span in slices], np.int64) for edge in (0, 1))
    return depths(begin, end).tolist()


def clashes(slices: Slices, depth: list[int]) -> list[tuple[int, int]]:
    """Pairs in one row of which the later begins before the earlier ends."""
    return [
        (a, b) for b in range(len(slices)) for a in range(b) if depth[a] == depth[b] and slices[b][0] < slices[a][1]
    ]


@settings(max_examples=150, deadline=None)
@given(PIECES)
def test_that_slices_of_a_row_never_overlap(pieces: Slices) -> None:
    slices = in_order(pieces)
    assert not clashes(slices, rows_of(slices))


@settings(max_examples=150, deadline=None)
@given(PIECES)
def test_that_a_slice_is_below_those_around_it(pieces: Slices) -> None:
    slices = in_order(pieces)
    depth = rows_of(slices)
    for inner, (start, end) in enumerate(slices):
        around = [outer for outer in range(inner) if slices[outer][0] <= start < slices[outer][1] >= end]
        assert all(depth[outer] < depth[inner] for outer in around)


@settings(max_examples=60, deadline=None)
@given(PIECES)
def test_that_no_row_overlaps_without_a_thought_of_nesting(pieces: Slices) -> None:
    slices = in_order(pieces)
    searches, row_layout.SEARCHES = row_layout.SEARCHES, 0
    try:
        assert not clashes(slices, rows_of(slices))
    finally:
        row_layout.SEARCHES = searches


def test_that_a_proper_nesting_is_a_stack() -> None:
    assert rows_of([(0, 100), (0, 40), (10, 20), (20, 30), (50, 60), (100, 110)]) == [0, 1, 2, 2, 1, 0]


def test_that_a_slice_that_sticks_out_has_the_first_free_row() -> None:
    assert rows_of([(0, 10), (5, 15), (12, 20), (13, 14)]) == [0, 1, 0, 2]


def test_that_instants_lie_in_what_they_happen_in() -> None:
    assert rows_of([(0, 10), (0, 0), (5, 5), (5, 5), (10, 12), (10, 10)]) == [0, 1, 1, 1, 0, 1]


def test_that_a_hundred_thousand_overlapping_slices_find_rows() -> None:
    begin = np.arange(100_000, dtype=np.int64) * 10
    end = begin + 20_000
    depth = depths(begin, end)
    order = np.lexsort((begin, depth))
    same = depth[order][1:] == depth[order][:-1]
    assert not (same & (begin[order][1:] < end[order][:-1])).any()
    assert int(depth.max()) < 2_100
