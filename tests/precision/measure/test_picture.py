"""What is drawn of two tensors, against what numpy says of them whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from backends.precision.measure import picture
from backends.precision.measure.picture import difference_picture, histograms, per_channel, worst_elements
from studio.errors import StudioError
from tests.precision.measure.held import held

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
SMALL = st.integers(-5, 5).map(float)


@pytest.fixture(autouse=True)
def many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "CHUNK_ELEMENTS", 7)


def pair(shape: tuple[int, ...]) -> Any:
    return st.tuples(*(hnp.arrays(np.float32, shape, elements=SMALL),) * 2)


@given(values=SHAPES.flatmap(pair), rows=st.integers(1, 12), columns=st.integers(1, 12))
def test_that_a_cell_is_the_largest_difference_of_its_block(values: Any, rows: int, columns: int) -> None:
    a, b = values
    found = difference_picture(held(a), held(b), rows, columns)
    width = a.shape[-1] if a.shape else 1
    table = np.abs(a - b).reshape(-1, width) if width else np.zeros((0, 0))
    down, across = found.block
    assert found.cells.shape[0] <= rows
    assert found.cells.shape[1] <= columns
    for row, column in np.ndindex(found.cells.shape):
        block = table[row * down : (row + 1) * down, column * across : (column + 1) * across]
        assert found.cells[row, column] == block.max()
        assert np.abs(a - b)[found.index_of(row, column)] == block[0, 0]


@given(values=SHAPES.flatmap(pair), count=st.integers(1, 20))
def test_that_the_worst_elements_are_those_of_a_sort(values: Any, count: int) -> None:
    a, b = values
    found = worst_elements(held(a), held(b), count)
    distances = np.abs(a - b).reshape(-1)
    order = np.lexsort((np.arange(distances.size), -distances))
    wanted = [place for place in order[:count] if distances[place] > 0]
    assert [one.absolute for one in found] == [distances[place] for place in wanted]
    for one in found:
        assert (one.target, one.golden) == (a[one.index], b[one.index])
        assert one.relative == (one.absolute / abs(one.golden) if one.golden else math.inf)


@given(values=hnp.array_shapes(max_dims=4, max_side=6).flatmap(pair), axis=st.integers(-4, 3))
def test_that_channels_are_those_of_an_axis(values: Any, axis: int) -> None:
    a, b = values
    axis %= a.ndim
    found = per_channel(held(a), held(b), axis)
    others = tuple(one for one in range(a.ndim) if one != axis)
    distances = np.abs(a - b).astype(np.float64)
    assert found.max_abs == pytest.approx(distances.max(others))
    assert found.mean_abs == pytest.approx(distances.mean(others))
    with np.errstate(all="ignore"):
        wanted = np.sqrt((distances**2).sum(others)) / np.sqrt((b.astype(np.float64) ** 2).sum(others))
    assert found.l2_rel == pytest.approx(np.where(distances.max(others) == 0, 0, wanted))


@given(values=SHAPES.flatmap(pair), bins=st.integers(1, 30))
def test_that_histograms_count_every_element(values: Any, bins: int) -> None:
    a, b = values
    found = histograms(held(a), held(b), bins)
    assert found.target.sum() == found.golden.sum() == a.size
    assert found.difference.sum() + found.equal == a.size
    assert len(found.edges) == len(found.difference_edges) == bins + 1
    assert (np.diff(found.edges) > 0).all()


def test_that_a_histogram_puts_values_in_their_bins() -> None:
    a, b = np.array([0.0, 1.0, 2.0, 4.0], np.float32), np.array([0.0, 1.5, 2.0, 0.0], np.float32)
    found = histograms(held(a), held(b), 4)
    assert found.edges.tolist() == [0, 1, 2, 3, 4]
    assert found.target.tolist() == [1, 1, 1, 1]
    assert found.golden.tolist() == [2, 1, 1, 0]
    assert (found.difference[0], found.difference[-1], found.equal) == (1, 1, 2)
    assert found.difference_edges[[0, -1]].tolist() == [0.5, 4.0]


def test_that_what_is_not_finite_is_drawn_as_infinite_only_where_it_differs() -> None:
    a = np.array([math.nan, math.nan, math.inf, math.inf, 1.0], np.float32)
    b = np.array([math.nan, 1.0, math.inf, -math.inf, 1.0], np.float32)
    assert difference_picture(held(a), held(b), 1, 5).cells.tolist() == [[0, math.inf, 0, math.inf, 0]]
    assert [one.index for one in worst_elements(held(a), held(b), 9)] == [(1,), (3,)]
    assert histograms(held(a), held(b), 3).nonfinite == 7


def test_that_complex_numbers_and_integers_are_drawn() -> None:
    a, b = np.array([[3 + 4j, 1]], np.complex64), np.array([[0, 1]], np.complex64)
    assert difference_picture(held(a), held(b), 5, 5).cells.tolist() == [[5, 0]]
    assert worst_elements(held(a), held(b), 5)[0].target == 5
    assert difference_picture(held(np.arange(4)), held(np.zeros(4, np.int64)), 1, 2).cells.tolist() == [[1, 3]]


def test_that_different_shapes_are_refused() -> None:
    with pytest.raises(StudioError):
        difference_picture(held(np.zeros(3)), held(np.zeros(4)), 2, 2)
