"""What is named first, of real dumps with something planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from studio.texts import has, t

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.precision.compare.conftest import Compared

PLANTED = {
    "cast": ("Functional.linear.8.forward", "input", "input_by_extra"),
    "relu": ("Functional.relu.0.forward", "extra", "replaced"),
    "extra": ("Tensor.__mul__.2.forward", "extra", "extra"),
    "nan": ("Functional.linear.9.forward", "input", "first_nan"),
    "missing": ("Tensor.__add__.3.forward", "missing", "missing"),
    "moved": ("Functional.linear.5.forward", "extra", "moved"),
    "scale": ("Tensor.__mul__.1.forward", "argument", "argument"),
    "eps": ("Functional.layer_norm.3.forward", "argument", "argument"),
}


@pytest.mark.parametrize("golden", ["healthy", "ulp", "double"])
@pytest.mark.parametrize("plant", PLANTED)
def test_that_what_was_planted_is_named(compared: Callable[..., Compared], plant: str, golden: str) -> None:
    found = compared(plant, golden)
    assert found.code == 3
    assert (found.first["name"], found.first["place"], found.first["reason"]) == PLANTED[plant]
    assert found.first["source"].rpartition(":")[0].endswith("captured.py")


@pytest.mark.parametrize("golden", ["healthy", "ulp", "double"])
def test_that_a_wrong_gradient_is_named_in_the_backward(compared: Callable[..., Compared], golden: str) -> None:
    """The hook's own product is a call that only the target makes."""
    found = compared("backward", golden)
    assert found.first["name"].startswith("Tensor.__mul__")
    assert found.first["place"] == "extra"


def test_that_a_perturbed_weight_is_named_where_it_is_used_first(compared: Callable[..., Compared]) -> None:
    found = compared("weight", "ulp")
    assert (found.first["name"], found.first["index"]) == ("Functional.linear.8.forward", 1)
    assert found.first["reason"] == "parameter"


@pytest.mark.parametrize(
    ("target", "golden"),
    [
        ("ulp", "healthy"), ("healthy", "ulp"), ("ulp", "double"), ("double", "ulp"),
        ("ulp", "ulp_again"), ("steps", "steps_ulp"), ("functions", "healthy"), ("healthy", "functions"),
        ("modules", "ulp"), ("ulp", "modules"), ("tensors", "ulp"), ("digests", "healthy"), ("autocast", "healthy"),
        ("healthy", "autocast"),
    ],
)  # fmt: skip
def test_that_noise_is_no_divergence(compared: Callable[..., Compared], target: str, golden: str) -> None:
    found = compared(target, golden)
    assert found.answer["first_divergence"] is None
    assert found.code == 0
    assert found.answer["differs"] == 0


def test_that_what_stands_between_on_one_side_is_called_by_its_name(compared: Callable[..., Compared]) -> None:
    """construct.json knows the casts that msprobe does not dump."""
    assert "Tensor.bfloat16.0" in compared("cast", "ulp").first["args"]["other"]


def test_that_an_untraced_cast_is_named_by_functions_alone(compared: Callable[..., Compared]) -> None:
    found = compared("cast", "functions")
    assert (found.first["name"], found.first["place"]) == ("Functional.linear.8.forward", "input")


def test_that_dtypes_that_differ_everywhere_are_told(compared: Callable[..., Compared]) -> None:
    assert "precision.compare.other_dtypes" in compared("autocast", "healthy").answer["notes"]
    told = compared("healthy", "double").answer["notes"]
    assert {"precision.compare.other_dtypes", "precision.compare.no_norms"} <= set(told)
    assert compared("ulp", "healthy").answer["notes"] == []


def test_that_one_step_of_three_is_named(compared: Callable[..., Compared]) -> None:
    found = compared("steps_cast", "steps_ulp")
    assert (found.first["step"], found.first["name"]) == (1, "Functional.linear.8.forward")
    assert [one["step"] for one in found.answer["passes"]] == [0, 1, 2]


def test_that_steps_can_be_chosen(compared: Callable[..., Compared]) -> None:
    found = compared("steps_cast", "steps_ulp", step_numbers="0, 2")
    assert [one["step"] for one in found.answer["passes"]] == [0, 2]
    assert found.code == 0


def test_that_tensors_tell_what_statistics_do_not(compared: Callable[..., Compared]) -> None:
    found = compared("tensors_weight", "tensors")
    assert (found.first["name"], found.first["reason"]) == ("Functional.linear.8.forward", "parameter")
    assert found.comparison.measures[found.comparison.first.row, 0] > 0  # type: ignore[union-attr]


def test_that_a_digest_names_a_parameter_that_differs_by_a_bit(compared: Callable[..., Compared]) -> None:
    found = compared("digests_weight", "digests")
    assert (found.first["name"], found.first["reason"]) == ("Functional.linear.8.forward", "parameter")


def test_that_a_second_golden_run_widens_what_is_allowed(compared: Callable[..., Compared], dumps: Path) -> None:
    without, again = (compared("healthy", "ulp", **more) for more in ({}, {"golden_again": dumps / "cast"}))
    assert compared("cast", "healthy", golden_again=dumps / "ulp").code == 3
    assert again.comparison.allowed[~_is_nan(again)].sum() > without.comparison.allowed[~_is_nan(without)].sum()


def _is_nan(found: Compared) -> object:
    return ~(found.comparison.allowed < float("inf"))


def test_that_levels_with_nothing_in_common_are_refused(compared: Callable[..., Compared]) -> None:
    from studio.errors import StudioError

    with pytest.raises(StudioError) as refused:
        compared("modules", "functions")
    assert refused.value.key == "precision.compare.no_calls_common"


def test_that_every_reason_has_its_sentence(compared: Callable[..., Compared]) -> None:
    for plant in PLANTED:
        first = compared(plant, "healthy").first
        assert has(f"precision.first.{first['reason']}")
        assert "{" not in t(f"precision.first.{first['reason']}", **first["args"])


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.009000000000000001", "0.009"), (0.1 + 0.2, "0.3"), ("0.005", "0.005"), ("[2, 3]", "[2, 3]"), (True, "True")],
)
def test_that_a_number_is_told_without_the_digits_that_binary_fractions_add(value: object, text: str) -> None:
    from backends.precision.compare.verdict.first_divergence import _text

    assert _text(value) == text
