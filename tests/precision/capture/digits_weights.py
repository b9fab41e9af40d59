"""Weights of the digits recipe as a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    pass

SHAPES = {
    "layers.0.weight": (16, 1, 3, 3), "layers.0.bias": (16,), "layers.3.weight": (32, 16, 3, 3),
    "layers.3.bias": (32,), "layers.7.weight": (10, 128), "layers.7.bias": (10,),
}  # fmt: skip


def weights(path: Path, perturbed: str = "") -> str:
    """A .safetensors file; the first number of one of its tensors may be larger."""
    random = np.random.default_rng(3)
    header, data = {}, b""
    for name, shape in SHAPES.items():
        values = random.standard_normal(shape, dtype=np.float32) / 10
        values.flat[0] += np.float32(0.01) * (name == perturbed)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": (len(data), len(data) + values.nbytes)}
        data += values.tobytes()
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + data)
    return str(path)
