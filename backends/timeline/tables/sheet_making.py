"""Rows of a sheet on their way from a file into columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.sheet_rows import BORDER, Rows, SheetColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LETTERS = 48 << 20  # of all cells together


@dataclass
class Making:
    """Rows that are being read. `total`: how many there are, where that is known."""

    names: Sequence[str]
    most: int
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
        return self.count >= self.most or self.letters >= LETTERS

    def add(self, columns: Sequence[Sequence[str]]) -> None:
        """Some more rows, by columns; what is beyond the most is not taken."""
        if self.is_full or not columns:
            return
        taken = min(len(columns[0]), self.most - self.count)
        for place, cells in enumerate(columns):
            clean = _clean(cells[:taken])
            self.parts[place].append(BORDER.join(clean) + BORDER if clean else "")
            self.lengths[place].append(np.fromiter(map(len, clean), np.int32, taken) + 1)
            self.letters += len(self.parts[place][-1])
        self.count += taken

    def rows(self) -> Rows:
        columns = (self._column(place) for place in range(len(self.names)))
        total = max(self.total, self.count + self.damaged)
        return Rows(columns=tuple(columns), count=self.count, total=total, damaged=self.damaged)

    def _column(self, place: int) -> SheetColumn:
        lengths = np.concatenate([np.zeros(1, np.int32), *self.lengths[place]])
        text, self.parts[place] = "".join(self.parts[place]), []
        return SheetColumn(name=_clean([self.names[place]])[0], text=text, ends=np.cumsum(lengths, dtype=np.int32))


def _clean(cells: Sequence[str]) -> list[str]:
    """Without blanks around them, BORDER, and halves of characters, which Qt does not take."""
    clean = list(map(str.strip, cells))
    joined = "".join(clean)
    if BORDER in joined:
        clean = [cell.replace(BORDER, "\ufffd") for cell in clean]
    return clean if joined.isascii() else [cell.encode("utf-8", "replace").decode() for cell in clean]
