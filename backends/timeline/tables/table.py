"""A csv of a profiler, record by record: columns by name, old and new, cells without the TAB that defeats spreadsheets.

A quoted cell may hold line ends (call stacks) and doubled quotes (shapes). What is longer than LONGEST, has not as many
cells as the head, or ends without a line end (the file was cut there) is None in place of a row, to be counted.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

LONGEST = 120_000
"""Bytes of a record: csv of the standard library takes no field over 131,072 characters."""

BLOCK = 1 << 18

NOTHING = ("", "N/A", "NA", "null", "None")

ALIASES = {
    "block dim": "block num",
    "mix block dim": "mix block num",
    "op name": "name",
    "kernel name": "name",
    "op type": "type",
    "task type": "accelerator core",
    "task start(us)": "start time(us)",
    "task start time(us)": "start time(us)",
    "task duration(us)": "duration(us)",
    "task wait time(us)": "wait time(us)",
    "device": "device type",
}
"""Old names, and those of msprof's op_summary and task_time, by those of today; lower case, blanks for underscores."""


def records(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """(place of its first byte, record with its line end), to the end of the file."""
    place = file.tell()
    while line := file.readline(LONGEST):
        if line.endswith(b"\n") and not line.count(b'"') & 1:
            yield place, line
            place += len(line)
        else:
            record, length = _continued(file, line)
            yield place, record
            place += length


def _continued(file: BinaryIO, line: bytes) -> tuple[bytes | None, int]:
    """A record over several lines and how long it is. Quotes that do not close are given up behind LONGEST."""
    pieces: list[bytes] = []
    length = quotes = 0
    while line:
        length += len(line)
        quotes += line.count(b'"')
        if length > LONGEST:
            pieces.clear()
        pieces.append(line)
        if line.endswith(b"\n") and (length > LONGEST or not quotes & 1):
            return (b"".join(pieces) if length <= LONGEST else None), length
        line = file.readline(LONGEST)
    return None, length


def cells_of(record: bytes) -> list[str] | None:
    text = record.decode("utf-8", "replace").replace("\0", "\ufffd")
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return [cell.strip().strip('"').strip() for cell in next(csv.reader([text]), [])]
    except csv.Error:
        return None


def plain(column: str) -> str:
    """The name by which a column is looked up."""
    name = " ".join(column.replace("_", " ").split()).lower()
    return ALIASES.get(name, name)


def said(row: Mapping[str, str]) -> dict[str, str]:
    """A row without the cells that say nothing."""
    return {column: cell for column, cell in row.items() if cell not in NOTHING}


@dataclass(frozen=True)
class Table:
    path: Path

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """As the file writes them; none where it has no head. Raises OSError where it cannot be read."""
        with self.path.open("rb") as file:
            head = next(records(file), (0, None))[1]
        return tuple((cells_of(head.removeprefix(b"\xef\xbb\xbf")) if head else None) or ())

    @cached_property
    def places(self) -> dict[str, int]:
        """Plain name -> number of the column; the first of two of one name."""
        return {plain(name): place for place, name in reversed(tuple(enumerate(self.columns)))}

    def place(self, *names: str) -> int | None:
        """The column that is there under the first of these names; None where there is none of them."""
        return next((self.places[plain(name)] for name in names if plain(name) in self.places), None)

    def rows(self) -> Iterator[list[str] | None]:
        """None: a record that is not a whole row. Raises OSError."""
        for _, record in self.records():
            yield self.cells(record)

    def blocks(self) -> Iterator[tuple[list[Sequence[str]], int]]:
        """The same by columns, some thousand rows at once, and how many records are no whole rows: five times as fast
        for tables that quote nothing. Cells are as the file has them, but for the TABs. Raises OSError."""
        with self.path.open("rb") as file:
            next(records(file), None)
            while block := file.read(BLOCK):
                block += file.readline(LONGEST)
                if b'"' in block:
                    file.seek(-len(block), 1)
                    yield from self._by_rows(file)
                    return
                columns = self._split(block)
                yield from [(columns, 0)] if columns is not None else self._by_rows(BytesIO(block))

    def _split(self, block: bytes) -> list[Sequence[str]] | None:
        """None where the lines are not alike, or the last one is cut."""
        lines, width = block.count(b"\n"), len(self.columns) + 1
        text = block.replace(b"\r\n", b"\n").replace(b"\t", b"").decode("utf-8", "replace")
        cells = text.replace("\n", ",\n,").split(",")
        if cells.pop() or len(cells) != lines * width or cells[width - 1 :: width].count("\n") != lines:
            return None
        return [cells[column::width] for column in range(width - 1)]

    def _by_rows(self, file: BinaryIO) -> Iterator[tuple[list[Sequence[str]], int]]:
        rows = (self.cells(record) for _, record in records(file) if record is None or record.strip())
        while some := list(islice(rows, 1 << 11)):
            whole = [row for row in some if row is not None]
            columns: list[Sequence[str]] = [[row[at] for row in whole] for at in range(len(self.columns))]
            yield columns, len(some) - len(whole)

    def records(self) -> Iterator[tuple[int, bytes | None]]:
        """The records behind the head, without empty lines."""
        with self.path.open("rb") as file:
            each = records(file)
            next(each, None)
            yield from (one for one in each if one[1] is None or one[1].strip())

    def cells(self, record: bytes | None) -> list[str] | None:
        cells = cells_of(record) if record is not None else None
        return cells if cells is not None and len(cells) == len(self.columns) else None

    def row_at(self, place: int) -> dict[str, str] | None:
        """The row that begins at this byte, by the column names of the file; None where there is none (any more)."""
        try:
            with self.path.open("rb") as file:
                file.seek(place)
                cells = self.cells(next(records(file), (0, None))[1])
        except OSError:
            return None
        return dict(zip(self.columns, cells, strict=True)) if cells is not None else None
