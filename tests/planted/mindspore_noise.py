"""Noise below what msprobe sees in MindSpore: its wrappers call these functions for the originals.

MindSpore has no dispatcher's mode: the functions and primitives that the network calls are replaced before msprobe
wraps them. The gradient passes the noise unchanged; backward results differ since forward ones do.
"""

from __future__ import annotations

import functools
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

FUNCTIONS = ("matmul", "softmax", "gelu", "cross_entropy", "masked_fill", "clamp", "relu", "tanh")
METHODS = ("__add__", "__truediv__", "__mul__", "__sub__")
PRIMITIVES = ("MatMul", "BiasAdd", "LayerNorm")
_add = Tensor.__add__
_multiply = Tensor.__mul__


class Wrong:
    """`noise` as in noise.py ("ulp"); `fault`: (function or primitive, which of its calls, factor or a function of
    its numbers)."""

    def __init__(self) -> None:
        self.noise, self.fault = "", None
        self.depth = 0
        self.is_running = False
        self.calls: dict[str, int] = {}
        self.hit = False
        self.generator = np.random.default_rng(7)

    def begin(self, noise: str, fault: Any) -> None:
        self.noise, self.fault, self.hit = noise, fault, False
        self.calls.clear()
        self.generator = np.random.default_rng(7)
        self.is_running = bool(noise or fault)

    def install(self) -> None:
        for name in FUNCTIONS:
            setattr(ops, name, self._around(name, getattr(ops, name)))
        for name in METHODS:
            setattr(Tensor, name, self._around(name, getattr(Tensor, name)))
        for name in PRIMITIVES:
            kind = getattr(ops, name)
            kind.__call__ = self._around(name, kind.__call__)

    def _around(self, name: str, call: Any) -> Any:
        @functools.wraps(call)
        def around(*args: Any, **kwargs: Any) -> Any:
            if not self.is_running or self.depth:
                return call(*args, **kwargs)
            self.depth += 1
            try:
                return self._changed(name, call(*args, **kwargs))
            finally:
                self.depth -= 1

        return around

    def _changed(self, name: str, result: Any) -> Any:
        value = result[0] if isinstance(result, tuple) else result
        if not isinstance(value, Tensor) or value.dtype not in (ms.float32, ms.float16, ms.float64):
            return result
        if self.noise == "ulp":
            value = near(value, self.generator)
        self.calls[name] = self.calls.get(name, -1) + 1
        if self.fault is not None and (name, self.calls[name]) == self.fault[:2]:
            self.hit = True
            value = self.fault[2](value)
        return (value, *result[1:]) if isinstance(result, tuple) else value


def near(value: Any, generator: Any) -> Any:
    numbers = value.asnumpy()
    ulps = generator.integers(1, 5, numbers.shape) * generator.choice((-1, 1), numbers.shape)
    change = np.nan_to_num(numbers) * ulps * (np.finfo(numbers.dtype).eps / 2)
    return _add(value, Tensor(change.astype(numbers.dtype)))


def times(factor: float) -> Any:
    return lambda value: _multiply(value, Tensor(np.full(value.shape, factor, value.asnumpy().dtype)))


def with_nan(value: Any) -> Any:
    change = np.zeros(value.shape, np.float32)
    change.flat[5] = np.nan
    return _add(value, Tensor(change))


FAULTS: dict[str, Any] = {
    # MatMul counts the dense layers: 4 of attention and 2 of the rest in each block, then the head.
    "matmul 1.002": ("MatMul", 9, times(1.002)),
    "softmax 1.1": ("softmax", 1, times(1.1)),
    "nan": ("gelu", 1, with_nan),
    "norm 1.01": ("LayerNorm", 2, times(1.01)),
}
