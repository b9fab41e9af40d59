"""Two sequences beside each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from backends.precision.compare.alignment.gaps import CallSequence, place_gaps
from backends.precision.compare.alignment.sequences import longest_ascending, match_sequences
from backends.precision.compare.tolerances import TOLERANCES

TOKENS = st.lists(st.integers(0, 5), max_size=25)


def aligned(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    return match_sequences(np.array(left, np.int64), np.array(right, np.int64))


@given(TOKENS, TOKENS)
def test_that_matches_are_equal_and_ascend(left: list[int], right: list[int]) -> None:
    found = aligned(left, right)
    assert all(left[i] == right[j] for i, j in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))


@given(TOKENS, st.integers(0, 24))
def test_that_a_missing_element_does_not_shift_the_others(left: list[int], gone: int) -> None:
    right = [token for place, token in enumerate(left) if place != gone]
    assert len(aligned(left, right)) == len(right)


def test_that_a_hundred_thousand_with_a_few_gaps_are_aligned() -> None:
    whole = np.array(list(range(20)) * 5000)
    right = np.delete(whole, [500, 20_000, 70_001])
    assert len(match_sequences(whole, right)) == len(right)


def test_that_sequences_of_nothing_in_common_match_nowhere() -> None:
    assert aligned([1] * 2000, [2] * 3000) == []


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), unique_by=lambda pair: pair[0], max_size=30))
def test_that_the_longest_ascending_part_ascends(pairs: list[tuple[int, int]]) -> None:
    found = longest_ascending(sorted(pairs))
    assert all(a[1] < b[1] for a, b in pairwise(found))
    assert set(found) <= set(pairs)


def test_that_the_layer_that_is_missing_is_found_by_its_values() -> None:
    """Twelve layers of three calls with the same tokens; one side lacks the fourth."""
    tokens = np.array([1, 2, 3] * 12)
    values = np.repeat(np.arange(36.0)[:, None] + 1, 6, axis=1).reshape(-1, 2, 1, 3)
    keep = np.r_[0:9, 12:36]
    left, right = (
        CallSequence(tokens=tokens[keep], signatures=values[keep]),
        CallSequence(tokens=tokens, signatures=values),
    )
    found = place_gaps(match_sequences(left.tokens, right.tokens), left, right, TOLERANCES.same_parameter)
    assert [j for _, j in found] == keep.tolist()
