"""Initial weights that are the same in every framework: drawn by numpy from the seed and a parameter's name."""

from __future__ import annotations

import zlib

import numpy as np

NAMES = {
    "gamma": "weight", "beta": "bias", "embedding_table": "weight",
    "moving_mean": "running_mean", "moving_variance": "running_var",
}  # fmt: skip
"""What PyTorch calls that MindSpore calls otherwise."""


def torch_name(name: str) -> str:
    """The name of a parameter of MindSpore as PyTorch gives it."""
    parent, dot, last = name.rpartition(".")
    return parent + dot + NAMES.get(last, last)


def portable_weights(name: str, begin: np.ndarray, seed: int) -> np.ndarray:
    """What a parameter begins with, in the shape and dtype of `begin`, which the framework drew.

    What is all 0 or all 1 stays so, as those of a norm. Matrices and kernels are uniform within one divided by the root
    of what an output is made of; what has one dimension is 0. Raw Philox bits, which numpy keeps stable.
    """
    if np.all(begin == 0) or np.all(begin == 1):
        return begin
    if begin.ndim < 2:
        return np.zeros_like(begin)
    bits = np.random.Philox(key=[seed, zlib.crc32(torch_name(name).encode())]).random_raw(begin.size)
    bound = np.prod(begin.shape[1:]) ** -0.5
    values = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
    return (values * bound).astype(begin.dtype).reshape(begin.shape)
