"""Builder of a sheet's columns from rows as they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.sheet_rows import BORDER, SheetColumn, SheetRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_LETTERS = 48 << 20  # of all cells together


@dataclass
class SheetBuilder:
    """Rows that are being read. `total`: their number in the file, where it is known."""

    names: Sequence[str]
    max_rows: int
    total: int = 0
    damaged: int = 0
    count: int = 0
    letters: int = 0
    parts: list[list[str]] = field(default_factory=list)
    lengths: list[list[NDArray[np.int32]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts = [[] for _ in self.names]
        self.lengths = [[] for _ in self.names]

    @property
    def is_full(self) -> bool:
        return self.count >= self.max_rows or self.letters >= MAX_LETTERS

    def add(self, columns: Sequence[Sequence[str]]) -> None:
        """Add rows, given as columns, up to the limit."""
        if self.is_full or not columns:
            return
        count = min(len(columns[0]), self.max_rows - self.count)
        for number, cells in enumerate(columns):
            clean = _clean(cells[:count])
            self.parts[number].append(BORDER.join(clean) + BORDER if clean else "")
            self.lengths[number].append(np.fromiter(map(len, clean), np.int32, count) + 1)
            self.letters += len(self.parts[number][-1])
        self.count += count

    def rows(self) -> SheetRows:
        columns = (self._column(number) for number in range(len(self.names)))
        total = max(self.total, self.count + self.damaged)
        return SheetRows(columns=tuple(columns), count=self.count, total=total, damaged=self.damaged)

    def _column(self, number: int) -> SheetColumn:
        lengths = np.concatenate([np.zeros(1, np.int32), *self.lengths[number]])
        text, self.parts[number] = "".join(self.parts[number]), []
        return SheetColumn(name=_clean([self.names[number]])[0], text=text, ends=np.cumsum(lengths, dtype=np.int32))


def _clean(cells: Sequence[str]) -> list[str]:
    """Strip blanks, BORDER, and lone surrogates, which Qt does not accept."""
    clean = list(map(str.strip, cells))
    joined = "".join(clean)
    if BORDER in joined:
        clean = [cell.replace(BORDER, "\ufffd") for cell in clean]
    return clean if joined.isascii() else [cell.encode("utf-8", "replace").decode() for cell in clean]
