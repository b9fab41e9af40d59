"""The rows of a sheet, kept as text by columns: four bytes of memory for a byte of the file at most, however many cells
there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.table import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

LOOKED_AT = 200  # cells that say whether a column holds figures
EXACT = 15  # digits that a float holds
BORDER = "\0"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_PLAIN = re.compile(r"[0-9.\0-]*")


@dataclass(frozen=True, kw_only=True, eq=False)
class SheetColumn:
    """`text`: all cells, BORDER behind each; `ends` int32 [cells + 1]: where each begins."""

    name: str
    text: str
    ends: NDArray[np.int32]

    def cell(self, row: int) -> str:
        return self.text[int(self.ends[row]) : int(self.ends[row + 1]) - 1]

    def cells(self) -> list[str]:
        return self.text.split(BORDER)[:-1]

    def lines(self) -> list[str]:
        """The cells without what would end a line or a cell where they are pasted."""
        return self.text.replace("\t", " ").replace("\r", " ").replace("\n", " ").split(BORDER)[:-1]

    @cached_property
    def is_number(self) -> bool:
        """Whether those that say something are figures."""
        count = len(self.ends) - 1
        some = (self.cell(row) for row in range(0, count, max(1, count // LOOKED_AT)))
        said = [cell for cell in some if cell not in NOTHING]
        return bool(said) and all(map(_NUMBER.fullmatch, said))

    def holds(self, text: str) -> NDArray[np.bool_]:
        """bool [cells]: in which this is found, small or large letters. Without BORDER, and not empty."""
        found = np.zeros(len(self.ends) - 1, bool)
        pattern = re.compile(re.escape(text), re.IGNORECASE)
        match = pattern.search(self.text)
        while match is not None:
            row = int(np.searchsorted(self.ends, match.start(), "right")) - 1
            found[row] = True
            match = pattern.search(self.text, int(self.ends[row + 1]))
        return found

    def order(self, *, falling: bool) -> NDArray[np.int64]:
        """The rows by what this column says, figures as figures; those without one are the last. Equal ones stay as
        they are."""
        return (_by_figure if self.is_number else _by_text)(self, falling=falling)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The first `count` of `total` rows; `damaged`: how many of those read were none, and are left out."""

    columns: tuple[SheetColumn, ...]
    count: int
    total: int
    damaged: int

    @property
    def is_cut(self) -> bool:
        return self.total > self.count + self.damaged

    def row(self, number: int) -> tuple[object, ...]:
        """For a spreadsheet, which takes a text that begins with a sign for a formula."""
        return tuple(_signed(column.cell(number)) for column in self.columns)

    def arranged(self, text: str = "", by: int = -1, *, falling: bool = False) -> NDArray[np.int64]:
        """The rows in which a text is found, sorted by a column, or as they are. Not for the UI thread."""
        order = self.columns[by].order(falling=falling) if 0 <= by < len(self.columns) else np.arange(self.count)
        text = text.replace(BORDER, "").strip()
        return order[self._holds(text)[order]] if text else order

    def _holds(self, text: str) -> NDArray[np.bool_]:
        found = np.zeros(self.count, bool)
        for column in self.columns:
            found |= column.holds(text)
            if found.all():
                break
        return found


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
    said = [row for row, cell in enumerate(cells) if cell]
    rest = (row for row, cell in enumerate(cells) if not cell)
    return _joined(sorted(said, key=cells.__getitem__, reverse=falling), rest)


def _stable(figures: NDArray[np.float64], *, falling: bool) -> NDArray[np.int64]:
    return np.argsort(-figures if falling else figures, kind="stable")


def _joined(first: Iterable[int], rest: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter((*first, *rest), np.int64)


def _signed(cell: str) -> object:
    return Decimal(cell) if cell[:1] in ("-", "+") and _NUMBER.fullmatch(cell) else cell
