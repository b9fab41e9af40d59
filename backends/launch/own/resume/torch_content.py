"""What a file of torch.save holds by name, read as data: nothing is imported, called or executed.

As torch_opcodes.py, over all opcodes that such files have: whatever a checkpoint holds beside numbers, texts,
dictionaries and lists is an `Unread`. Of data.pkl, which describes the tensors; their values are not read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.common import torch_container, torch_opcodes
from backends.common.torch_opcodes import MARK, Refused
from studio import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

MAX_DESCRIPTION = 32 << 20
"""Bytes of data.pkl that are read: a checkpoint of a hundred thousand tensors has about as many."""
TENSOR = "tensor"
DICTIONARIES = ("OrderedDict", "dict", "defaultdict", "Counter")


class HalfWritten(Exception):
    """The file has no end: the process that wrote it was ended before."""


@dataclass(frozen=True)
class Unread:
    """An object, a function or a class, by the name of its class. `TENSOR` for tensors and parameters."""

    name: str


def refuse_cut_file(path: Path) -> None:
    """Raises OSError, and HalfWritten where the file is no whole container."""
    with files.open_regular(path) as file:
        _members(file)


def content_of(path: Path) -> Any:
    """Return what the file holds; None where its description is longer than MAX_DESCRIPTION, or another one than
    torch.save writes. Raises OSError, and HalfWritten where it is no whole container."""
    with files.open_regular(path) as file:
        members = _members(file)
        description = next((member for name, member in members.items() if name.endswith("/data.pkl")), None)
        return None if description is None else _described(file, description)


def _members(file: BinaryIO) -> dict[str, torch_container.Member]:
    """The directory stands at the end: a file that was cut off has none."""
    try:
        return torch_container.read_members(file)
    except (torch_container.Damaged, struct.error):
        raise HalfWritten from None
    except torch_container.Packed:
        return {}


def _described(file: BinaryIO, member: torch_container.Member) -> Any:
    if member.size > MAX_DESCRIPTION:
        return None
    file.seek(member.begin)
    try:
        return _Reader(file.read(member.size)).run()
    except (
        IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, ValueError, AttributeError, Refused,
        RecursionError, OverflowError,
    ):  # fmt: skip
        return None


class _Reader(torch_opcodes.Reader):
    """A stack machine that knows all opcodes of protocols 2 to 5."""

    def run(self) -> Any:
        while True:
            opcode = self.take(1)
            if opcode == b".":
                return self.stack.pop()
            OPCODES[opcode](self)

    def stack_text(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)).decode("utf-8", "replace"))

    def stack_bytes(self, form: str) -> None:
        self.stack.append(self.take(self.number(form)))

    def stack_long(self, form: str) -> None:
        self.stack.append(int.from_bytes(self.take(self.number(form)), "little", signed=True))

    def stack_global(self) -> None:
        module, name = self.line(), self.line()
        self.stack.append(Unread(f"{module}.{name}"))

    def stack_named(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(Unread(f"{module}.{name}"))

    def stack_storage(self) -> None:
        self.stack[-1] = Unread("storage")

    def construct(self, argument_count: int) -> None:
        """What a function or class gives for its arguments: a dictionary, a tensor, or an object that is not read."""
        for _ in range(argument_count):
            self.stack.pop()
        function = self.stack.pop()
        name = function.name if isinstance(function, Unread) else ""
        module, _, last = name.rpartition(".")
        if last in DICTIONARIES:
            self.stack.append({})
        else:
            is_tensor = module.partition(".")[0] == "torch" and last.startswith("_rebuild")
            self.stack.append(Unread(TENSOR if is_tensor else name))

    def add(self, *values: Any) -> None:
        """Add to the list or set on top; an object that is not read takes anything."""
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(values)

    def put_in(self, *values: Any) -> None:
        if isinstance(self.stack[-1], dict):
            self.stack[-1].update(zip(values[::2], values[1::2], strict=True))

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.put_in(key, value)

    def build(self) -> None:
        """The attributes of an object are not read."""
        self.stack.pop()


def _constant(value: Any) -> Callable[[_Reader], None]:
    return lambda reader: reader.stack.append(value)


OPCODES: dict[bytes, Callable[[_Reader], Any]] = {
    **torch_opcodes.OPCODES,
    b"N": _constant(None), b"\x88": _constant(True), b"\x89": _constant(False), b")": _constant(()),
    b"(": _constant(MARK),
    b"}": lambda reader: reader.stack.append({}),
    b"]": lambda reader: reader.stack.append([]),
    b"\x8f": lambda reader: reader.stack.append([]),
    b"c": _Reader.stack_global,
    b"\x93": _Reader.stack_named,
    b"X": lambda reader: reader.stack_text("<I"),
    b"\x8c": lambda reader: reader.stack_text("<B"),
    b"\x8d": lambda reader: reader.stack_text("<Q"),
    b"C": lambda reader: reader.stack_bytes("<B"),
    b"B": lambda reader: reader.stack_bytes("<I"),
    b"\x8e": lambda reader: reader.stack_bytes("<Q"),
    b"\x96": lambda reader: reader.stack_bytes("<Q"),
    b"U": lambda reader: reader.stack_bytes("<B"),
    b"T": lambda reader: reader.stack_bytes("<I"),
    b"\x8a": lambda reader: reader.stack_long("<B"),
    b"\x8b": lambda reader: reader.stack_long("<I"),
    b"G": lambda reader: reader.stack.append(struct.unpack(">d", reader.take(8))[0]),
    b"Q": _Reader.stack_storage,
    b"R": lambda reader: reader.construct(1),
    b"\x81": lambda reader: reader.construct(1),
    b"\x92": lambda reader: reader.construct(2),
    b"b": _Reader.build,
    b"a": lambda reader: reader.add(reader.stack.pop()),
    b"e": lambda reader: reader.add(*reader.pop_to_mark()),
    b"\x90": lambda reader: reader.add(*reader.pop_to_mark()),
    b"\x91": lambda reader: reader.stack.append(list(reader.pop_to_mark())),
    b"s": _Reader.set_item,
    b"u": lambda reader: reader.put_in(*reader.pop_to_mark()),
    b"0": lambda reader: reader.stack.pop(),
    b"1": lambda reader: reader.pop_to_mark(),
    b"2": lambda reader: reader.stack.append(reader.stack[-1]),
}  # fmt: skip
