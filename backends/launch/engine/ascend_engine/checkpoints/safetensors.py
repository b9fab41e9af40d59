"""Arrays in the safetensors format: the length of a header, the header in JSON, then the data.

https://huggingface.co/docs/safetensors/index#format; little-endian, like every host that Ascend is built into.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import mmap
    from collections.abc import Mapping

NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
BFLOAT16 = "BF16"  # the upper half of a float32
DTYPES = {name: np.dtype(dtype) for dtype, name in NAMES.items()}
CODES = {dtype: name for name, dtype in DTYPES.items()}


def encode(arrays: Mapping[str, np.ndarray]) -> list[bytes | np.ndarray]:
    """The parts of a file, one after the other; those of the arrays are their own memory where they are contiguous."""
    return [layout(arrays)[0], *map(_bytes_of, arrays.values())]


def decode(content: bytes | mmap.mmap) -> dict[str, np.ndarray]:
    """The arrays of a file, read-only views of its content; bfloat16, which numpy lacks, as float32. Raises ValueError
    where it is none."""
    begin = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8:begin])
        return {name: _array(content, begin, entry) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no safetensors file: {type(error).__name__} {error}") from error


def layout(arrays: Mapping[str, Any]) -> tuple[bytes, dict[str, int]]:
    """The begin of a file, and where each of the arrays begins in it. Of them only dtype, shape and nbytes count."""
    entries, end = {}, 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": CODES[array.dtype], "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data begins at a multiple of 8
    header = len(text).to_bytes(8, "little") + text
    return header, {name: len(header) + entry["data_offsets"][0] for name, entry in entries.items()}


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(content: bytes | mmap.mmap, begin: int, entry: dict) -> np.ndarray:
    (first, last), shape, dtype = entry["data_offsets"], entry["shape"], entry["dtype"]
    if not 0 <= first <= last <= len(content) - begin or any(size < 0 for size in shape):
        raise ValueError(f"an array of shape {shape} at {first} to {last} is not in the file")
    raw = np.frombuffer(content, np.uint8)[begin + first : begin + last]
    if dtype == BFLOAT16:
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return raw.view(DTYPES[dtype]).reshape(shape)
