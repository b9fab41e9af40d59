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
    problems = tuple(problem for shape, parts in pairs for problem in _check_input(shape, parts, devices, field))
    return problems or tuple(_check_product(shapes, strategy, devices, field))


def is_product(shapes: Shapes) -> bool:
    """Tell whether two inputs can be those of a matrix product, and not of an operator that takes them element by
    element."""
    if [len(shape) for shape in shapes] != [2, 2]:
        return False
    (rows, inner), (below, columns) = shapes
    is_elementwise = all(1 in sizes or len(set(sizes)) == 1 for sizes in ((rows, below), (inner, columns)))
    return inner == below and not is_elementwise


def devices_of(strategy: Shapes) -> int:
    """Return how many devices a matrix product needs: each part of its rows, of its sum and of its columns has one."""
    (rows, inner), (_, columns) = strategy
    return rows * inner * columns


def _check_product(shapes: Shapes, strategy: Shapes, devices: int, field: str) -> Iterable[Problem]:
    if not is_product(shapes):
        return
    texts = {"parts": ",".join(map(written, strategy)), "shapes": ",".join(map(written, shapes))}
    left, right = strategy[0][1], strategy[1][0]
    if left != right:
        yield Problem(field=field, rule="launch.rule.shard_inner", args={**texts, "left": left, "right": right})
    elif devices_of(strategy) > devices:
        args = {**texts, "product": devices_of(strategy), "devices": devices}
        yield Problem(field=field, rule="launch.rule.shard_product", args=args)


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
