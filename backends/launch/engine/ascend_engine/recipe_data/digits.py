"""Handwritten digits of 8 x 8 pixels, which come with the studio."""

from __future__ import annotations

import numpy as np

from ascend_engine.data import Arrays

VALIDATION_EVERY = 5  # every fifth image is in the validation set


def load(folder):
    """1437 images to learn from, 360 to evaluate; pixels scaled from 0..16 to 0..1."""
    pixels = np.fromfile(folder / "digits.bin", np.uint8).reshape(-1, 1, 8, 8)
    images = pixels.astype(np.float32) / 16
    labels = np.fromfile(folder / "labels.bin", np.uint8).astype(np.int32)
    validation = np.arange(len(labels)) % VALIDATION_EVERY == 0
    return Arrays(images[~validation], labels[~validation]), Arrays(images[validation], labels[validation])
