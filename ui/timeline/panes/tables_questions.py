"""Questions of the tables pane that are answered off the UI thread, and how their results are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.query.csv_export import write_table
from backends.timeline.tables.sheet_reader import read_sheet
from backends.timeline.tables.sheet_slices import row_name, slice_of_row
from studio.errors import StudioError
from studio.texts import t

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.tables.sheet_rows import SheetRows
    from backends.timeline.tables.sheets import Sheet
    from backends.timeline.trace import Trace


@dataclass(frozen=True, kw_only=True, eq=False)
class Arranged:
    """`order`: numbers of the visible rows."""

    sheet: Sheet
    rows: SheetRows
    order: NDArray[np.int64]


def counted(arranged: Arranged) -> str:
    rows, count = arranged.rows, len(arranged.order)
    parts = [t("timeline.tables_pane.rows", count=f"{rows.count:,}")]
    if rows.is_cut:
        parts = [t("timeline.tables_pane.first", count=f"{rows.count:,}", total=f"{rows.total:,}")]
    if count < rows.count:
        parts.insert(0, t("timeline.tables_pane.found", count=f"{count:,}"))
    if rows.damaged:
        parts.append(t("timeline.tables_pane.damaged", count=f"{rows.damaged:,}"))
    return " · ".join(parts)


def read(sheet: Sheet, text: str) -> Arranged | StudioError:
    try:
        return arranged(sheet, read_sheet(sheet), text, -1, falling=False)
    except StudioError as error:
        return error


def arranged(sheet: Sheet, rows: SheetRows, text: str, by: int, *, falling: bool) -> Arranged:
    return Arranged(sheet=sheet, rows=rows, order=rows.arranged(text, by, falling=falling))


def find_slice(trace: Trace, arranged: Arranged, number: int) -> tuple[str, int]:
    """Return the name that a row is about, and its slice or -1."""
    return row_name(arranged.rows, number), slice_of_row(trace, arranged.sheet.rank, arranged.rows, number)


def write_arranged(arranged: Arranged, path: Path) -> StudioError | None:
    rows = (arranged.rows.row(number) for number in arranged.order.tolist())
    try:
        write_table(path, [column.name for column in arranged.rows.columns], rows)
    except StudioError as error:
        return error
    return None
