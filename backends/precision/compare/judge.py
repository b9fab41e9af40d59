"""Holds each difference of two dumps against what explains it, in execution order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Event:
    """What is not explained: in a call, at a row (-1: the call itself), and why, a reason of `first`."""

    call: int
    row: int
    reason: str
    args: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Of each row `verdict` and `allowed`; of each call `verdict`, `error`, `input` and `allowed`. `events` in
    execution order. `producer` and `golden_producer`: of each row the earlier row that has its value, -1 without.
    `level`: of each row the relative error that it may have; `product_error`: that of products rounded to few bits,
    else 0."""

    verdict: Array
    allowed: Array
    call_verdict: Array
    call_error: Array
    call_input: Array
    call_allowed: Array
    events: tuple[Event, ...]
    producer: Array
    golden_producer: Array
    level: Array
    product_error: float


def judge(scene: Scene, state: Mapping[int, float], noise: Array | None = None, product_error: float = 0.0) -> Judged:
    """`state`: by how much what is kept between steps may differ, of its rows. `noise`: of each row the distance of two
    golden runs, NaN where unknown. `product_error`: that of the step before, whose parameters were equal yet."""
    from backends.precision.compare.walk import Walk

    walk = Walk(scene, state, noise, product_error)
    for call in range(len(scene.names)):
        walk.visit(call)
    return walk.result()
