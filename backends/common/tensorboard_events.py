"""Scalars in TensorBoard's event files, which a script writes by itself: records of TFRecord around protobuf messages.

The formats: github.com/tensorflow/tensorflow core/lib/io/record_writer.h (length, its crc, data, its crc) and
core/util/event.proto (2 step, 5 summary), core/framework/summary.proto (1 value: 1 tag, 2 simple_value, 8 tensor),
core/framework/tensor.proto (1 dtype, 4 tensor_content, 5 float_val, 6 double_val). Nothing else is decoded.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD, FOOT = 12, 4
LONGEST_RECORD = 1 << 24
"""Bytes of a record: pictures and graphs are longer than scalars, and are passed over."""
LONGEST_TAG = 200
FLOAT, DOUBLE = 1, 2
VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5


@dataclass(frozen=True, kw_only=True)
class Scalar:
    step: int
    tag: str
    value: float


def scalars(data: bytes) -> tuple[list[Scalar], int]:
    """Return the scalars of the whole records at the beginning of some data, and how many bytes these records take. A
    record that is cut off waits for its end. Raises ValueError where the data is no such file.
    """
    found, offset = [], 0
    while offset + HEAD <= len(data):
        (length,) = struct.unpack_from("<Q", data, offset)
        if length > LONGEST_RECORD:
            raise ValueError("no record of an event file")
        end = offset + HEAD + length + FOOT
        if end > len(data):
            break
        found += _of_event(data[offset + HEAD : offset + HEAD + length])
        offset = end
    return found, offset


def _of_event(message: bytes) -> list[Scalar]:
    """Return the scalars of one event; none of one that is damaged."""
    step, values = 0, []
    try:
        for number, value in _fields(message):
            if number == 2 and isinstance(value, int):
                step = value
            elif number == 5 and isinstance(value, bytes):
                values += [pair for number, part in _fields(value) if number == 1 and (pair := _of_value(part))]
    except (ValueError, IndexError, struct.error):
        return []
    return [Scalar(step=step, tag=tag, value=value) for tag, value in values if 0 <= step < 2**62]


def _of_value(message: int | bytes) -> tuple[str, float] | None:
    tag, scalar = "", None
    for number, value in _fields(message) if isinstance(message, bytes) else ():
        if number == 1 and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")[:LONGEST_TAG]
        elif number == 2 and isinstance(value, bytes) and len(value) == 4:
            scalar = float(struct.unpack("<f", value)[0])
        elif number == 8 and isinstance(value, bytes):
            scalar = _of_tensor(value)
    return (tag, scalar) if tag and scalar is not None else None


def _of_tensor(message: bytes) -> float | None:
    """Return the number of a tensor that has a single one."""
    fields = {number: value for number, value in _fields(message)}
    kinds = {FLOAT: ("<f", 5), DOUBLE: ("<d", 6)}
    if fields.get(1) not in kinds:
        return None
    layout, listed = kinds[int(fields[1])]
    content = fields.get(4) or fields.get(listed)
    is_single = isinstance(content, bytes) and len(content) == struct.calcsize(layout)
    return float(struct.unpack(layout, content)[0]) if is_single and isinstance(content, bytes) else None


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field: an int for a varint, else its bytes. Raises ValueError, IndexError."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, at = _varint(message, at)
        elif kind in (EIGHT, FOUR):
            length = 8 if kind == EIGHT else 4
        else:
            raise ValueError("no field of protobuf")
        if at + length > len(message):
            raise ValueError("a field is cut off")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    raise ValueError("a number is too long")
