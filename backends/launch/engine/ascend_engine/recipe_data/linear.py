"""Points of y = 2 x + 3, with noise."""

from __future__ import annotations

import numpy as np

from ascend_engine.data import Arrays

SAMPLES = 1024
NOISE = 0.1


def samples():
    """The same samples whatever the seed: inputs and labels, float32 (1024, 1)."""
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, (SAMPLES, 1))
    y = 2 * x + 3 + random.normal(0, NOISE, (SAMPLES, 1))
    return Arrays(x.astype(np.float32), y.astype(np.float32))
