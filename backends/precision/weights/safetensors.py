"""Tensors of a file in the safetensors format: the length of a header, the header in JSON, then the data.

https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.precision.weights.stored import damaged_checkpoint, stored_tensor
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.precision.dump.tensor_file import TensorFile

LONGEST_HEADER = 100 << 20
"""As in the library of Hugging Face."""
METADATA = "__metadata__"
SAFETENSORS_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64",
}  # fmt: skip


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def metadata_of(path: Path) -> dict[str, str]:
    """Return the texts that a whole file keeps beside its tensors."""
    with files.open_regular(path) as file:
        raw = msgspec.json.decode(file.read(int.from_bytes(file.read(8), "little")), type=dict[str, msgspec.Raw])
    return msgspec.json.decode(raw[METADATA], type=dict[str, str]) if METADATA in raw else {}


def is_safetensors(start: bytes) -> bool:
    """Whether a file begins as one does, by its first nine bytes: a header of an allowed length that is an object."""
    return len(start) >= 9 and 2 <= int.from_bytes(start[:8], "little") <= LONGEST_HEADER and start[8:9] == b"{"


def read_safetensors(path: Path) -> dict[str, TensorFile]:
    """In the order of their data. Raises StudioError where the file is damaged or has a dtype that is not known."""
    try:
        with files.open_regular(path) as file:
            start = file.read(8)
            size = file.seek(0, 2)
            length = int.from_bytes(start, "little")
            if len(start) < 8 or length > LONGEST_HEADER or 8 + length > size:
                raise damaged_checkpoint(path)
            file.seek(8)
            header = _decoded(file.read(length), path)
    except OSError as error:
        raise from_os(error, path) from error
    entries = sorted(header.items(), key=lambda item: item[1].data_offsets)
    if not _are_whole([entry.data_offsets for _, entry in entries], size - 8 - length):
        raise damaged_checkpoint(path)
    return {name: _stored(path, entry, 8 + length, size) for name, entry in entries}


def _are_whole(offsets: Sequence[tuple[int, int]], size: int) -> bool:
    """Return whether the data of the tensors lies one behind the other up to the end, as the format demands: else two
    share their bytes, or there are some that no tensor has."""
    ends = [0, *(end for _, end in offsets)]
    return ends[-1] == size and [begin for begin, _ in offsets] == ends[:-1]


def _decoded(text: bytes, path: Path) -> dict[str, _Entry]:
    try:
        raw = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        return {name: msgspec.json.decode(entry, type=_Entry) for name, entry in raw.items() if name != METADATA}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise damaged_checkpoint(path) from None


def _stored(path: Path, entry: _Entry, data: int, size: int) -> TensorFile:
    dtype = SAFETENSORS_DTYPES.get(entry.dtype)
    if dtype is None:
        raise StudioError("precision.weights.dtype", place=str(path), dtype=entry.dtype[:40])
    begin, end = entry.data_offsets
    if not 0 <= begin <= end <= size - data:
        raise damaged_checkpoint(path)
    return stored_tensor(path, dtype, entry.shape, ((data + begin, end - begin),))
