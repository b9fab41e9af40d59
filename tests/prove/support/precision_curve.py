"""False alarms and false silences against the tolerance, under noises that are drawn with ten seeds.

Every allowance of the comparison, that of a rounding and that of the growth of an error, is taken times a factor.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.precision.compare.judgement.operators import Kind
from backends.precision.compare.tolerances import TOLERANCES, Growth, Tolerances
from studio.gc_pause import gc_paused
from tests.planted import network_plants
from tests.planted.making import make
from tests.planted.plant import pair_of
from tests.planted.scoring import PairVerdict
from tests.prove.support.precision_sensitivity import fields_of, first_of, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.planted.plant import Pair

SEEDS = 10
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
DRAWN = ("half", "bfloat16", "float16", "atomics", "ulp")
"""Noises that have a seed."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """Shares at one factor: of healthy pairs that are named, of plants that are passed over, and of plants for which
    something else is named."""

    factor: float
    alarms: float
    silences: float
    elsewhere: float

    def __str__(self) -> str:
        shares = f"{self.alarms:7.1%} alarms  {self.silences:7.1%} silences  {self.elsewhere:7.1%} named elsewhere"
        return f"allowances x {self.factor:<6g} {shares}"


def scaled_allowances(factor: float) -> Tolerances:
    names = ("rounding_ulps", "low_rounding_ulps", "copy_growth", "untraced_growth", "argument_noise", "update_ways")
    growth = Growth(*(factor * TOLERANCES.growth[kind] for kind in Kind))
    return replace(TOLERANCES, growth=growth, **{name: factor * getattr(TOLERANCES, name) for name in names})


def curve_pairs() -> Iterator[Pair]:
    """The healthy pairs under every seed, and each plant under three of the noises with a seed of its own."""
    for seed in range(SEEDS):
        yield from (pair for pair in network_plants.healthy(seed) if _is_drawn(pair))
    for number, plant in enumerate(network_plants.PLANTS):
        for noise in ("half", "atomics", "ulp"):
            yield pair_of(plant, noise, number % SEEDS)


def _is_drawn(pair: Pair) -> bool:
    return pair.golden.noise in DRAWN and pair.golden.steps == 1


def curve(folder: Path, scratch: Path, is_chosen: Callable[[Pair], bool]) -> list[str]:
    """Return the points as text. `folder` keeps the dumps."""
    chosen = [pair for pair in curve_pairs() if is_chosen(pair)]
    make(chosen, folder)
    points = _points(chosen, folder, scratch)
    print(*points, sep="\n", file=sys.stderr, flush=True)
    return list(map(str, points))


def _points(pairs: list[Pair], folder: Path, scratch: Path) -> list[Point]:
    """Each dump is read once for all factors."""
    tolerances = [scaled_allowances(factor) for factor in FACTORS]
    verdicts: list[list[PairVerdict]] = [[] for _ in FACTORS]
    with gc_paused():
        for pair in pairs:
            (dumps,) = read([pair], folder)
            for each, allowances in zip(verdicts, tolerances, strict=True):
                first = first_of(dumps, allowances, scratch / "tensors")
                each.append(PairVerdict(pair=pair, first=fields_of(first)))
    return [_point(factor, each) for factor, each in zip(FACTORS, verdicts, strict=True)]


def _point(factor: float, verdicts: list[PairVerdict]) -> Point:
    planted = [verdict for verdict in verdicts if verdict.pair.plant]
    healthy = [verdict for verdict in verdicts if not verdict.pair.plant]
    silences = sum(verdict.is_silent for verdict in planted)
    wrong = sum(not verdict.is_right for verdict in planted)
    return Point(
        factor=factor, alarms=sum(not verdict.is_right for verdict in healthy) / max(len(healthy), 1),
        silences=silences / max(len(planted), 1), elsewhere=(wrong - silences) / max(len(planted), 1),
    )  # fmt: skip
