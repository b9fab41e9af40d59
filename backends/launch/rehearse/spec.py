"""What is rehearsed: a program, as which host, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from backends.launch.own.spec import Environment, OwnSpec, What
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """`host_cards`: those that the host pretends to have. `seed`: of all that the script leaves to chance, for two
    rehearsals that are to be compared; these also keep digests of their gradients. `npu_device`: what stands in for the
    NPU, a virtual one or the CPU itself; auto: the virtual one where the interpreter's PyTorch can."""

    stance: Literal["cuda", "npu", "cpu"] = option("cuda", flag_name="as")
    steps: int | None = option(3, low=1, high=1_000_000)
    minutes: float | None = option(10.0, unit="minutes", above=0, high=10_000)
    memory: int | None = option(None, unit="mb", low=1, high=100_000_000)
    host_cards: int = option(1, low=1, high=64, flag_name="cards")
    npu_device: Literal["auto", "virtual", "cpu"] = option("auto", visible_when=("stance", ("npu",)))
    seed: int | None = option(None, low=0, high=2**32 - 1)


def own_of(spec: RehearseSpec) -> OwnSpec:
    """The same program, as it would be launched."""
    return OwnSpec(program=spec.program, environment=spec.environment)


def _program_is_right(spec: RehearseSpec) -> Iterable[Problem]:
    for rule in OwnSpec.RULES:
        yield from rule(own_of(spec))


@dataclass(frozen=True, kw_only=True)
class RehearseSpec:
    program: What = field(default_factory=What)
    rehearsal: Rehearsal = field(default_factory=Rehearsal)
    environment: Environment = field(default_factory=Environment)

    RULES = (_program_is_right,)
