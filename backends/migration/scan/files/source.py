"""The text of one file, with offsets turned into lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Literal

from backends.migration.found import Place

LINE_END = re.compile(r"\r\n|\r|\n")
LONGEST = 200


class Source:
    """A file's text. Readers think in offsets into `text`; `place` turns them into lines and columns."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0, *(found.end() for found in LINE_END.finditer(text))]

    def where(self, offset: int) -> tuple[int, int]:
        """Line from 1 and column from 0, in characters."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line_begin(self, line: int) -> int:
        return self._starts[line - 1]

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its line break."""
        found = LINE_END.search(self.text, offset)
        return found.start() if found else len(self.text)

    def place(
        self,
        begin: int,
        end: int,
        category: str,
        *,
        name: str,
        context: str = "",
        kind: Literal["place", "advice"] = "place",
        args: dict[str, Any] | None = None,
    ) -> Place:
        line, column = self.where(begin)
        last, end_column = self.where(end)
        return Place(
            kind=kind,
            path=self.path,
            line=line,
            end=last,
            column=column,
            end_column=end_column,
            category=category,
            name=name,
            context=context,
            text=self.text[begin:end][:LONGEST],
            args=args or {},
        )
