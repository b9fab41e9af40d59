"""A part of `prove precision`: some planted divergences, made by real trainings and compared by the real command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.packages import needs
from tests.planted.plants import pairs
from tests.planted.scoring import compare_pair
from tests.precision.planted_dumps import HEALTHY, PAIRS, PLANTED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planted.plant import Pair

pytestmark = needs("torch", "msprobe")


@pytest.mark.parametrize("name", PLANTED)
def test_that_a_planted_divergence_is_named(name: str, planted_dumps: Path, tmp_path: Path) -> None:
    verdict = compare_pair(PAIRS[name], planted_dumps, tmp_path)
    assert verdict.is_right, verdict.row


@pytest.mark.parametrize("name", HEALTHY)
def test_that_noise_alone_is_no_divergence(name: str, planted_dumps: Path, tmp_path: Path) -> None:
    verdict = compare_pair(PAIRS[name], planted_dumps, tmp_path)
    assert not verdict.failed, verdict.row
    assert verdict.first is None, verdict.row


def test_that_every_plant_has_a_name_of_its_own() -> None:
    assert len(PAIRS) == len(list(pairs()))


def test_that_another_operator_is_no_right_answer() -> None:
    pair: Pair = PAIRS["transformer, eps / clean"]
    right = {
        "name": "Functional.layer_norm.2.forward",
        "direction": "forward",
        "place": "argument",
        "step": 0,
        "rank": 0,
    }
    assert pair.plant is not None
    assert pair.plant.is_named_by(right)
    for wrong in ({"name": "Functional.layer_norm.3.forward"}, {"place": "output"}, {"step": 1}, {"rank": 1}):
        assert not pair.plant.is_named_by(right | wrong)
    assert not pair.plant.is_named_by(None)
