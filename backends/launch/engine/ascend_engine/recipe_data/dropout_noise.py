"""The random bits of a dropout, whatever the framework is: a function of seed and layer."""

from __future__ import annotations

import numpy as np

MAX_SAMPLES = 65536  # samples of a micro batch
BITS = 24  # of the hash that are compared with the rate


def noise(shape: tuple[int, ...], seed: int, layer: int) -> np.ndarray:
    """32 random bits for each value of a sample, int32. Raw Philox bits, which numpy keeps stable."""
    bits = np.random.Philox(key=[seed, layer]).random_raw(int(np.prod(shape)))
    return bits.astype(np.uint32).view(np.int32).reshape(shape)
