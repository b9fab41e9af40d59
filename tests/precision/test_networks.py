"""A part of `prove precision`: networks that the comparison was not built on, compared by the command's work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.packages import needs
from tests.planted import network_plants, networks, optimizer_plants
from tests.planted.scoring import compare_in_process
from tests.precision.planted_dumps import NETWORKS, NOT_CAUSAL, ROUTED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planted.plant import Pair


@needs("torch", "msprobe")
@pytest.mark.parametrize("pair", NETWORKS, ids=lambda pair: pair.name)
def test_that_plants_are_named_and_noise_is_not(pair: Pair, planted_dumps: Path, tmp_path: Path) -> None:
    verdict = compare_in_process(pair, planted_dumps, tmp_path)
    assert verdict.is_right, verdict.row


@needs("torch", "msprobe")
def test_that_a_wrong_fused_attention_does_not_stand_for_one_that_is_written_out(
    planted_dumps: Path, tmp_path: Path
) -> None:
    verdict = compare_in_process(NOT_CAUSAL, planted_dumps, tmp_path)
    assert verdict.first is not None
    assert "attention" in verdict.first["name"], verdict.row


@needs("torch", "msprobe")
def test_that_a_choice_that_noise_may_have_turned_is_named_as_that(planted_dumps: Path, tmp_path: Path) -> None:
    first = compare_in_process(ROUTED, planted_dumps, tmp_path).first
    assert first is not None
    assert (first["reason"], first["args"]["other"], first["suspect"]) == (
        "routing_likely", "Torch.topk.0.forward", "noise"
    )  # fmt: skip


def test_that_the_examination_is_as_large_as_it_claims() -> None:
    pairs = list(network_plants.pairs())
    assert len({pair.name for pair in pairs}) == len(pairs)
    assert len(networks.NAMES) >= 12
    assert len(network_plants.PLANTS) >= 100
    assert len(optimizer_plants.PLANTS) >= 30
    healthy = [pair for pair in pairs if pair.plant is None]
    assert len(healthy) >= 100
    assert len({pair.golden.noise for pair in healthy}) >= 10
