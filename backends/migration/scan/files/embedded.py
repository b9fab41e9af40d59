"""Python that stands inside another file."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.files.source import LINE_END, Source
from backends.migration.scan.python import places as python_places
from backends.migration.scan.python.module import Exports, Module, parse
from backends.migration.scan.python.tree import Unparsable, parsed
from backends.migration.scan.python.unparsed import places as unparsed_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backends.migration.found import Place
    from backends.migration.scan.files.cells import Cell


def places_of(module: Module) -> Iterator[Place]:
    yield from python_places.places(module)


def python(source: Source, begin: int, end: int) -> Iterator[Place]:
    """Places of the Python in text[begin:end], at the lines and columns of the whole file.

    The margin that all its lines have (a script inside of YAML) is taken off first.
    """
    lines = LINE_END.split(source.text[begin:end])
    first, column = source.where(begin)
    margin = _margin(lines[1:] if column else lines)
    stripped = [line[margin:] if at or not column else line for at, line in enumerate(lines)]
    text = "\n".join(line if line.strip() else "" for line in stripped)
    for place in _read(source.path, text):
        yield _moved(place, first, column, margin)


def _margin(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)


def _moved(place: Place, first: int, column: int, margin: int) -> Place:
    """From the place's own line 1 to `first`, where it begins at `column`; other lines are behind the margin."""

    def shift(line: int) -> int:
        return column if line == 1 and column else margin

    return msgspec.structs.replace(
        place,
        line=place.line + first - 1,
        end=place.end + first - 1,
        column=place.column + shift(place.line),
        end_column=place.end_column + shift(place.end),
    )


def _read(
    path: str, text: str, exports: Exports | None = None, read: Callable[[Module], Iterator[Place]] = places_of
) -> Iterator[Place]:
    module = parse(path, text, exports or Exports())
    yield from read(module) if module else unparsed_places(path, text)


def cells(
    path: str, parts: Sequence[Cell], exports: Exports, read: Callable[[Module], Iterator[Place]]
) -> Iterator[Place]:
    """Places of the Python of a notebook: cells that parse are one module, the others are read by themselves."""
    whole = [part for part in parts if _parses(part.text)]
    starts: list[int] = []
    line = 1
    for part in whole:
        starts.append(line)
        line += part.text.count("\n") + 1
    for place in _read(path, "\n".join(part.text for part in whole), exports, read):
        at = bisect_right(starts, place.line) - 1
        shift = starts[at] - 1
        yield msgspec.structs.replace(place, cell=whole[at].index, line=place.line - shift, end=place.end - shift)
    for part in parts:
        if part not in whole:
            for place in _read(path, part.text, exports, read):
                yield msgspec.structs.replace(place, cell=part.index)


def _parses(text: str) -> bool:
    try:
        parsed(text)
    except Unparsable:
        return False
    return True
