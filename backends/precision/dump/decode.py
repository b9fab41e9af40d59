"""What msprobe's json files hold, whole or as far as they are whole.

Written by Python's json, so NaN and Infinity occur, which no other decoder takes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
BEGINNING = 4096
MAX_FILE_BYTES = 2 << 30
MEMORY_FACTOR = 5
"""Bytes in memory for each of the file, measured with msprobe's indentation: 3 to 4."""

JsonNumber = float | bool | str | None


class Item(msgspec.Struct, gc=False):
    """A tensor or an argument as msprobe writes it. `type` is missing where it is none, but a dict of some."""

    type: str | UnsetType = UNSET
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    Max: JsonNumber = None
    Min: JsonNumber = None
    Mean: JsonNumber = None
    Norm: JsonNumber = None
    requires_grad: bool | None = None
    md5: str | None = None
    data_name: str | None = None
    value: Any = UNSET
    format: Any = UNSET
    group_ranks: Any = UNSET


Node = Item | list[Any] | str | float | bool | None
Nodes = list[Node] | dict[str, Node] | None


class Call(msgspec.Struct, gc=False):
    """`input` is that of a backward, or of an old forward; `input_args` and `input_kwargs` those of a forward."""

    input_args: Nodes = None
    input_kwargs: Nodes = None
    input: Nodes = None
    output: Nodes = None
    parameters: Nodes = None


class Head(msgspec.Struct):
    data: dict[str, msgspec.Raw]
    task: str | None = None
    level: str | None = None
    framework: str | None = None
    dump_data_dir: str | None = None


@dataclass(frozen=True, kw_only=True)
class Content:
    """`data`: of each call its json or, where the file was damaged, its value. `skipped`: calls that were not whole;
    `is_cut`: the file ends before the list of its calls does."""

    head: Head
    data: dict[str, Any]
    damage: str = ""
    skipped: int = 0
    is_cut: bool = False


_head = msgspec.json.Decoder(Head)

WORDS = (b"NaN", b"Infinity", b"-Infinity")
TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', re.DOTALL)
CALL = re.compile(r'"((?:[^"\\]|\\.){1,4096})"\s*:\s*(?=\{)')
CALL_LIKE = re.compile(r"\.(?:forward|backward|parameters_grad)(?:\.\d+)?$")


def read_bytes(path: Path) -> bytes:
    """A file's content. Raises StudioError where it cannot be read, or is larger than the memory that is free."""
    try:
        size = path.stat().st_size
        free = available()
        if size > MAX_FILE_BYTES or (free and size * MEMORY_FACTOR > free):
            raise StudioError(
                "precision.dump.too_large",
                place=str(path),
                megabytes=size >> 20,
                free=free >> 20,
                most=MAX_FILE_BYTES >> 20,
            )
        return files.read_bytes(path)
    except OSError as error:
        raise from_os(error, path) from None


def available() -> int:
    """Bytes of memory that are free, 0 where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123 - no path of ours
            match = re.search(r"MemAvailable:\s+(\d+) kB", file.read())
    except OSError:
        return 0
    return int(match[1]) << 10 if match else 0


def read_content(path: Path) -> Content:
    """dump.json. Raises StudioError where the file is none, or cannot be read."""
    data = read_bytes(path)
    if not data[:BEGINNING].strip(b"\0 \t\r\n"):
        raise StudioError("precision.dump.empty_file", place=str(path))
    try:
        head = _decoded(data)
    except msgspec.ValidationError:
        raise StudioError("precision.dump.not_a_dump", place=str(path)) from None
    except BROKEN:
        return _saved(data.decode("utf-8", "replace"), path)
    return Content(head=head, data=dict(head.data))


def _decoded(data: bytes) -> Head:
    try:
        return _head.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if not any(word in data for word in WORDS):
            raise
    try:
        return _head.decode(_with_texts(data))
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return _head.decode(TOKENS.sub(_quoted, data))


def _with_texts(data: bytes) -> bytes:
    """What is not finite as text, where it is a statistic; unless such a thing stands within a text."""
    for word in WORDS:
        if b'\\": ' + word in data:
            return data
        data = data.replace(b'": ' + word, b'":"' + word + b'"')
    return data


def _quoted(match: re.Match[bytes]) -> bytes:
    return match[0] if match[0].startswith(b'"') else b'"' + match[0] + b'"'


def _saved(text: str, path: Path) -> Content:
    """What is whole of a file that is not."""
    start = re.search(r'"data"\s*:\s*\{', text)
    if not start:
        raise StudioError("precision.dump.not_a_dump", place=str(path))
    data, skipped, end = saved(text, start.end(), CALL_LIKE)
    parts = {key: _text(text[: start.start()], key) for key in ("task", "level", "framework", "dump_data_dir")}
    is_cut = not text[end:].lstrip(" \t\r\n,").startswith("}")
    return Content(
        head=Head(data={}, **parts), data=data, damage="precision.dump.damaged", skipped=skipped, is_cut=is_cut
    )


def _text(text: str, key: str) -> str | None:
    match = re.search(rf'"{key}"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    return match[1] if match else None


def saved(text: str, start: int, like: re.Pattern[str]) -> tuple[dict[str, Any], int, int]:
    """The whole members of a json object from `start` on, how many were not, and where the last whole one ends. After a
    broken one the next begins at a name that is like one."""
    match: dict[str, Any] = {}
    skipped, end = 0, start
    for name, begin in _members(text, start, like):
        if begin < end:
            continue
        try:
            match[name], end = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            skipped += 1
    return match, skipped, end


def _members(text: str, start: int, like: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    for match in CALL.finditer(text, start):
        if like.search(match[1]):
            yield _unescaped(match[1]), match.end()


def _unescaped(name: str) -> str:
    try:
        return str(json.loads(f'"{name}"'))
    except ValueError:
        return name
