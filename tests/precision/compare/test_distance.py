"""How far statistics are apart."""

from __future__ import annotations

import numpy as np
import pytest

from backends.precision.compare.alignment.tokens import signature_distance
from backends.precision.compare.tolerances import TOLERANCES
from backends.precision.compare.values.arguments import is_of_each_dtype
from backends.precision.compare.values.distance import LARGEST, distances, with_infinite_ends

DOUBLE, SINGLE, HALF = LARGEST["float64"], LARGEST["float32"], LARGEST["bfloat16"]
MARGIN, SAME = TOLERANCES.extreme_margin, TOLERANCES.same_parameter


def far(mine: list[float], theirs: list[float], largest: tuple[float, float]) -> float:
    one, other = with_infinite_ends(
        np.array([mine]), np.array([theirs]), (np.array([largest[0]]), np.array([largest[1]])), MARGIN
    )
    return float(distances(one, other, np.array([16.0]))[0])


@pytest.mark.parametrize(
    ("mine", "theirs", "largest"),
    [
        ([0.0, -SINGLE, -SINGLE / 4, np.inf], [0.0, -DOUBLE, -DOUBLE / 4, np.nan], (SINGLE, DOUBLE)),
        ([0.0, -np.inf, -np.inf, np.inf], [0.0, -SINGLE, -SINGLE / 4, np.inf], (SINGLE, SINGLE)),
        ([2.5, -HALF, -HALF / 2, np.inf], [2.5, -SINGLE, -SINGLE / 2, np.inf], (HALF, SINGLE)),
    ],
)
def test_that_masks_of_the_least_number_of_each_dtype_are_equal(
    mine: list[float], theirs: list[float], largest: tuple[float, float]
) -> None:
    assert far(mine, theirs, largest) == 0


def test_that_what_the_mask_leaves_is_still_compared() -> None:
    assert far([2.5, -SINGLE, -1e38, np.inf], [2.0, -SINGLE, -1e38, np.inf], (SINGLE, SINGLE)) == 0.25


def test_that_infinity_on_one_side_is_far() -> None:
    assert far([np.inf, 0.0, np.inf, np.inf], [3.0, 0.0, 1.0, 6.0], (SINGLE, SINGLE)) == np.inf


def test_that_the_least_number_of_each_dtype_is_the_same_argument_where_the_dtypes_differ_everywhere() -> None:
    pairs = frozenset({("float32", "float64")})
    assert is_of_each_dtype(repr(-SINGLE), repr(-DOUBLE), pairs)
    assert is_of_each_dtype("torch.float32", "torch.float64", pairs)
    assert not is_of_each_dtype(repr(SINGLE), repr(-DOUBLE), pairs)
    assert not is_of_each_dtype(repr(-SINGLE), "-10000.0", pairs)
    assert not is_of_each_dtype(repr(-SINGLE), repr(-DOUBLE), frozenset())


def test_that_a_layer_is_told_by_its_weights() -> None:
    """One parameter and one other tensor; the weights of two layers have about the same extremes."""
    layer = np.array([[[[0.5, -0.5, 3.0]], [[1.0, -1.0, 4.0]]]])
    other_input = layer * np.array([1.0, 0.5]).reshape(1, 2, 1, 1)
    other_layer = layer * np.array([1.001, 1.0]).reshape(1, 2, 1, 1)
    assert signature_distance(layer, layer, SAME)[0] == 0
    assert 0 < signature_distance(layer, other_input, SAME)[0] < signature_distance(layer, other_layer, SAME)[0]
