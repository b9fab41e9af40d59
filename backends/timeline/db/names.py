"""Texts by their id in STRING_IDS, and the numbers that a gathering gives them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from backends.timeline.db.base import BROKEN, quoted
from backends.timeline.db.cells import ABSENT
from backends.timeline.db.lookup import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.gather import Gather


class Names:
    """The names of one database."""

    def __init__(self, base: Base, gather: Gather) -> None:
        self._base = base
        self._gather = gather

    @cached_property
    def texts(self) -> dict[int, str]:
        return strings(self._base)

    def text(self, number: int) -> str:
        """An id that nothing is known of is shown as it is."""
        return self.texts.get(number, "#" if number == ABSENT else f"#{number}")

    def numbers(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Of the gathering, for each id."""
        return translated(ids, lambda number: self._gather.names[self.text(number)])


def strings(base: Base, table: str = "STRING_IDS", column: str = "value") -> dict[int, str]:
    """A table of id and text, such as the enumerations. What cannot be read of it is left out."""
    known = base.table(table)
    key, value = (known.place("id"), known.place(column)) if known else (None, None)
    if known is None or key is None or value is None:
        return {}
    found: dict[int, str] = {}
    line = f"SELECT {quoted(key[1])}, {quoted(value[1])} FROM {quoted(known.name)}"
    try:
        for number, text in base.connection.execute(line):
            if isinstance(number, int):
                found[number] = text if isinstance(text, str) else "" if text is None else str(text)
    except BROKEN:
        base.lost += 1
    return found
