"""Batches of events, which go through numpy together, and selections from them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.lenient_json import every_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw
    from numpy.typing import NDArray

    from backends.timeline.text.event import Event
    from backends.timeline.text.event_classes import Classes
    from backends.timeline.text.pieces import Piece


@dataclass(frozen=True)
class EventSelection:
    """Events of one class with what is known of each, all equally long: `classes` int64, `codes` uint8, `times` int64
    in ns, `places` int64 in the batch."""

    events: list[Event]
    classes: NDArray[np.int64]
    codes: NDArray[np.uint8]
    times: NDArray[np.int64]
    places: NDArray[np.int64]

    def only(self, code: int) -> EventSelection:
        return self.where(self.codes == code)

    def where(self, mask: NDArray[np.bool_]) -> EventSelection:
        if mask.all():
            return self
        events = list(compress(self.events, mask.tolist()))
        return EventSelection(events, self.classes[mask], self.codes[mask], self.times[mask], self.places[mask])


class Literals:
    """Literals of a batch as written, for values that a float64 cannot hold exactly."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._of_piece: dict[int, list[object]] = {}

    @cached_property
    def _firsts(self) -> list[int]:
        return [0, *accumulate(len(piece.events) for piece in self._pieces)]

    def duration(self, position: int) -> str:
        number = bisect_right(self._firsts, position) - 1
        item = self._items(number)[position - self._firsts[number]]
        return str(item.get("dur")) if isinstance(item, dict) else ""

    def _items(self, number: int) -> list[object]:
        if number not in self._of_piece:
            self._of_piece[number] = every_item(bytes(self._pieces[number].data).decode("utf-8", "replace"))
        return self._of_piece[number]


MAX_PIECES = 4
LARGEST_BATCH = 4 << 20  # bytes


class Batch:
    """Pieces that go through numpy together, since each numpy call takes as long as a dozen events. `times`: literals.
    `add` touches each event while it is still in the processor's cache."""

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
        return len(self._pieces) == MAX_PIECES or self._pieces[-1].end - self._pieces[0].begin > LARGEST_BATCH

    def classes(self) -> NDArray[np.int64]:
        return np.concatenate(self._numbers)

    def literals(self) -> Literals:
        return Literals(self._pieces)
