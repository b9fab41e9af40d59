"""Shard strategies, checked without a card."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

Shapes = tuple[tuple[int, ...], ...]


def check_shard(shapes: Shapes, strategy: Shapes, devices: int, field: str = "shard") -> tuple[Problem, ...]:
    """What is wrong with a strategy as `Primitive.shard` takes it: one tuple per input, one number per dimension,
    each dividing its dimension, their product at most the devices."""
    if len(shapes) != len(strategy):
        args = {"inputs": len(shapes), "given": len(strategy)}
        return (Problem(field=field, rule="launch.rule.shard_inputs", args=args),)
    pairs = zip(shapes, strategy, strict=True)
    return tuple(problem for shape, parts in pairs for problem in _check_input(shape, parts, devices, field))


def _check_input(shape: tuple[int, ...], parts: tuple[int, ...], devices: int, field: str) -> Iterable[Problem]:
    texts = {"shape": written(shape), "parts": written(parts)}
    if len(shape) != len(parts):
        yield Problem(field=field, rule="launch.rule.shard_dimensions", args=texts)
        return
    for size, part in zip(shape, parts, strict=True):
        if part < 1 or size % part:
            args = {**texts, "size": size, "part": part}
            yield Problem(field=field, rule="launch.rule.shard_divides", args=args)
    product = math.prod(parts)
    if product > devices:
        args = {**texts, "product": product, "devices": devices}
        yield Problem(field=field, rule="launch.rule.shard_devices", args=args)


def written(numbers: Iterable[int]) -> str:
    return "x".join(map(str, numbers))


def read_shapes(text: str) -> Shapes | None:
    """'64x128,128x256' as ((64, 128), (128, 256)); None for what is no such text."""
    words = [part.split("x") for part in text.replace(" ", "").split(",")]
    if not all(word.isascii() and word.isdigit() and len(word) < 19 for part in words for word in part):
        return None
    return tuple(tuple(map(int, part)) for part in words)
