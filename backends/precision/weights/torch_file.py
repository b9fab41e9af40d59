"""Tensors of a checkpoint that torch.save wrote, read as data: nothing is imported, called or executed.

As dump/opcodes.py, with what a dictionary of tensors needs beside: dictionaries, lists, numbers and texts. Whatever
names another function or class is refused; a child with torch.load(weights_only=True) may still read it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, cast

from backends.precision.dump import container, opcodes
from backends.precision.dump.opcodes import Described, Refused
from backends.precision.dump.tensors import in_storage
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from backends.precision.dump.tensor_file import TensorFile

NEEDS_TORCH = "precision.weights.needs_torch"
"""The key of the error for which the child is the answer."""
MAX_PICKLE_LENGTH = 64 << 20
MAX_WEIGHT_VALUES = 1 << 20
MAX_NESTING = 16


def read_torch(path: Path) -> dict[str, TensorFile]:
    """Return the tensors by name; those of dictionaries in it as "optimizer.state.0.exp_avg". Raises StudioError: of
    key NEEDS_TORCH where only torch can read it, of others where it is damaged."""
    try:
        with files.open_regular(path) as file:
            return _tensors(path, file)
    except OSError as error:
        raise from_os(error, path) from error
    except (container.Damaged, KeyError):
        raise StudioError("precision.weights.damaged", place=str(path)) from None
    except container.Packed:
        raise StudioError("precision.dump.compressed", place=str(path)) from None
    except Refused:
        raise StudioError(NEEDS_TORCH, place=str(path)) from None


def _tensors(path: Path, file: BinaryIO) -> dict[str, TensorFile]:
    members = {name.partition("/")[2]: value for name, value in container.read_members(file).items()}
    if "byteorder" in members and _content(file, members["byteorder"]) != b"little":
        raise Refused
    values = _described(_content(file, members["data.pkl"]))
    return {name: in_storage(path, value, members[f"data/{value.key}"]) for name, value in values.items()}


def _content(file: BinaryIO, member: container.Member) -> bytes:
    if member.size > MAX_PICKLE_LENGTH:
        raise Refused
    file.seek(member.begin)
    return file.read(member.size)


def _described(code: bytes) -> dict[str, Described]:
    try:
        return dict(_flat(_Reader(code).run(), "", 0))
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, ValueError, AttributeError):
        raise Refused from None


def _flat(value: Any, name: str, depth: int) -> Iterator[tuple[str, Described]]:
    """What is no tensor is left out."""
    if depth > MAX_NESTING:
        raise Refused
    if isinstance(value, Described):
        yield name, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, entry in pairs:
        yield from _flat(entry, f"{name}.{key}" if name else str(key), depth + 1)


class _Reader(opcodes.Reader):
    """A stack machine over more opcodes; every dictionary and list is one of its own."""

    def run(self) -> Any:
        while True:
            opcode = self.take(1)
            if opcode == b".":
                return self.stack.pop() if len(self.stack) == 1 else None
            if opcode in FRESH:
                self.stack.append(FRESH[opcode]())
            elif opcode in opcodes.CONSTANTS:
                self.stack.append(opcodes.CONSTANTS[opcode])
            else:
                WEIGHT_OPCODES[opcode](self)
            if len(self.stack) + len(self.memo) > MAX_WEIGHT_VALUES:
                raise Refused

    def reduce(self) -> None:
        args, name = self.stack.pop(), self.stack.pop()
        self.stack.append({} if name.name == "OrderedDict" and not args else opcodes.rebuilt(name, args))

    def set_items(self) -> None:
        values = self.pop_to_mark()
        cast("dict[Any, Any]", self.stack[-1]).update(zip(values[::2], values[1::2], strict=True))

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.stack[-1][key] = value

    def append(self) -> None:
        value = self.stack.pop()
        self.stack[-1].append(value)

    def extend(self) -> None:
        values = self.pop_to_mark()
        self.stack[-1].extend(values)

    def text_of_bytes(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)).decode("utf-8", "replace"))


FRESH: dict[bytes, Callable[[], Any]] = {b"}": dict, b"]": list}

WEIGHT_OPCODES: dict[bytes, Callable[[Any], Any]] = {
    **opcodes.OPCODES,
    b"R": _Reader.reduce,
    b"u": _Reader.set_items,
    b"s": _Reader.set_item,
    b"a": _Reader.append,
    b"e": _Reader.extend,
    b"b": lambda reader: reader.stack.pop(),  # the attributes of an OrderedDict: versions of modules
    b"G": lambda reader: reader.stack.append(struct.unpack(">d", reader.take(8))[0]),
    b"C": lambda reader: reader.text_of_bytes("<B"),
    b"B": lambda reader: reader.text_of_bytes("<I"),
}
