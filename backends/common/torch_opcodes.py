"""The one tensor that data.pkl of a saved tensor describes, read as data: nothing is imported, called or executed.

Known are the opcodes that torch.save writes for a plain tensor or Parameter, and the names that these need; all else
is refused. How a tensor is put together: torch/_utils.py, _rebuild_tensor_v2(storage, offset, size, stride,
requires_grad, hooks, metadata), _rebuild_tensor_v3(the first six, dtype, metadata), _rebuild_parameter(tensor, …).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DESCRIPTION_LENGTH = 1 << 16
LONGEST_TEXT = 4096
MAX_PICKLED_DIMENSIONS = 64
MAX_PICKLED_VALUES = 4096

STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
UNTYPED = ("torch.storage", "UntypedStorage")
DTYPES = frozenset((*STORAGES.values(), "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"))
REBUILD = ("_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter")


@dataclass(frozen=True, kw_only=True)
class Described:
    """A tensor in a storage: `key` names its member; `offset` and `strides` count elements of its dtype, `elements`
    the storage's own, which are bytes where `is_untyped`."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    key: str
    elements: int
    is_untyped: bool


@dataclass(frozen=True)
class _Name:
    module: str
    name: str


@dataclass(frozen=True, kw_only=True)
class _Storage:
    """`dtype` empty where the storage has none; then `elements` are bytes."""

    dtype: str
    key: str
    elements: int


class _Mark:
    pass


MARK = _Mark()


class Refused(Exception):
    """It is no plain tensor: torch itself has to read it."""


def describe_tensor(code: bytes) -> Described:
    """Raises Refused where it is anything but one plain tensor."""
    if len(code) > MAX_DESCRIPTION_LENGTH:
        raise Refused
    try:
        value = Reader(code).run()
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, ValueError):
        raise Refused from None
    if not isinstance(value, Described):
        raise Refused
    return value


class Reader:
    """A stack machine over the few opcodes."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        while True:
            opcode = self.take(1)
            if opcode == b".":
                return self.stack.pop() if len(self.stack) == 1 else None
            if opcode in CONSTANTS:
                self.stack.append(CONSTANTS[opcode])
            else:
                OPCODES[opcode](self)
            if len(self.stack) > MAX_PICKLED_VALUES:
                raise Refused

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.code):
            raise IndexError
        self.at += count
        return self.code[self.at - count : self.at]

    def number(self, form: str) -> int:
        (values,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(values)

    def line(self) -> str:
        end = self.code.index(b"\n", self.at)
        return (self.take(end - self.at + 1))[:-1].decode("utf-8")

    def text(self, form: str) -> None:
        length = self.number(form)
        if length > LONGEST_TEXT:
            raise Refused
        self.stack.append(self.take(length).decode("utf-8"))

    def long(self) -> None:
        self.stack.append(int.from_bytes(self.take(self.number("<B")), "little", signed=True))

    def pop_to_mark(self) -> tuple[Any, ...]:
        at = len(self.stack) - 1 - self.stack[::-1].index(MARK)
        values = tuple(self.stack[at + 1 :])
        del self.stack[at:]
        return values

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise IndexError
        values = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        self.stack.append(values)

    def put(self, key: int) -> None:
        self.memo[key] = self.stack[-1]

    def stack_name(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(_known(str(module), str(name)))

    def storage(self) -> None:
        self.stack.append(_storage(self.stack.pop()))

    def reduce(self) -> None:
        args, name = self.stack.pop(), self.stack.pop()
        self.stack.append(rebuilt(name, args))


CONSTANTS: dict[bytes, Any] = {b"N": None, b"\x88": True, b"\x89": False, b")": (), b"(": MARK, b"}": {}, b"]": []}

OPCODES: dict[bytes, Callable[[Reader], Any]] = {
    b"\x80": lambda reader: reader.take(1),
    b"\x95": lambda reader: reader.take(8),
    b"c": lambda reader: reader.stack.append(_known(reader.line(), reader.line())),
    b"\x93": Reader.stack_name,
    b"X": lambda reader: reader.text("<I"),
    b"\x8c": lambda reader: reader.text("<B"),
    b"K": lambda reader: reader.stack.append(reader.number("<B")),
    b"M": lambda reader: reader.stack.append(reader.number("<H")),
    b"J": lambda reader: reader.stack.append(reader.number("<i")),
    b"\x8a": Reader.long,
    b"q": lambda reader: reader.put(reader.number("<B")),
    b"r": lambda reader: reader.put(reader.number("<I")),
    b"\x94": lambda reader: reader.put(len(reader.memo)),
    b"h": lambda reader: reader.stack.append(reader.memo[reader.number("<B")]),
    b"j": lambda reader: reader.stack.append(reader.memo[reader.number("<I")]),
    b"t": lambda reader: reader.stack.append(reader.pop_to_mark()),
    b"\x85": lambda reader: reader.tuple_of(1),
    b"\x86": lambda reader: reader.tuple_of(2),
    b"\x87": lambda reader: reader.tuple_of(3),
    b"Q": Reader.storage,
    b"R": Reader.reduce,
}


def _known(module: str, name: str) -> _Name:
    """A name that is allowed to occur; it is never looked up."""
    plain = module == "torch" and (name in STORAGES or name in DTYPES)
    rebuild = module == "torch._utils" and name in REBUILD
    if plain or rebuild or (module, name) in (UNTYPED, ("collections", "OrderedDict")):
        return _Name(module, name)
    raise Refused


def _storage(value: Any) -> _Storage:
    """("storage", its type, the member's name, the device, elements)"""
    _, kind, key, _, elements = value
    if not (isinstance(kind, _Name) and isinstance(key, str) and _is_count(elements)):
        raise Refused
    if kind.name not in STORAGES and (kind.module, kind.name) != UNTYPED:
        raise Refused
    return _Storage(dtype=STORAGES.get(kind.name, ""), key=key, elements=elements)


def rebuilt(name: Any, args: Any) -> Any:
    if not isinstance(name, _Name) or not isinstance(args, tuple):
        raise Refused
    if name.name == "OrderedDict" and not args:
        return {}
    if name.name == "_rebuild_parameter" and isinstance(args[0], Described):
        return args[0]
    if name.name in REBUILD[:2]:
        return _tensor(*args[:4], dtype=args[6] if name.name == REBUILD[1] else None)
    raise Refused


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *, dtype: Any) -> Described:
    """The metadata, such as that it is a conjugate, is empty: no opcode that fills a dict is known."""
    if not isinstance(storage, _Storage) or not all(map(_is_count, (offset, *shape, *strides))):
        raise Refused
    if len(shape) != len(strides) or len(shape) > MAX_PICKLED_DIMENSIONS:
        raise Refused
    named = dtype.name if isinstance(dtype, _Name) and dtype.name in DTYPES else ""
    if bool(storage.dtype) == bool(named):
        raise Refused
    return Described(
        dtype=storage.dtype or named,
        shape=shape,
        strides=strides,
        offset=offset,
        key=storage.key,
        elements=storage.elements,
        is_untyped=not storage.dtype,
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62
