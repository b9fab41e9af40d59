"""Tensors of a checkpoint that torch.save wrote, read as data: nothing is imported, called or executed.

As torch_opcodes.py, with what a dictionary of tensors needs beside: dictionaries, lists, numbers and texts. Whatever
names another function or class is refused; a child with torch.load(weights_only=True) may still read it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, cast

from backends.common import torch_container, torch_opcodes
from backends.common.torch_opcodes import Described, Refused
from backends.precision.dump.tensors import in_storage
from backends.precision.weights.plain_values import Checkpoint, checkpoint_of, plain_values
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
METADATA_AT = {"_rebuild_tensor_v2": 6, "_rebuild_tensor_v3": 7}
"""The argument of these functions that says that a tensor is conjugate or negative; empty for any other."""


def read_torch(path: Path) -> Checkpoint:
    """Return what it holds by name; tensors of dictionaries in it as "optimizer.state.0.exp_avg". Raises StudioError:
    of key NEEDS_TORCH where only torch can read it, of others where it is damaged."""
    try:
        with files.open_regular(path) as file:
            return _checkpoint(path, file)
    except OSError as error:
        raise from_os(error, path) from error
    except (torch_container.Damaged, KeyError):
        raise StudioError("precision.weights.damaged", place=str(path)) from None
    except torch_container.Packed:
        raise StudioError("precision.dump.compressed", place=str(path)) from None
    except Refused:
        raise StudioError(NEEDS_TORCH, place=str(path)) from None


def _checkpoint(path: Path, file: BinaryIO) -> Checkpoint:
    members = {name.partition("/")[2]: value for name, value in torch_container.read_members(file).items()}
    if "byteorder" in members and _content(file, members["byteorder"]) != b"little":
        raise Refused
    content = _described(_content(file, members["data.pkl"]))
    tensors: dict[str, TensorFile] = {}
    for name, value in _flat(content, "", 0):
        if name in tensors:
            raise StudioError("precision.weights.twice_in_file", place=str(path), name=name)
        tensors[name] = in_storage(path, value, members[f"data/{value.key}"])
    return checkpoint_of(tensors, plain_values(content, lambda value: isinstance(value, Described)))


def _content(file: BinaryIO, member: torch_container.Member) -> bytes:
    if member.size > MAX_PICKLE_LENGTH:
        raise Refused
    file.seek(member.begin)
    return file.read(member.size)


def _described(code: bytes) -> Any:
    """Return what the code builds, tensors as Described."""
    try:
        return _Reader(code).run()
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, ValueError, AttributeError):
        raise Refused from None


def _flat(value: Any, name: str, depth: int) -> Iterator[tuple[str, Described]]:
    """Yield the tensors."""
    if depth > MAX_NESTING:
        raise Refused
    if isinstance(value, Described):
        yield name, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, entry in pairs:
        yield from _flat(entry, f"{name}.{key}" if name else str(key), depth + 1)


class _Reader(torch_opcodes.Reader):
    """A stack machine over more opcodes; every dictionary and list is one of its own."""

    def run(self) -> Any:
        while True:
            opcode = self.take(1)
            if opcode == b".":
                return self.stack.pop() if len(self.stack) == 1 else None
            if opcode in FRESH:
                self.stack.append(FRESH[opcode]())
            elif opcode in torch_opcodes.CONSTANTS:
                self.stack.append(torch_opcodes.CONSTANTS[opcode])
            else:
                WEIGHT_OPCODES[opcode](self)
            if len(self.stack) + len(self.memo) > MAX_WEIGHT_VALUES:
                raise Refused

    def reduce(self) -> None:
        args, name = self.stack.pop(), self.stack.pop()
        if any(args[METADATA_AT.get(name.name, len(args)) :]):  # a conjugate: its elements do not lie there
            raise Refused
        self.stack.append({} if name.name == "OrderedDict" and not args else torch_opcodes.rebuilt(name, args))

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

    def counted_bytes(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)))


FRESH: dict[bytes, Callable[[], Any]] = {b"}": dict, b"]": list}

WEIGHT_OPCODES: dict[bytes, Callable[[Any], Any]] = {
    **torch_opcodes.OPCODES,
    b"R": _Reader.reduce,
    b"u": _Reader.set_items,
    b"s": _Reader.set_item,
    b"a": _Reader.append,
    b"e": _Reader.extend,
    b"b": lambda reader: reader.stack.pop(),  # the attributes of an OrderedDict: versions of modules
    b"G": lambda reader: reader.stack.append(struct.unpack(">d", reader.take(8))[0]),
    b"C": lambda reader: reader.counted_bytes("<B"),
    b"B": lambda reader: reader.counted_bytes("<I"),
}
