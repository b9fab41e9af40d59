"""A part of `prove precision`: some planted divergences, made by real trainings and asked by the real command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.planted.making import make
from tests.planted.plants import pairs
from tests.planted.scoring import ask

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planted.plant import Pair

pytest.importorskip("torch")
pytest.importorskip("msprobe")

CHOSEN = (
    "transformer, eps / clean",
    "transformer, cast between / kernels",
    "transformer, no residual / double",
    "transformer, scale 1.01, block 2 / ulp",
    "transformer, wrong backward / clean",
    "transformer, linear 1.1, step 1 of adamw / ulp",
    "cnn, running / clean",
    "cnn, convolution in bfloat16, rank 1 / double",
    "mindspore, weight / ulp",
)
HEALTHY = (
    "transformer-healthy-clean-L1-statistics-1x1, nothing planted / kernels",
    "transformer-healthy-clean-L1-statistics-3x1-adamw, nothing planted / ulp",
    "cnn-healthy-clean-L1-statistics-1x1, nothing planted / threads",
)
BY_NAME = {one.name: one for one in pairs()}


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("planted")
    make([BY_NAME[name] for name in (*CHOSEN, *HEALTHY)], folder)
    return folder


@pytest.mark.parametrize("name", CHOSEN)
def test_that_a_planted_divergence_is_named(name: str, dumps: Path, tmp_path: Path) -> None:
    said = ask(BY_NAME[name], dumps, tmp_path)
    assert said.is_right, said.row


@pytest.mark.parametrize("name", HEALTHY)
def test_that_noise_alone_is_no_divergence(name: str, dumps: Path, tmp_path: Path) -> None:
    said = ask(BY_NAME[name], dumps, tmp_path)
    assert not said.failed, said.row
    assert said.first is None, said.row


def test_that_every_plant_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(list(pairs()))


def test_that_another_operator_is_no_right_answer() -> None:
    pair: Pair = BY_NAME["transformer, eps / clean"]
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
