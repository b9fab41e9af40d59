"""Events of one sort out of a piece, with what is known of each."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress
from typing import TYPE_CHECKING

from backends.timeline.text.loose import every_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.text.event import Event
    from backends.timeline.text.pieces import Piece


@dataclass(frozen=True)
class Part:
    """Equally long: `classes` int64, `codes` uint8, `times` int64 in ns, `places` int64 in the batch."""

    events: list[Event]
    classes: NDArray[np.int64]
    codes: NDArray[np.uint8]
    times: NDArray[np.int64]
    places: NDArray[np.int64]

    def only(self, code: int) -> Part:
        return self.where(self.codes == code)

    def where(self, mask: NDArray[np.bool_]) -> Part:
        if mask.all():
            return self
        events = list(compress(self.events, mask.tolist()))
        return Part(events, self.classes[mask], self.codes[mask], self.times[mask], self.places[mask])


class Literals:
    """What the bytes of a batch say, for where a float64 is not enough."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._of_piece: dict[int, list[object]] = {}

    @cached_property
    def _firsts(self) -> list[int]:
        return [0, *accumulate(len(piece.events) for piece in self._pieces)]

    def duration(self, place: int) -> str:
        number = bisect_right(self._firsts, place) - 1
        item = self._items(number)[place - self._firsts[number]]
        return str(item.get("dur")) if isinstance(item, dict) else ""

    def _items(self, number: int) -> list[object]:
        if number not in self._of_piece:
            self._of_piece[number] = every_item(bytes(self._pieces[number].data).decode("utf-8", "replace"))
        return self._of_piece[number]
