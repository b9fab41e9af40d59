"""What is to be checked: a launch, and how much of this host the check may take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from backends.launch.spec import LaunchSpec
from studio.schema import option


@dataclass(frozen=True, kw_only=True)
class Check:
    """`memory_limit`: decimal megabytes; where it is empty, what the host and its cgroup have free."""

    memory_limit: int | None = option(None, unit="mb", low=1, high=100_000_000)
    time_limit: float = option(120.0, unit="seconds", above=0, high=86400)
    largest: bool = option(True)


@dataclass(frozen=True, kw_only=True)
class CheckSpec(LaunchSpec):
    """The trials keep one checkpoint, at their end, and nothing else: no capture, no debugger, no grace of a stop."""

    check: Check = field(default_factory=Check)

    UNUSED = ("planned", "debug_port", "grace")


def check_of(spec: LaunchSpec) -> CheckSpec:
    """The same choices, to be checked."""
    cards = {card.name: getattr(spec, card.name) for card in dataclasses.fields(LaunchSpec)}
    return CheckSpec(**cards)
