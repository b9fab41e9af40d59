"""The text of one file, with offsets turned into lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeAlias

from backends.migration.finding import Occurrence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.finding import FindingKind

ShellScanner: TypeAlias = "Callable[[ScannedText, int, int], Iterator[Occurrence]]"
"""Scans the shell commands in text[begin:end]."""
LINE_END = re.compile(r"\r\n|\r|\n")
MAX_TEXT = 200


class ScannedText:
    """A file's text. Scanners work with offsets into `text`; `occurrence` turns them into lines and columns."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0, *(line_break.end() for line_break in LINE_END.finditer(text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line from 1 and column from 0, in characters."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line_begin(self, line: int) -> int:
        return self._starts[line - 1]

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its line break."""
        line_break = LINE_END.search(self.text, offset)
        return line_break.start() if line_break else len(self.text)

    def occurrence(
        self,
        begin: int,
        end: int,
        category: str,
        *,
        name: str,
        context: str = "",
        kind: FindingKind = "place",
        args: dict[str, Any] | None = None,
    ) -> Occurrence:
        line, column = self.position(begin)
        last, end_column = self.position(end)
        return Occurrence(
            kind=kind,
            path=self.path,
            line=line,
            end=last,
            column=column,
            end_column=end_column,
            category=category,
            name=name,
            context=context,
            text=self.text[begin:end][:MAX_TEXT],
            args=args or {},
        )
