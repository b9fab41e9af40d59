"""Tensors of a dump, read in pieces: files of torch.save and of numpy. Whatever else a file holds is not run."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump import container, numpy_header, opcodes
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

NEEDS_TORCH = "precision.dump.needs_torch"
"""The key of the error for which `through_torch` is the answer."""

CHUNK = 1 << 20
ZIP = b"PK"
MOST_DIMENSIONS = 32
MOST_ELEMENTS = 1 << 58
LONGEST_DESCRIPTION = opcodes.LONGEST
WIDE = {"bfloat16": "<u2", "float8_e4m3fn": "u1", "float8_e5m2": "u1"}
"""How dtypes that numpy lacks lie in a file; they are given as float32, which holds each of their values."""


@dataclass(frozen=True, kw_only=True)
class TensorFile:
    """A tensor in a file. `strides` in elements, `begin` in octets; nothing is read before it is asked for."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    begin: int

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def chunks(self, count: int = CHUNK) -> Iterator[NDArray[Any]]:
        """The elements in C order, `count` at a time, each piece an array of its own; bfloat16 and float8 as float32.
        Raises StudioError where the file became shorter."""
        stored = np.dtype(WIDE.get(self.dtype, self.dtype)).newbyteorder("<")
        read = self._in_order if self.strides == in_order(self.shape) else self._in_strides
        for piece in read(stored, count):
            yield _wide(piece, self.dtype)

    def whole(self) -> NDArray[Any]:
        """In its shape; all of it in memory."""
        parts = list(self.chunks(max(1, self.count)))
        return (parts[0] if parts else np.zeros(0, dtype=_given(self.dtype))).reshape(self.shape)

    def _in_order(self, stored: np.dtype[Any], count: int) -> Iterator[NDArray[Any]]:
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.begin)
            for left in range(self.count, 0, -count):
                wanted = min(count, left)
                piece = np.fromfile(file, dtype=stored, count=wanted)
                if len(piece) < wanted:
                    raise damaged(self.path)
                yield piece

    def _in_strides(self, stored: np.dtype[Any], count: int) -> Iterator[NDArray[Any]]:
        """Over a memory map; as slow as its strides are."""
        if not self.count:
            return
        last = sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))
        flat = np.memmap(self.path, dtype=stored, mode="r", offset=self.begin, shape=(last + 1,))
        octets = tuple(stride * stored.itemsize for stride in self.strides)
        view = np.lib.stride_tricks.as_strided(flat, self.shape, octets, writeable=False)
        for begin in range(0, self.count, count):
            yield np.asarray(view.flat[begin : begin + count])


def in_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of C order, in elements."""
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


def open_tensor(path: Path) -> TensorFile:
    """Raises StudioError: of key NEEDS_TORCH where only torch can read it, of others where it is
    damaged or no tensor."""
    try:
        with path.open("rb") as file:
            start = file.read(len(numpy_header.MAGIC))
            if start == numpy_header.MAGIC:
                return _of_numpy(path, file)
            if start.startswith(ZIP):
                return _of_torch(path, file)
    except OSError as error:
        raise from_os(error, path) from None
    raise StudioError(NEEDS_TORCH if start else "precision.dump.tensor_damaged", place=str(path))


def damaged(path: Path) -> StudioError:
    return StudioError("precision.dump.tensor_damaged", place=str(path))


def _of_torch(path: Path, file: BinaryIO) -> TensorFile:
    try:
        members = {name.partition("/")[2]: one for name, one in container.members(file).items()}
        found = opcodes.described(_text(file, members["data.pkl"], LONGEST_DESCRIPTION))
        if "byteorder" in members and _text(file, members["byteorder"], 16) != b"little":
            raise opcodes.Refused
        storage = members[f"data/{found.key}"]
    except (container.Damaged, KeyError):
        raise damaged(path) from None
    except container.Packed:
        raise StudioError("precision.dump.compressed", place=str(path)) from None
    except opcodes.Refused:
        raise StudioError(NEEDS_TORCH, place=str(path)) from None
    return _in_storage(path, found, storage)


def _text(file: BinaryIO, member: container.Member, most: int) -> bytes:
    if member.size > most:
        raise opcodes.Refused
    file.seek(member.begin)
    return file.read(member.size)


def _in_storage(path: Path, found: opcodes.Described, storage: container.Member) -> TensorFile:
    """Raises StudioError where the tensor is larger than its storage, or that than its member."""
    size = np.dtype(WIDE.get(found.dtype, found.dtype)).itemsize
    if found.elements * (1 if found.is_untyped else size) != storage.size:
        raise damaged(path)
    last = sum((length - 1) * stride for length, stride in zip(found.shape, found.strides, strict=True))
    if not _is_possible(found.shape):
        raise damaged(path)
    if math.prod(found.shape) and (found.offset + last + 1) * size > storage.size:
        raise damaged(path)
    return TensorFile(
        path=path,
        dtype=found.dtype,
        shape=found.shape,
        strides=_without_ones(found.shape, found.strides),
        begin=storage.begin + found.offset * size,
    )


def _is_possible(shape: tuple[int, ...]) -> bool:
    """Also one without elements has dimensions that numpy can count."""
    return len(shape) <= MOST_DIMENSIONS and math.prod(max(1, length) for length in shape) < MOST_ELEMENTS


def _without_ones(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of a dimension of one element may be anything."""
    plain = in_order(shape)
    if math.prod(shape) == 0:
        return plain
    return tuple(usual if length == 1 else stride for length, stride, usual in zip(shape, strides, plain, strict=True))


def _of_numpy(path: Path, file: BinaryIO) -> TensorFile:
    size = file.seek(0, io.SEEK_END)
    try:
        found = numpy_header.header(file)
    except container.Damaged:
        raise damaged(path) from None
    if not found.form:
        raise StudioError("precision.dump.no_numbers", place=str(path))
    if found.form.startswith(">"):
        raise StudioError("precision.dump.other_byte_order", place=str(path))
    dtype, shape = np.dtype(found.form), found.shape
    if not _is_possible(shape) or found.begin + math.prod(shape) * dtype.itemsize > size:
        raise damaged(path)
    strides = tuple(reversed(in_order(shape[::-1]))) if found.is_fortran else in_order(shape)
    return TensorFile(
        path=path, dtype=dtype.name, shape=shape, strides=_without_ones(shape, strides), begin=found.begin
    )


def _given(dtype: str) -> str:
    return "float32" if dtype in WIDE else dtype


def _wide(piece: NDArray[Any], dtype: str) -> NDArray[Any]:
    if dtype == "bfloat16":
        return (piece.astype(np.uint32) << 16).view(np.float32)
    if dtype in WIDE:
        return np.take(_eights(dtype), piece)
    return piece


@lru_cache(maxsize=2)
def _eights(dtype: str) -> NDArray[np.float32]:
    """The values of all float8. e5m2 is the upper half of a float16; e4m3fn has a bias of 7, no infinity, and NaN only
    where all of its exponent and mantissa are set (https://arxiv.org/abs/2209.05433, section 3)."""
    codes = np.arange(256)
    if dtype == "float8_e5m2":
        return (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    size[codes & 127 == 127] = np.nan
    signed: NDArray[np.float32] = np.where(codes & 128, -size, size).astype(np.float32)
    return signed
