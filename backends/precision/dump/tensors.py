"""Tensors of a dump, read in pieces: files of torch.save and of numpy. Whatever else a file holds is not run."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

import numpy as np

from backends.common import torch_container, torch_opcodes
from backends.precision.dump import numpy_header
from backends.precision.dump.tensor_file import TensorFile, bytes_of, damaged_tensor, in_order, is_possible
from backends.precision.measure.formats import storage_dtype
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

NEEDS_TORCH = "precision.dump.needs_torch"
"""The key of the error for which a child with torch is the answer."""

ZIP = b"PK"
MAX_DESCRIPTION = torch_opcodes.MAX_DESCRIPTION_LENGTH


def open_tensor(path: Path) -> TensorFile:
    """Raises StudioError: of key NEEDS_TORCH where only torch can read it, of others where it is
    damaged or no tensor."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise damaged_tensor(path)
    try:
        with files.open_regular(path) as file:
            start = file.read(len(numpy_header.MAGIC))
            if start == numpy_header.MAGIC:
                return _of_numpy(path, file)
            if start.startswith(ZIP):
                return _of_torch(path, file)
    except OSError as error:
        raise from_os(error, path) from None
    raise StudioError(NEEDS_TORCH if start else "precision.dump.tensor_damaged", place=str(path))


def _of_torch(path: Path, file: BinaryIO) -> TensorFile:
    try:
        members = {name.partition("/")[2]: member for name, member in torch_container.read_members(file).items()}
        description = torch_opcodes.describe_tensor(_text(file, members["data.pkl"], MAX_DESCRIPTION))
        if "byteorder" in members and _text(file, members["byteorder"], 16) != b"little":
            raise torch_opcodes.Refused
        storage = members[f"data/{description.key}"]
    except (torch_container.Damaged, KeyError):
        raise damaged_tensor(path) from None
    except torch_container.Packed:
        raise StudioError("precision.dump.compressed", place=str(path)) from None
    except torch_opcodes.Refused:
        raise StudioError(NEEDS_TORCH, place=str(path)) from None
    return in_storage(path, description, storage)


def _text(file: BinaryIO, member: torch_container.Member, max_size: int) -> bytes:
    if member.size > max_size:
        raise torch_opcodes.Refused
    file.seek(member.begin)
    return file.read(member.size)


def in_storage(path: Path, description: torch_opcodes.Described, storage: torch_container.Member) -> TensorFile:
    """Raises StudioError where the tensor is larger than its storage, or that than its member."""
    size = storage_dtype(description.dtype).itemsize
    if description.elements * (1 if description.is_untyped else size) != storage.size or not is_possible(
        description.shape
    ):
        raise damaged_tensor(path)
    last = sum((length - 1) * stride for length, stride in zip(description.shape, description.strides, strict=True))
    if math.prod(description.shape) and (description.offset + last + 1) * size > storage.size:
        raise damaged_tensor(path)
    strides = _without_ones(description.shape, description.strides)
    return _file(path, description.dtype, description.shape, strides, storage.begin + description.offset * size)


def _file(path: Path, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], begin: int) -> TensorFile:
    segments = ((begin, bytes_of(dtype, shape)),)
    return TensorFile(path=path, dtype=dtype, shape=shape, strides=strides, segments=segments)


def _without_ones(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of a dimension of one element may be anything."""
    plain = in_order(shape)
    if math.prod(shape) == 0:
        return plain
    return tuple(usual if length == 1 else stride for length, stride, usual in zip(shape, strides, plain, strict=True))


def _of_numpy(path: Path, file: BinaryIO) -> TensorFile:
    size = file.seek(0, io.SEEK_END)
    try:
        description = numpy_header.read_header(file)
    except torch_container.Damaged:
        raise damaged_tensor(path) from None
    if not description.form:
        raise StudioError("precision.dump.no_numbers", place=str(path))
    if description.form.startswith(">"):
        raise StudioError("precision.dump.other_byte_order", place=str(path))
    dtype, shape = np.dtype(description.form), description.shape
    if not is_possible(shape) or description.begin + bytes_of(dtype.name, shape) > size:
        raise damaged_tensor(path)
    strides = tuple(reversed(in_order(shape[::-1]))) if description.is_fortran else in_order(shape)
    return _file(path, dtype.name, shape, _without_ones(shape, strides), description.begin)
