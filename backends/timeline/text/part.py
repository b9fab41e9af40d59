"""Events of one sort out of a piece, with what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from backends.timeline.text.loose import every_item

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.text.event import Event


@dataclass(frozen=True)
class Part:
    """Equally long: `classes` int64, `codes` uint8, `times` int64 in ns, `places` int64 in the piece."""

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


@dataclass(frozen=True)
class Literals:
    """What the bytes of a piece say, for where a float64 is not enough."""

    data: memoryview

    @cached_property
    def _items(self) -> list[object]:
        return every_item(bytes(self.data).decode("utf-8", "replace"))

    def duration(self, place: int) -> str:
        item = self._items[place]
        return str(item.get("dur")) if isinstance(item, dict) else ""
