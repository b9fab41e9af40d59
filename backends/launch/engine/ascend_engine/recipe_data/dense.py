"""What a network of two dense layers, drawn once, makes of random inputs."""

from __future__ import annotations

import numpy as np

from ascend_engine.data import Arrays

SAMPLES = 2048
INPUTS, HIDDEN, OUTPUTS = 64, 128, 16


def samples():
    """The same samples whatever the seed: float32 inputs (2048, 64) and labels (2048, 16) of variance 1."""
    random = np.random.default_rng(0)
    x = random.normal(size=(SAMPLES, INPUTS))
    hidden = np.maximum(x @ random.normal(size=(INPUTS, HIDDEN)) / INPUTS**0.5, 0)
    y = hidden @ random.normal(size=(HIDDEN, OUTPUTS)) / HIDDEN**0.5
    return Arrays(x.astype(np.float32), (y / y.std()).astype(np.float32))
