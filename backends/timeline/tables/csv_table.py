"""A csv file of a profiler, record by record: columns by name, old and new, cells without the TAB that protects them
from spreadsheets.

A quoted cell may contain line ends (call stacks) and doubled quotes (shapes). A record that is longer than
LONGEST_RECORD, has a different number of cells than the head, or lacks its line end (the file was cut there) is None in
place of a row, to be counted.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

LONGEST_RECORD = 120_000
"""Bytes of a record: csv of the standard library takes no field over 131,072 characters."""

BLOCK = 1 << 18

EMPTY_CELLS = ("", "N/A", "NA", "null", "None")

HEAD_ALIASES = {
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


def read_csv_records(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield (offset of its first byte, record with its line end), to the end of the file."""
    offset = file.tell()
    while line := file.readline(LONGEST_RECORD):
        if line.endswith(b"\n") and not line.count(b'"') & 1:
            yield offset, line
            offset += len(line)
        else:
            record, length = _continued(file, line)
            yield offset, record
            offset += length


def _continued(file: BinaryIO, line: bytes) -> tuple[bytes | None, int]:
    """Return a record over several lines and its length. Unclosed quotes are given up after LONGEST_RECORD."""
    pieces: list[bytes] = []
    length = quotes = 0
    while line:
        length += len(line)
        quotes += line.count(b'"')
        if length > LONGEST_RECORD:
            pieces.clear()
        pieces.append(line)
        if line.endswith(b"\n") and (length > LONGEST_RECORD or not quotes & 1):
            return (b"".join(pieces) if length <= LONGEST_RECORD else None), length
        line = file.readline(LONGEST_RECORD)
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
    """Return the name by which a column is looked up."""
    name = " ".join(column.replace("_", " ").split()).lower()
    return HEAD_ALIASES.get(name, name)


def without_empty_cells(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row without its empty cells."""
    return {column: cell for column, cell in row.items() if cell not in EMPTY_CELLS}


@dataclass(frozen=True)
class CsvTable:
    path: Path

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns as the file writes them; none where it has no head. Raises OSError where it cannot be read."""
        with files.open_regular(self.path) as file:
            head = next(read_csv_records(file), (0, None))[1]
        return tuple((cells_of(head.removeprefix(b"\xef\xbb\xbf")) if head else None) or ())

    @cached_property
    def places(self) -> dict[str, int]:
        """Plain name -> number of the column; the first of two of one name."""
        return {plain(name): position for position, name in reversed(tuple(enumerate(self.columns)))}

    def column(self, *names: str) -> int | None:
        """Return the column under the first of these names that exists; None where there is none."""
        return next((self.places[plain(name)] for name in names if plain(name) in self.places), None)

    def rows(self) -> Iterator[list[str] | None]:
        """Yield rows; None for a record that is incomplete. Raises OSError."""
        for _, record in self.records():
            yield self.cells(record)

    def blocks(self) -> Iterator[tuple[list[Sequence[str]], int]]:
        """Yield columns of some thousand rows at a time, and the number of incomplete records: five times as fast as
        `rows` for tables without quotes. Cells are as written, but for the TABs. Raises OSError."""
        with files.open_regular(self.path) as file:
            next(read_csv_records(file), None)
            while block := file.read(BLOCK):
                block += file.readline(LONGEST_RECORD)
                if b'"' in block:
                    file.seek(-len(block), 1)
                    yield from self._by_rows(file)
                    return
                columns = self._split(block)
                yield from [(columns, 0)] if columns is not None else self._by_rows(BytesIO(block))

    def _split(self, block: bytes) -> list[Sequence[str]] | None:
        """Split lines that are all alike; None where they are not, or the last one is cut."""
        lines, width = block.count(b"\n"), len(self.columns) + 1
        text = block.replace(b"\r\n", b"\n").replace(b"\t", b"").decode("utf-8", "replace")
        cells = text.replace("\n", ",\n,").split(",")
        if cells.pop() or len(cells) != lines * width or cells[width - 1 :: width].count("\n") != lines:
            return None
        return [cells[column::width] for column in range(width - 1)]

    def _by_rows(self, file: BinaryIO) -> Iterator[tuple[list[Sequence[str]], int]]:
        rows = (self.cells(record) for _, record in read_csv_records(file) if record is None or record.strip())
        while some := list(islice(rows, 1 << 11)):
            whole = [row for row in some if row is not None]
            columns: list[Sequence[str]] = [[row[at] for row in whole] for at in range(len(self.columns))]
            yield columns, len(some) - len(whole)

    def records(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the records after the head, without empty lines."""
        with files.open_regular(self.path) as file:
            each = read_csv_records(file)
            next(each, None)
            yield from (record for record in each if record[1] is None or record[1].strip())

    def cells(self, record: bytes | None) -> list[str] | None:
        cells = cells_of(record) if record is not None else None
        return cells if cells is not None and len(cells) == len(self.columns) else None

    def row_at(self, offset: int) -> dict[str, str] | None:
        """Return the row that begins at this byte, by the column names of the file; None where there is none (any
        more)."""
        try:
            with files.open_regular(self.path) as file:
                file.seek(offset)
                cells = self.cells(next(read_csv_records(file), (0, None))[1])
        except OSError:
            return None
        return dict(zip(self.columns, cells, strict=True)) if cells is not None else None
