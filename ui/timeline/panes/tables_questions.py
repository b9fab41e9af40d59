"""What the pane of the tables asks off the UI thread, and how it counts the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.query.csv_export import write_table
from backends.timeline.tables.sheet_reading import read_sheet
from backends.timeline.tables.sheet_slices import name_of, slice_of
from studio.errors import StudioError
from studio.texts import t

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.tables.sheet_rows import Rows
    from backends.timeline.tables.sheets import Sheet
    from backends.timeline.trace import Trace


@dataclass(frozen=True, kw_only=True, eq=False)
class Arranged:
    """`order`: the numbers of the rows that are shown."""

    sheet: Sheet
    rows: Rows
    order: NDArray[np.int64]


def counted(shown: Arranged) -> str:
    rows, found = shown.rows, len(shown.order)
    parts = [t("timeline.tables_pane.rows", count=f"{rows.count:,}")]
    if rows.is_cut:
        parts = [t("timeline.tables_pane.first", count=f"{rows.count:,}", total=f"{rows.total:,}")]
    if found < rows.count:
        parts.insert(0, t("timeline.tables_pane.found", count=f"{found:,}"))
    if rows.damaged:
        parts.append(t("timeline.tables_pane.damaged", count=f"{rows.damaged:,}"))
    return " · ".join(parts)


def read(sheet: Sheet, text: str) -> Arranged | StudioError:
    try:
        return arranged(sheet, read_sheet(sheet), text, -1, falling=False)
    except StudioError as error:
        return error


def arranged(sheet: Sheet, rows: Rows, text: str, by: int, *, falling: bool) -> Arranged:
    return Arranged(sheet=sheet, rows=rows, order=rows.arranged(text, by, falling=falling))


def sought(trace: Trace, shown: Arranged, number: int) -> tuple[str, int]:
    """The name that a row speaks of, and its own slice or -1."""
    return name_of(shown.rows, number), slice_of(trace, shown.sheet.rank, shown.rows, number)


def written(shown: Arranged, path: Path) -> StudioError | None:
    rows = (shown.rows.row(number) for number in shown.order.tolist())
    try:
        write_table(path, [column.name for column in shown.rows.columns], rows)
    except StudioError as error:
        return error
    return None
