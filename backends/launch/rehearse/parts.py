"""What each process of a rehearsal leaves beside its record: memory, operators, what was assumed."""

from __future__ import annotations

from dataclasses import dataclass

from backends.common.card_memory import (  # noqa: TC001 - msgspec reads it
    Assumed,
    ModuleMemory,
    Shortage,
    Unfollowed,
)
from backends.common.operator_inventory import Cast, Dynamic, Wait  # noqa: TC001 - msgspec reads it


@dataclass(frozen=True, kw_only=True)
class PartMemory:
    """As CardMemory; `step` counts from 0."""

    card: int
    total: int
    peak: int
    reserved: int
    missing: int
    step: int
    kinds: dict[str, int]
    modules: tuple[ModuleMemory, ...]
    refusal: Shortage | None


@dataclass(frozen=True, kw_only=True)
class PartFake:
    """`world`: ranks of the training."""

    assumed: tuple[Assumed, ...]
    refused: tuple[Unfollowed, ...]
    world: int


@dataclass(frozen=True, kw_only=True)
class PartInventory:
    """As Inventory; the steps of `dynamic` count from 0."""

    waits: tuple[Wait, ...]
    dynamic: tuple[Dynamic, ...]
    casts: tuple[Cast, ...]
    left_out: int
