"""Tensors of a MindSpore checkpoint, a protobuf message, without MindSpore.

    message Checkpoint { repeated Value value = 1; }
    message Value { required string tag = 1; oneof { TensorProto tensor = 2; MapTensorProto maptensor = 3; } }
    message TensorProto { repeated int64 dims = 1; required string tensor_type = 2; required bytes tensor_content = 3; }

mindspore/ccsrc/utils/checkpoint.proto. A large tensor lies in several values of one tag, each with the dims of all of
it; behind the last value may stand "crc_num" and ten bytes (mindspore/train/serialization.py, _exec_save). dims of [0]
are those of a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.weights.plain_values import MAX_TEXT, Checkpoint, PlainValue
from backends.precision.weights.stored import damaged_checkpoint, stored_tensor
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from backends.precision.dump.tensor_file import TensorFile

VALUE = b"\x0a"
"""With what a checkpoint begins: field 1, a message."""
CHECK = b"crc_num"
CHECK_LENGTH = 17
LONGEST_NAME = 1 << 16
MAX_CKPT_VALUES = 1 << 20
VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32 = 0, 1, 2, 5
TEXT, TABLE = "str", "hash table"
"""`_Part.kind` of what is no tensor."""
CKPT_DTYPES = {
    "Float64": "float64", "Float32": "float32", "Float16": "float16", "BFloat16": "bfloat16", "Int64": "int64",
    "Int32": "int32", "Int16": "int16", "Int8": "int8", "UInt64": "uint64", "UInt32": "uint32", "UInt16": "uint16",
    "UInt8": "uint8", "Bool": "bool",
}  # fmt: skip


class _Broken(Exception):
    pass


@dataclass(frozen=True, kw_only=True)
class _Part:
    tag: str
    dims: tuple[int, ...]
    kind: str
    segment: tuple[int, int]


def read_ckpt(path: Path) -> Checkpoint:
    """In the order of the file; hash tables, which hold embeddings, are named as not read. Raises StudioError where it
    is damaged, encrypted, or has a dtype that is not known."""
    try:
        with files.open_regular(path) as file:
            return _checkpoint(path, file, list(_parts(file)))
    except OSError as error:
        raise from_os(error, path) from error
    except _Broken:
        raise damaged_checkpoint(path) from None


def _checkpoint(path: Path, file: BinaryIO, parts: list[_Part]) -> Checkpoint:
    of_tag: dict[str, list[_Part]] = {}
    for part in parts:
        if part.kind not in (TABLE, TEXT):
            of_tag.setdefault(part.tag, []).append(part)
    texts = {
        part.tag: PlainValue(text=_start_of_text(file, *part.segment)) for part in parts if part.kind == TEXT
    }  # fmt: skip
    return Checkpoint(
        tensors={tag: _stored(path, entries) for tag, entries in of_tag.items()}, values=texts,
        unread=tuple(dict.fromkeys(part.tag for part in parts if part.kind == TABLE)),
    )  # fmt: skip


def _stored(path: Path, parts: list[_Part]) -> TensorFile:
    dims, kind = parts[0].dims, parts[0].kind
    if any((part.dims, part.kind) != (dims, kind) for part in parts):
        raise _Broken
    if kind not in CKPT_DTYPES:
        raise StudioError("precision.weights.dtype", place=str(path), dtype=kind[:40])
    segments = tuple(part.segment for part in parts)
    total = sum(size for _, size in segments)
    shape = () if dims == (0,) and total else dims
    return stored_tensor(path, CKPT_DTYPES[kind], shape, segments)


def _parts(file: BinaryIO) -> Iterator[_Part]:
    """Raises _Broken."""
    end = _end(file)
    for count, (number, wire, begin, size) in enumerate(_fields(file, 0, end)):
        if number != 1 or wire != LENGTH_DELIMITED or count > MAX_CKPT_VALUES:
            raise _Broken
        yield _part(file, begin, begin + size)


def _end(file: BinaryIO) -> int:
    size = file.seek(0, 2)
    if size < CHECK_LENGTH:
        return size
    file.seek(size - CHECK_LENGTH)
    return size - CHECK_LENGTH if file.read(len(CHECK)) == CHECK else size


def _part(file: BinaryIO, begin: int, end: int) -> _Part:
    """A value; of a hash table without what it holds."""
    tag, tensor = "", None
    for number, wire, at, size in _fields(file, begin, end):
        if (number, wire) == (1, LENGTH_DELIMITED):
            tag = _text(file, at, size)
        elif (number, wire) == (2, LENGTH_DELIMITED):
            tensor = (at, at + size)
    return _tensor(file, tag, *tensor) if tensor else _Part(tag=tag, dims=(), kind=TABLE, segment=(end, 0))


def _tensor(file: BinaryIO, tag: str, begin: int, end: int) -> _Part:
    dims: list[int] = []
    kind, segment = "", (end, 0)
    for number, wire, at, size in _fields(file, begin, end):
        if (number, wire) == (1, VARINT):
            dims.append(size)
        elif (number, wire) == (1, LENGTH_DELIMITED):  # packed
            dims += _packed(file, at, at + size)
        elif (number, wire) == (2, LENGTH_DELIMITED):
            kind = _text(file, at, size)
        elif (number, wire) == (3, LENGTH_DELIMITED):
            segment = (at, size)
    return _Part(tag=tag, dims=tuple(dims), kind=kind, segment=segment)


def _start_of_text(file: BinaryIO, at: int, size: int) -> str:
    file.seek(at)
    return file.read(min(size, MAX_TEXT)).decode("utf-8", "replace")


def _fields(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, place, length) of each field of a message; of a number (0, the number) stand for the last.
    https://protobuf.dev/programming-guides/encoding"""
    at = begin
    while at < end:
        key, at = _varint(file, at, end)
        number, wire = key >> 3, key & 7
        size = {FIXED_64: 8, FIXED_32: 4}.get(wire, 0)
        if wire in (VARINT, LENGTH_DELIMITED):
            size, at = _varint(file, at, end)
        elif not size:
            raise _Broken
        if wire != VARINT and size > end - at:
            raise _Broken
        yield number, wire, at, size
        at += 0 if wire == VARINT else size


def _varint(file: BinaryIO, at: int, end: int) -> tuple[int, int]:
    file.seek(at)
    data = file.read(min(10, end - at))
    value = 0
    for position, byte in enumerate(data):
        value |= (byte & 127) << 7 * position
        if byte < 128:
            return value, at + position + 1
    raise _Broken


def _packed(file: BinaryIO, at: int, end: int) -> list[int]:
    if end - at > LONGEST_NAME:
        raise _Broken
    entries = []
    while at < end:
        value, at = _varint(file, at, end)
        entries.append(value)
    return entries


def _text(file: BinaryIO, at: int, size: int) -> str:
    if size > LONGEST_NAME:
        raise _Broken
    file.seek(at)
    try:
        return file.read(size).decode()
    except UnicodeDecodeError:
        raise _Broken from None
