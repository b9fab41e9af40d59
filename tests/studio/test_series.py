"""Curves as columns: whatever comes in whatever pieces, the points and the picture are right."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio import columns as columns_module
from studio import series as series_module
from studio.columns import BlockFile
from studio.events import Metric
from studio.series import Curves, Series

numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)
points = st.lists(st.tuples(st.integers(-50, 300), numbers), max_size=300)


@pytest.fixture(autouse=True)
def small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pyramid of several levels over a few hundred points, most of them in a file."""
    monkeypatch.setattr(series_module, "SMALLEST_LEVEL", 2)
    monkeypatch.setattr(columns_module, "BLOCK", 16)


def filled(given_points: list[tuple[int, float]], cuts: list[int]) -> Series:
    series = Series(BlockFile())
    bounds = [0, *sorted(min(cut, len(given_points)) for cut in cuts), len(given_points)]
    for begin, end in itertools.pairwise(bounds):
        part = given_points[begin:end]
        series.extend([step for step, _ in part], [value for _, value in part])
    return series


def finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


@given(points, st.lists(st.integers(0, 300), max_size=5))
def test_that_points_are_in_order_of_steps_however_they_were_cut(
    given_points: list[tuple[int, float]], cuts: list[int]
) -> None:
    series = filled(given_points, cuts)
    expected = sorted(given_points, key=lambda point: point[0])
    assert series.steps.tolist() == [step for step, _ in expected]
    np.testing.assert_array_equal(series.values, np.array([value for _, value in expected], float))


@given(points, st.lists(st.integers(0, 300), max_size=5), st.integers(1, 40))
def test_that_an_outline_keeps_the_lowest_and_the_highest(
    given_points: list[tuple[int, float]], cuts: list[int], pixels: int
) -> None:
    series = filled(given_points, cuts)
    x, y = series.outline(-math.inf, math.inf, pixels)
    assert len(x) == len(y) <= max(4 * pixels, 4 * pixels + 4)
    assert (np.diff(x) >= 0).all()
    assert not np.isinf(y).any()
    known = finite(series.values)
    if len(known):
        assert np.nanmin(y) == known.min()
        assert np.nanmax(y) == known.max()
        assert set(finite(y)) <= set(known)


@given(points, st.integers(-60, 310), st.integers(0, 100), st.integers(1, 20))
def test_that_an_outline_of_a_part_holds_every_extreme_of_it(
    given_points: list[tuple[int, float]], begin: int, width: int, pixels: int
) -> None:
    series = filled(given_points, [])
    inside = (series.steps >= begin) & (series.steps <= begin + width)
    _, y = series.outline(begin, begin + width, pixels)
    known = finite(series.values[inside])
    if len(known):
        assert np.nanmin(y) <= known.min()
        assert np.nanmax(y) >= known.max()


@given(points, st.lists(st.integers(0, 300), max_size=5))
def test_that_the_smallest_value_is_found(given_points: list[tuple[int, float]], cuts: list[int]) -> None:
    series = filled(given_points, cuts)
    known = finite(series.values)
    found = series.smallest()
    if not len(known):
        assert found is None
    else:
        assert found is not None
        assert found[1] == known.min()
        assert found[1] in series.values[series.steps == found[0]]


@given(points)
def test_that_what_is_no_number_is_marked(given_points: list[tuple[int, float]]) -> None:
    marked = filled(given_points, [100]).gaps(-math.inf, math.inf, 300)
    expected = [(step, value) for step, value in sorted(given_points, key=lambda p: p[0]) if not math.isfinite(value)]
    assert [step for step, _ in marked] == [step for step, _ in expected]
    np.testing.assert_array_equal([value for _, value in marked], [value for _, value in expected])


@given(points, st.integers(-60, 310))
def test_that_hidden_points_are_gone_from_the_picture(given_points: list[tuple[int, float]], step: int) -> None:
    series = filled(given_points, [150])
    series.hide_from(step)
    assert (series.steps < step).all()
    assert len(series) == sum(one < step for one, _ in given_points)
    again = filled([(s, v) for s, v in given_points if s < step], [])
    for one, other in zip(series.outline(-100, 400, 5), again.outline(-100, 400, 5), strict=True):
        np.testing.assert_array_equal(one, other)


@given(points.filter(len), st.floats(-100, 400))
def test_that_the_nearest_point_is_the_nearest(given_points: list[tuple[int, float]], step: float) -> None:
    series = filled(given_points, [])
    found = series.nearest(step)
    assert found is not None
    assert abs(found[0] - step) == min(abs(one - step) for one, _ in given_points)


rows = st.dictionaries(st.sampled_from(["loss", "lr", "accuracy"]), st.floats(-5, 5) | st.just("NaN"), max_size=3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), rows), max_size=80), st.integers(1, 80))
def test_that_metrics_become_the_same_curves_in_any_pieces(
    recorded: list[tuple[int, dict[str, float]]], size: int
) -> None:
    metrics = [Metric(step=step, values=values) for step, values in recorded]
    whole, pieces = Curves(), Curves()
    whole.extend(1, 0, metrics)
    for begin in range(0, len(metrics), size):
        pieces.extend(1, 0, metrics[begin : begin + size])
    assert set(whole.series) == set(pieces.series)
    for key, series in whole.series.items():
        assert series.steps.tolist() == pieces.series[key].steps.tolist()
        np.testing.assert_array_equal(series.values, pieces.series[key].values)


