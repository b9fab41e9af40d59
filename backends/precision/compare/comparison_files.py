"""A comparison as files: its columns as they lie in memory, to be mapped, and a header that describes them."""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.precision.compare.call_names import CallNames
from backends.precision.compare.comparison import AllowedNoise, Comparison, Coverage, First, Pass
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array

FORMAT = 2
HEADER_FILE = "comparison.json"
DATA_FILE = "comparison.bin"
ALIGNED = 64
NAME_ENDS = "name_ends"
FORMER_KEYS = {"octets": "size"}
"""What format 1 called a field of the header, and what it is called now."""


class _Column(msgspec.Struct, frozen=True, kw_only=True):
    """`offset` in bytes from the beginning of the data, `dtype` as numpy writes it, such as "<f8"."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    """comparison.json. The texts lie in the data too, at (offset, size in bytes), since they may be long: `names`, the
    calls', one behind the other, of which there may be a million, with `name_ends`; `texts`, the others as JSON."""

    format: int = FORMAT
    data: str = DATA_FILE
    size: int
    columns: dict[str, _Column]
    names: tuple[int, int]
    name_ends: _Column
    texts: tuple[int, int]
    passes: tuple[dict[str, Any], ...]
    first: dict[str, Any] | None
    notes: tuple[dict[str, Any], ...]
    coverage: Coverage | None = None
    noise: AllowedNoise | None = None


class _Texts(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...]
    stacks: tuple[tuple[str, ...], ...]


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Write both files into `folder`, the header last: without it there is no comparison. The data has a name of its
    own each time, so that a window that maps the one before keeps it. Raises StudioError (full disk)."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"comparison-{os.getpid()}-{os.urandom(4).hex()}.bin"
    try:
        header = _write_data(comparison, folder / name)
        files.write_json(folder / HEADER_FILE, header)
    except OSError as error:
        with suppress(OSError):
            (folder / name).unlink()
        raise from_os(error, folder) from error
    for old in folder.glob("comparison-*.bin"):
        if old.name != name:
            with suppress(OSError):
                old.unlink()


def _write_data(comparison: Comparison, path: Path) -> _Header:
    names = [name.encode() for name in comparison.names]
    ends = np.cumsum(np.array([len(name) for name in names], np.int64))
    columns: dict[str, _Column] = {}
    texts = _Texts(**{field: getattr(comparison, field) for field in _Texts.__struct_fields__})
    with path.open("wb") as file:
        for key, column in {**comparison.columns, NAME_ENDS: ends}.items():
            file.write(b"\0" * (-file.tell() % ALIGNED))
            values = np.ascontiguousarray(column)
            columns[key] = _Column(dtype=values.dtype.str, shape=values.shape, offset=file.tell())
            file.write(values.tobytes())
        begin = file.tell()
        file.write(b"".join(names))
        middle = file.tell()
        file.write(msgspec.json.encode(texts))
        end = file.tell()
    return _Header(
        data=path.name, size=end, name_ends=columns.pop(NAME_ENDS), columns=columns,
        names=(begin, middle - begin), texts=(middle, end - middle),
        passes=tuple(msgspec.to_builtins(each, enc_hook=str) for each in comparison.passes),
        first=msgspec.to_builtins(comparison.first), notes=comparison.notes, coverage=comparison.coverage,
        noise=comparison.noise,
    )  # fmt: skip


def open_comparison(folder: Path) -> Comparison:
    """Return the comparison in `folder`, its columns mapped read-only. Raises StudioError where there is none, where it
    is of another format, or where the data is not whole."""
    header = _header(folder)
    data = _mapped(folder / header.data, header.size)
    try:
        texts = msgspec.json.decode(_part(data, header.texts), type=_Texts)
        columns = {key: _column(data, column) for key, column in header.columns.items()}
        return Comparison(
            passes=tuple(_pass(each) for each in header.passes),
            first=None if header.first is None else First(**header.first),
            names=CallNames(_part(data, header.names), _column(data, header.name_ends)), columns=columns,
            notes=header.notes, coverage=header.coverage, noise=header.noise,
            **msgspec.structs.asdict(texts),
        )  # fmt: skip
    except (msgspec.MsgspecError, TypeError, ValueError, KeyError) as error:
        raise _damaged(folder, error) from error


def _part(data: Array, span: tuple[int, int]) -> bytes:
    begin, size = span
    return data[begin : begin + size].tobytes()


def _header(folder: Path) -> _Header:
    path = folder / HEADER_FILE
    try:
        content = msgspec.json.decode(files.read_bytes(path), type=dict[str, Any])
        return msgspec.convert({FORMER_KEYS.get(key, key): value for key, value in content.items()}, _Header)
    except OSError as error:
        raise from_os(error, path) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        content = files.read_json(path)
        if isinstance(content, dict) and isinstance(content.get("format"), int) and content["format"] > FORMAT:
            raise StudioError("precision.compare.newer", path=str(path)) from error
        raise _damaged(folder, error) from error


def _mapped(path: Path, expected: int) -> Array:
    try:
        with files.open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size != expected or path.name != Path(path.name).name:
                raise _damaged(path.parent, ValueError(f"{size} bytes, not {expected}"))
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except OSError as error:
        raise from_os(error, path) from error


def _column(data: Array, column: _Column) -> Array:
    dtype = np.dtype(column.dtype)
    count = int(np.prod(column.shape, dtype=np.int64))
    return np.frombuffer(data, dtype, count, column.offset).reshape(column.shape)


def _pass(each: dict[str, Any]) -> Pass:
    sides = {side: None if each[side] is None else Path(each[side]) for side in ("target", "golden")}
    return Pass(**{**each, **sides})


def _damaged(folder: Path, error: Exception) -> StudioError:
    return StudioError("precision.compare.damaged", path=str(folder), reason=str(error)[:200])
