"""The choices for a comparison of both sides: those of a certificate, and how many steps are dumped."""

from __future__ import annotations

from dataclasses import dataclass, field

from backends.migration.certify.spec import (
    CertifySpec,
    Environment,
    Pair,
    Training,
    folders_exist,
    line_is_set,
)
from studio.schema import option


@dataclass(frozen=True, kw_only=True)
class Capturing:
    """Bounds of both rehearsals, as a certificate has them. `steps`: all of them are dumped."""

    steps: int = option(2, low=1, high=100)
    seed: int = option(1, low=0, high=2**32 - 1)
    minutes: float = option(10.0, unit="minutes", above=0, high=10_000)
    memory: int | None = option(None, unit="mb", low=1, high=100_000_000)
    host_cards: int = option(1, low=1, high=64, flag_name="cards")


@dataclass(frozen=True, kw_only=True)
class CompareSidesSpec:
    pair: Pair = field(default_factory=Pair)
    training: Training = field(default_factory=Training)
    proof: Capturing = field(default_factory=Capturing)
    environment: Environment = field(default_factory=Environment)

    RULES = (folders_exist, line_is_set)


def sides_of(spec: CertifySpec) -> CompareSidesSpec:
    """Return what compares the sides of a certificate; it dumps no more steps than were proven."""
    proof = spec.proof
    capturing = Capturing(
        steps=min(Capturing.steps, proof.steps), seed=proof.seed, minutes=proof.minutes, memory=proof.memory,
        host_cards=proof.host_cards,
    )  # fmt: skip
    return CompareSidesSpec(pair=spec.pair, training=spec.training, proof=capturing, environment=spec.environment)
