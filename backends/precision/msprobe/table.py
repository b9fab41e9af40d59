"""The table that msprobe's compare wrote, of any version: csv since 26.0, xlsx before and with --xlsx.

Columns of 26.x: `msprobe/core/common/const.py` (CompareConst). 1.x and 8.x call the verdict on tensors "Accuracy
Reached or Not" (Yes, No, Unmatched), and leave that of statistics empty unless it is "Warning".
"""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.compare.comparison import ERROR, NO_RESULT, PASS, WARNING
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

TARGET, GOLDEN, MESSAGE, STACK = "NPU Name", "Bench Name", "Err_message", "NPU_Stack_Info"
VERDICT_HEADERS = ("Result", "Accuracy Reached or Not")
NOT_FIGURES = {TARGET, GOLDEN, MESSAGE, STACK, "Data_name", *VERDICT_HEADERS}
_RESULTS = {
    "pass": PASS, "yes": PASS, "warning": WARNING, "error": ERROR, "no": ERROR, "different": ERROR,
}  # fmt: skip
MAX_TABLE_BYTES = 2_000_000_000
MAX_TABLE_ROWS = 5_000_000
LONGEST_CELL = 1 << 20
UNPACKED = 4_000_000_000


class TableRow(msgspec.Struct, frozen=True, gc=False):
    """One tensor or argument, as msprobe names it. `result`: NO_RESULT, PASS, WARNING or ERROR of compare.comparison;
    `message`: why, in its words; `figures`: its own, in the order of `Table.header`, as text."""

    target: str
    golden: str
    result: int
    message: str
    figures: tuple[str, ...]


class MsprobeTable(msgspec.Struct, frozen=True):
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]


def read_table(path: Path) -> MsprobeTable:
    """Raises StudioError where it is no such table, or too large to be held in memory."""
    try:
        if path.stat().st_size > MAX_TABLE_BYTES:
            raise StudioError("precision.msprobe.table_too_large", place=str(path), limit=MAX_TABLE_BYTES // 10**9)
        with files.open_regular(path) as file:
            is_workbook = file.read(4) == b"PK\x03\x04"
        cells = sheet_rows(path) if is_workbook else _csv_rows(path)
        return _table(cells, path)
    except OSError as error:
        raise from_os(error, path) from error
    except (csv.Error, ValueError) as error:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=str(error)[:200]) from error


def _csv_rows(path: Path) -> Iterator[Sequence[str]]:
    csv.field_size_limit(LONGEST_CELL)
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        yield from csv.reader(file)


def sheet_rows(path: Path, sheet: str = "") -> Iterator[tuple[str, ...]]:
    """The cells of one sheet of a workbook, the first where none is named; of one that msprobe cut into parts of a
    million rows, the first part. Takes a second per 50,000 rows: for the worker alone. Raises OSError, and ValueError
    for all that a damaged workbook makes openpyxl raise."""
    try:
        yield from _sheet_rows(path, sheet)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _sheet_rows(path: Path, sheet: str) -> Iterator[tuple[str, ...]]:
    import openpyxl  # type: ignore[import-untyped]

    with files.open_regular(path) as file:
        _refuse_bomb(file)
        book = openpyxl.load_workbook(io.BytesIO(file.read()), read_only=True, data_only=True)
        try:
            names = (sheet, f"{sheet}_part_0") if sheet else book.sheetnames[:1]
            worksheet = next(book[name] for name in names if name in book.sheetnames)
            for row in worksheet.iter_rows(values_only=True):
                yield tuple("" if cell is None else str(cell) for cell in row)
        finally:
            book.close()


def _refuse_bomb(file: Any) -> None:
    with zipfile.ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > UNPACKED:
            raise ValueError("unpacked it would be larger than it may be")
    file.seek(0)


def _table(cells: Iterable[Sequence[str]], path: Path) -> MsprobeTable:
    rows = iter(cells)
    header = tuple(cell.lstrip("\ufeff").strip() for cell in next(rows, ()))
    verdict = next((name for name in VERDICT_HEADERS if name in header), "")
    if TARGET not in header or not verdict:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=", ".join(header)[:200] or "–")
    figures = tuple(name for name in header if name not in NOT_FIGURES)
    parsed: list[TableRow] = []
    for row in rows:
        if len(parsed) >= MAX_TABLE_ROWS:
            raise StudioError("precision.msprobe.table_too_large", place=str(path), limit=MAX_TABLE_BYTES // 10**9)
        if row:
            parsed.append(_row(dict(zip(header, row, strict=False)), verdict, figures))
    return MsprobeTable(header=figures, rows=tuple(parsed))


def _row(cells: dict[str, str], verdict: str, figures: tuple[str, ...]) -> TableRow:
    golden = cells.get(GOLDEN, "")
    return TableRow(
        cells.get(TARGET, ""),
        "" if golden == "N/A" else golden,
        result_of(cells.get(verdict, ""), verdict, golden),
        _message(cells.get(MESSAGE, "")),
        tuple(cells.get(name, "") for name in figures),
    )


def result_of(text: str, verdict: str, golden: str) -> int:
    """Return the Result that a cell says. Empty is a pass in the statistics of 1.x and 8.x, and nothing where it had
    nothing to compare."""
    if not text and verdict == VERDICT_HEADERS[0] and golden not in ("", "N/A"):
        return PASS
    return _RESULTS.get(text.strip().lower(), NO_RESULT)


def _message(cell: str) -> str:
    """26.x writes a JSON list of texts, older ones text."""
    try:
        messages = msgspec.json.decode(cell.encode(), type=list[str])
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return cell
    return " ".join(messages)
