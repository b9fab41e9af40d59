"""What is rehearsed: a program, as which host, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from backends.launch.capture.spec import FIRST_PROFILED, Planned, capture_of, planned_idle
from backends.launch.own.spec import Environment, OwnSpec, What
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """`host_cards`: those that the host pretends to have. `seed`: of all that the script leaves to chance, for two
    rehearsals that are to be compared; these also keep digests of their gradients. `npu_device`: what stands in for the
    NPU, a virtual one or the CPU itself; auto: the virtual one where the interpreter's PyTorch can. `card_memory`: of
    each virtual card. `fake`: only sizes are followed, nothing is computed."""

    stance: Literal["cuda", "npu", "cpu"] = option("cuda", flag_name="as")
    steps: int | None = option(3, low=1, high=1_000_000)
    minutes: float | None = option(10.0, unit="minutes", above=0, high=10_000)
    memory: int | None = option(None, unit="mb", low=1, high=100_000_000)
    host_cards: int = option(1, low=1, high=64, flag_name="cards")
    npu_device: Literal["auto", "virtual", "cpu"] = option("auto", visible_when=("stance", ("npu",)))
    card_memory: int = option(64, unit="gib", low=1, high=4096, visible_when=("stance", ("npu",)))
    fake: bool = option(False, visible_when=("stance", ("npu",)))
    seed: int | None = option(None, low=0, high=2**32 - 1)


def own_of(spec: RehearseSpec) -> OwnSpec:
    """The same program, as it would be launched."""
    return OwnSpec(program=spec.program, planned=spec.planned, environment=spec.environment)


def _program_is_right(spec: RehearseSpec) -> Iterable[Problem]:
    for rule in OwnSpec.RULES:
        yield from rule(own_of(spec))


def _capture_is_reached(spec: RehearseSpec) -> Iterable[Problem]:
    """A capture without a first step of its own begins at the first step or the one after it, as `capture_of` says."""
    chosen, steps = capture_of(spec.planned), spec.rehearsal.steps
    if chosen is None or steps is None:
        return
    first = max(1, FIRST_PROFILED if chosen.at is None else chosen.at)
    if first + chosen.steps - 1 > steps:
        needed = first + chosen.steps - 1
        yield Problem(field="capture_steps", rule="launch.rule.capture_beyond", args={"steps": steps, "needed": needed})


def _fake_is_possible(spec: RehearseSpec) -> Iterable[Problem]:
    """What needs numbers cannot be had where nothing is computed."""
    chosen = spec.rehearsal
    if not chosen.fake or chosen.stance != "npu":
        return
    if chosen.npu_device == "cpu":
        yield Problem(field="npu_device", rule="launch.rule.fake_needs_virtual")
    if chosen.seed is not None:
        yield Problem(field="seed", rule="launch.rule.fake_has_no_numbers")
    if spec.planned.capture != "none":
        yield Problem(field="capture", rule="launch.rule.fake_has_no_capture")


def _memory_is_of_the_virtual_card(spec: RehearseSpec) -> Iterable[Problem]:
    if spec.rehearsal.npu_device == "cpu":
        yield Problem(field="card_memory", rule="launch.rule.card_memory_of_virtual")


def _capture_acts(spec: RehearseSpec) -> Iterable[Problem]:
    yield from planned_idle(spec.planned)


@dataclass(frozen=True, kw_only=True)
class RehearseSpec:
    program: What = field(default_factory=What)
    rehearsal: Rehearsal = field(default_factory=Rehearsal)
    planned: Planned = field(default_factory=Planned)
    environment: Environment = field(default_factory=Environment)

    RULES = (_program_is_right, _capture_is_reached, _fake_is_possible)
    GIVEN_RULES = (_capture_acts, _memory_is_of_the_virtual_card)
