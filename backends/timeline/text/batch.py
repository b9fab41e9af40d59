"""Pieces that go through numpy at once, since each of its calls takes as long as a dozen events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.part import Literals

if TYPE_CHECKING:
    from msgspec import Raw
    from numpy.typing import NDArray

    from backends.timeline.text.classes import Classes
    from backends.timeline.text.event import Event
    from backends.timeline.text.pieces import Piece

PIECES = 4
LARGEST = 4 << 20  # bytes


class Batch:
    """`times`: literals. `add` touches each event while it is still in the processor's cache."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._pieces: list[Piece] = []
        self._numbers: list[NDArray[np.int64]] = []
        self.events: list[Event] = []
        self.times: list[Raw] = []

    def add(self, piece: Piece) -> None:
        self._pieces.append(piece)
        self._numbers.append(self._classes.of(piece.events))
        self.times += [event.ts for event in piece.events]
        self.events += piece.events

    @property
    def is_full(self) -> bool:
        return len(self._pieces) == PIECES or self._pieces[-1].end - self._pieces[0].begin > LARGEST

    def classes(self) -> NDArray[np.int64]:
        return np.concatenate(self._numbers)

    def literals(self) -> Literals:
        return Literals(self._pieces)
