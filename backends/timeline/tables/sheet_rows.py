"""The rows of a sheet, stored as text by columns: at most four bytes of memory for a byte of the file, however many
cells there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.csv_table import EMPTY_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SAMPLED_CELLS = 200  # cells that say whether a column holds figures
EXACT = 15  # digits that a float holds
BORDER = "\0"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_PLAIN = re.compile(r"[0-9.\0-]*")


@dataclass(frozen=True, kw_only=True, eq=False)
class SheetColumn:
    """`text`: all cells, each followed by BORDER; `ends` int32 [cells + 1]: where each begins."""

    name: str
    text: str
    ends: NDArray[np.int32]

    def cell(self, row: int) -> str:
        return self.text[int(self.ends[row]) : int(self.ends[row + 1]) - 1]

    def cells(self) -> list[str]:
        return self.text.split(BORDER)[:-1]

    @cached_property
    def is_number(self) -> bool:
        """Whether all non-empty cells are figures."""
        count = len(self.ends) - 1
        some = (self.cell(row) for row in range(0, count, max(1, count // SAMPLED_CELLS)))
        filled = [cell for cell in some if cell not in EMPTY_CELLS]
        return bool(filled) and all(map(_NUMBER.fullmatch, filled))

    def holds(self, text: str) -> NDArray[np.bool_]:
        """bool [cells]: whether this text occurs, in any case. It must be non-empty and without BORDER."""
        has_text = np.zeros(len(self.ends) - 1, bool)
        pattern = re.compile(re.escape(text), re.IGNORECASE)
        match = pattern.search(self.text)
        while match is not None:
            row = int(np.searchsorted(self.ends, match.start(), "right")) - 1
            has_text[row] = True
            match = pattern.search(self.text, int(self.ends[row + 1]))
        return has_text

    def order(self, *, falling: bool) -> NDArray[np.int64]:
        """Return the rows sorted by this column, figures as figures; those without one come last. Equal rows keep their
        order."""
        return (_by_figure if self.is_number else _by_text)(self, falling=falling)


@dataclass(frozen=True, kw_only=True, eq=False)
class SheetRows:
    """The first `count` of `total` rows; `damaged`: unreadable records, which are left out."""

    columns: tuple[SheetColumn, ...]
    count: int
    total: int
    damaged: int

    @property
    def is_cut(self) -> bool:
        return self.total > self.count + self.damaged

    def row(self, number: int) -> tuple[object, ...]:
        """Return a row for a spreadsheet, which would take text that begins with a sign for a formula."""
        return tuple(_signed(column.cell(number)) for column in self.columns)

    def arranged(self, text: str = "", by: int = -1, *, falling: bool = False) -> NDArray[np.int64]:
        """Return the rows that contain a text, sorted by a column or in file order. Not for the UI thread."""
        order = self.columns[by].order(falling=falling) if 0 <= by < len(self.columns) else np.arange(self.count)
        text = text.replace(BORDER, "").strip()
        return order[self._holds(text)[order]] if text else order

    def _holds(self, text: str) -> NDArray[np.bool_]:
        has_text = np.zeros(self.count, bool)
        for column in self.columns:
            has_text |= column.holds(text)
            if has_text.all():
                break
        return has_text


def _by_figure(column: SheetColumn, *, falling: bool) -> NDArray[np.int64]:
    cells = column.cells()
    if _PLAIN.fullmatch(column.text) and int(np.diff(column.ends).max(initial=0)) <= EXACT:
        try:
            return _stable(np.array(cells, np.float64), falling=falling)
        except ValueError:  # an empty one
            pass
    figures = {row: Decimal(cell) for row, cell in enumerate(cells) if _NUMBER.fullmatch(cell)}
    rest = (row for row in range(len(cells)) if row not in figures)
    return _joined(sorted(figures, key=figures.__getitem__, reverse=falling), rest)


def _by_text(column: SheetColumn, *, falling: bool) -> NDArray[np.int64]:
    cells = [cell.casefold() for cell in column.cells()]
    filled = [row for row, cell in enumerate(cells) if cell]
    rest = (row for row, cell in enumerate(cells) if not cell)
    return _joined(sorted(filled, key=cells.__getitem__, reverse=falling), rest)


def _stable(figures: NDArray[np.float64], *, falling: bool) -> NDArray[np.int64]:
    return np.argsort(-figures if falling else figures, kind="stable")


def _joined(first: Iterable[int], rest: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter((*first, *rest), np.int64)


def _signed(cell: str) -> object:
    return Decimal(cell) if cell[:1] in ("-", "+") and _NUMBER.fullmatch(cell) else cell
