"""Two curves compared, as arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.precision.losses.compare import DEFAULT_LIMIT, Curve, curve_distance, curve_of, judge_losses


def curve(values: Any, first: int = 1) -> Curve:
    array = np.asarray(values, np.float64)
    return Curve(steps=np.arange(first, first + len(array)), values=array)


def falling(steps: int, noise: float = 0, seed: int = 0) -> Curve:
    values = 3 * np.exp(-np.arange(steps) / 40) + 0.5
    return curve(values * (1 + noise * np.random.default_rng(seed).standard_normal(steps)))


def test_that_figures_are_those_of_their_formulas() -> None:
    found = curve_distance(curve([1.1, 2.0, 3.9]), curve([1.0, 2.0, 4.0]))
    assert found.mean_abs == pytest.approx(0.2 / 3)
    assert found.mean_rel == pytest.approx((0.1 + 0.1 / 4) / 3)
    assert found.bias == pytest.approx((0.1 - 0.1 / 4) / 3)
    assert (found.max_rel_step, found.steps) == (1, 3)
    assert (found.max_abs, found.max_rel) == pytest.approx((0.1, 0.1))


def test_that_only_steps_of_both_count() -> None:
    found = curve_distance(curve([9, 1, 2], first=0), curve([1, 2, 7, 8], first=1))
    assert (found.steps, found.max_abs) == (2, 0)


def test_that_several_points_of_a_step_count_with_their_mean() -> None:
    found = curve_of(np.array([1, 1, 2, 2, 3]), np.array([1.0, 3.0, 5.0, 5.0, 7.0]))
    assert found.steps.tolist() == [1, 2, 3]
    assert found.values.tolist() == [2, 5, 7]
    assert curve_of(np.zeros(0, np.int64), np.zeros(0)).values.tolist() == []


def test_that_a_drift_of_more_than_one_percent_fails_without_a_second_golden_run() -> None:
    golden = falling(200)
    assert judge_losses(curve(golden.values * 1.009), golden).verdict == "pass"
    found = judge_losses(curve(golden.values * 1.011), golden)
    assert (found.verdict, found.limit) == ("differs", DEFAULT_LIMIT)


def test_that_noise_as_large_as_that_of_the_golden_runs_passes_and_more_does_not() -> None:
    golden, again = falling(300, 0.03, seed=1), falling(300, 0.03, seed=2)
    assert judge_losses(falling(300, 0.03, seed=3), golden).verdict == "differs"
    assert judge_losses(falling(300, 0.03, seed=3), golden, again).verdict == "pass"
    assert judge_losses(falling(300, 0.2, seed=3), golden, again).verdict == "differs"


def test_that_what_is_asked_for_is_the_limit_whatever_the_noise() -> None:
    golden, again = falling(100, 0.03, seed=1), falling(100, 0.03, seed=2)
    found = judge_losses(falling(100, 0.03, seed=3), golden, again, allow=0.001)
    assert (found.verdict, found.limit) == ("differs", 0.001)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_that_a_nan_of_one_run_fails_at_its_step(value: float) -> None:
    golden = falling(50)
    broken = golden.values.copy()
    broken[30] = value
    found = judge_losses(curve(broken), golden)
    assert (found.verdict, found.distance.nonfinite, found.first_beyond) == ("nonfinite", 31, 31)
    assert judge_losses(golden, curve(broken)).verdict == "nonfinite"
    assert judge_losses(curve(broken), curve(broken)).verdict == "both_nonfinite"
    otherwise = np.where(np.isfinite(broken), broken, -math.inf)
    assert judge_losses(curve(broken), curve(otherwise)).verdict == "both_nonfinite"


def test_that_one_step_far_off_fails_though_the_mean_passes() -> None:
    golden = falling(2000)
    values = golden.values.copy()
    values[700] *= 1.5
    found = judge_losses(curve(values), golden)
    assert (found.verdict, found.exceeded, found.first_beyond) == ("differs", ("step", "burst"), 701)


def test_that_fewer_steps_than_asked_for_fail() -> None:
    golden = falling(50)
    assert judge_losses(falling(40), golden, steps=50).verdict == "too_few"
    assert judge_losses(falling(40), golden, steps=40).verdict == "pass"
    assert judge_losses(curve([]), golden).verdict == "too_few"


def test_that_only_the_first_steps_count_where_a_number_is_given() -> None:
    golden = falling(50)
    values = golden.values.copy()
    values[30:] = math.nan
    assert judge_losses(curve(values), golden, steps=30).verdict == "pass"


def test_that_a_golden_loss_of_zero_is_no_error_only_for_zero() -> None:
    assert judge_losses(curve([0.0, 1.0]), curve([0.0, 1.0])).verdict == "pass"
    assert judge_losses(curve([1e-6, 1.0]), curve([0.0, 1.0])).verdict == "differs"


VALUES = st.lists(st.floats(width=64), max_size=12)


@given(target=VALUES, golden=VALUES, again=VALUES, steps=st.none() | st.integers(1, 12))
def test_that_any_curves_get_a_verdict(target: Any, golden: Any, again: Any, steps: int | None) -> None:
    found = judge_losses(curve(target), curve(golden), curve(again), steps=steps)
    assert found.verdict in ("pass", "differs", "nonfinite", "both_nonfinite", "incomplete", "too_few")
    assert found.verdict != "pass" or (found.distance.steps == found.expected and not found.exceeded)
    same = "pass" if golden and np.isfinite(golden).all() else "both_nonfinite" if golden else "too_few"
    assert judge_losses(curve(golden), curve(golden)).verdict == same


def test_that_a_drift_in_the_last_tenth_fails_though_the_mean_passes() -> None:
    golden = falling(200)
    values = golden.values.copy()
    values[180:] *= 1 + np.linspace(0, 0.045, 20)
    found = judge_losses(curve(values), golden)
    assert (found.verdict, found.exceeded[0], found.distance.window_steps) == ("differs", "window", (181, 200))
    assert found.distance.mean_rel < found.limit


@pytest.mark.parametrize("steps", [slice(0, 1), slice(0, 100), slice(0, 200, 10)])
def test_that_a_run_of_which_not_all_steps_are_there_is_no_pass(steps: slice) -> None:
    golden = falling(200)
    part = Curve(steps=golden.steps[steps], values=golden.values[steps])
    found = judge_losses(part, golden)
    assert (found.verdict, found.expected) == ("incomplete", 200)
    assert judge_losses(golden, part).verdict == "incomplete"
    assert judge_losses(part, golden, steps=len(part.steps)).verdict == "pass"
