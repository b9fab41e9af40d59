"""The hits of a search, shared by all parts of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SearchHits(QObject):
    """`slices`: in the order in which they are listed. `current`: the position of the current hit, -1: none. `names`:
    bool [names], the names that stay bright; None: all. `cleared`: the search was given up from outside its field."""

    changed = Signal()
    cleared = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.reset()

    @property
    def is_active(self) -> bool:
        return len(self.slices) > 0 or self.names is not None

    def reset(self) -> None:
        """Forget the hits, without a signal."""
        self.slices: NDArray[np.int64] = np.empty(0, np.int64)
        self.current = -1
        self.names: NDArray[np.bool_] | None = None

    def set(self, slices: NDArray[np.int64], names: NDArray[np.bool_] | None = None, current: int = -1) -> None:
        self.slices, self.current, self.names = slices, current, names
        self.changed.emit()

    def clear(self) -> None:
        self.set(np.empty(0, np.int64))
        self.cleared.emit()