def metrics_of(steps: range, **values: float) -> list[Metric]:
    return [Metric(step=step, values=dict(values)) for step in steps]


def test_that_a_later_attempt_hides_what_it_goes_over_again() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 101), loss=1.0))
    curves.extend(1, 0, metrics_of(range(40, 101, 20), accuracy=0.5))
    curves.extend(2, 0, metrics_of(range(51, 61), loss=2.0))
    loss, accuracy = curves.series[0, "loss"], curves.series[0, "accuracy"]
    assert loss.steps.tolist() == list(range(1, 61))
    assert loss.values[49:51].tolist() == [1.0, 2.0]
    assert accuracy.steps.tolist() == [40], "an old point beyond the new start is hidden, also of a metric that waits"
    assert curves.starts() == {1: 1, 2: 51}


def test_that_points_of_an_earlier_attempt_that_come_late_are_hidden_too() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 11), loss=1.0))
    curves.extend(2, 0, metrics_of(range(21, 31), loss=2.0))
    curves.extend(1, 0, metrics_of(range(11, 41), loss=1.0))
    assert curves.series[0, "loss"].steps.tolist() == list(range(1, 31))


def test_that_ranks_are_apart() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 5), loss=1.0))
    curves.extend(2, 1, metrics_of(range(1, 3), loss=1.0))
    assert curves.ranks() == [0, 1]
    assert len(curves.series[0, "loss"]) == 4


def test_that_memory_does_not_grow_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "BLOCK", 1024)
    monkeypatch.setattr(series_module, "SMALLEST_LEVEL", 512)
    tracemalloc.start()
    curves = Curves()
    sizes = []
    for begin in range(0, 420_000, 2000):
        curves.extend(1, 0, metrics_of(range(begin, begin + 2000), loss=1.0, lr=math.nan))
        if len(curves.series[0, "loss"]) in (20_000, 420_000):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    loss, lr = curves.series[0, "loss"], curves.series[0, "lr"]
    assert sizes[1] - sizes[0] < 400_000, "800,000 points take 16 MB"
    assert loss.steps.tolist() == list(range(420_000))
    assert len(loss.outline(0, 420_000, 500)[0]) <= 2000
    assert 400 <= len(lr.gaps(0, 420_000, 400)) <= 801


def test_that_processes_of_one_rank_are_kept_apart() -> None:
    """A launcher that tells no rank: two processes both claim rank 0, and one line through both would be a sawtooth."""
    curves = Curves()
    for begin in range(1, 31, 10):
        curves.extend(1, 0, metrics_of(range(begin, begin + 10), loss=1.0), pid=11)
        curves.extend(1, 0, metrics_of(range(begin, begin + 10), loss=3.0), pid=12)
    assert set(curves.series[0, "loss"].values.tolist()) == {1.0}
    assert curves.processes[0, 12, "loss"].values.tolist() == [3.0] * 30
    assert curves.mean("loss") is None


def test_that_a_process_that_goes_on_where_another_ended_continues_its_line() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 11), loss=1.0), pid=11)
    curves.extend(1, 0, metrics_of(range(11, 21), loss=2.0), pid=12)
    curves.extend(1, 0, metrics_of(range(21, 31), loss=2.0), pid=12)
    assert curves.series[0, "loss"].steps.tolist() == list(range(1, 31))
    assert not curves.processes


def test_that_a_later_attempt_is_no_other_process_of_its_rank() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 11), loss=1.0), pid=11)
    curves.extend(2, 0, metrics_of(range(5, 11), loss=2.0), pid=12)
    assert curves.series[0, "loss"].values.tolist() == [1.0] * 4 + [2.0] * 6
    assert not curves.processes


def test_that_the_mean_is_of_the_steps_that_all_ranks_have() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 11), loss=1.0))
    assert curves.mean("loss") is None
    curves.extend(1, 1, metrics_of(range(2, 8, 2), loss=4.0))
    mean = curves.mean("loss")
    assert mean is not None
    assert mean.steps.tolist() == [2, 4, 6]
    curves.extend(1, 1, metrics_of(range(8, 13), loss=2.0))
    grown = curves.mean("loss")
    assert grown is mean
    assert (mean.steps.tolist(), mean.values.tolist()) == ([2, 4, 6, 8, 9, 10], [2.5] * 3 + [1.5] * 3)
    curves.extend(1, 2, metrics_of(range(1, 5), loss=7.0))
    of_three = curves.mean("loss")
    assert of_three is not None
    assert (of_three.steps.tolist(), of_three.values.tolist()) == ([2, 4], [4.0, 4.0])


def test_that_the_mean_of_a_rank_that_is_nan_is_nan() -> None:
    curves = Curves()
    curves.extend(1, 0, metrics_of(range(1, 3), loss=1.0))
    curves.extend(1, 1, metrics_of(range(1, 3), loss=math.nan))
    mean = curves.mean("loss")
    assert mean is not None
    assert np.isnan(mean.values).all()


def test_that_the_mean_begins_anew_where_a_later_attempt_hides_points() -> None:
    curves = Curves()
    for rank in (0, 1):
        curves.extend(1, rank, metrics_of(range(1, 11), loss=1.0))
    assert curves.mean("loss") is not None
    for rank in (0, 1):
        curves.extend(2, rank, metrics_of(range(5, 7), loss=2.0 + rank))
    mean = curves.mean("loss")
    assert mean is not None
    assert mean.values.tolist() == [1.0] * 4 + [2.5] * 2
