"""Texts by their id in STRING_IDS, and the numbers that a gathering gives them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from backends.timeline.db.cells import ABSENT, NONE
from backends.timeline.db.database import BROKEN, quoted
from backends.timeline.db.lookup import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.db.database import Database
    from backends.timeline.gathering import Gathering


class Names:
    """The names of one database."""

    def __init__(self, base: Database, gather: Gathering) -> None:
        self._base = base
        self._gather = gather
        self.unknown: set[int] = set()  # ids that were used and have no text
        self.used: set[str] = set()

    @cached_property
    def texts(self) -> dict[int, str]:
        return strings(self._base)

    def text(self, number: int) -> str:
        """Return the text of an id, or the id itself where there is none."""
        text = self.texts.get(number)
        if text is None and number >= 0 and number != NONE:
            self.unknown.add(number)
        return text if text is not None else "#" if number == ABSENT else f"#{number}"

    def numbers(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the gathering's number of the text of each id."""
        return translated(ids, self._number)

    def _number(self, number: int) -> int:
        self.used.add(text := self.text(number))
        return self._gather.names[text]


def strings(base: Database, table: str = "STRING_IDS", column: str = "value") -> dict[int, str]:
    """Read a table of ids and texts, such as an enumeration. Unreadable rows are left out."""
    strings_table = base.table(table)
    key, value = (strings_table.locate("id"), strings_table.locate(column)) if strings_table else (None, None)
    if strings_table is None or key is None or value is None:
        return {}
    texts: dict[int, str] = {}
    line = f"SELECT {quoted(key[1])}, {quoted(value[1])} FROM {quoted(strings_table.name)}"
    try:
        for number, text in base.connection.execute(line):
            if isinstance(number, int):
                texts[number] = text if isinstance(text, str) else "" if text is None else str(text)
    except BROKEN:
        base.lost += 1
    return texts
