"""Positions of nodes, in characters of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """Lines from 1, columns from 0 in characters; the end column is that of the first character after it."""

    line: int
    column: int
    end: int
    end_column: int


def lines_of(text: str) -> tuple[str, ...]:
    """The lines as Python counts them: a form feed or U+2028 ends none, which str.splitlines() has otherwise."""
    return tuple(LINE_BREAK.split(text))


def character_column(line: str, column: int) -> int:
    """The character at a column that ast gives, which counts bytes of UTF-8."""
    if line.isascii():
        return column
    return len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def span_of(node: ast.AST, lines: Sequence[str]) -> Span:
    line: int = getattr(node, "lineno", 1)
    end: int = getattr(node, "end_lineno", None) or line
    column: int = getattr(node, "col_offset", 0)
    end_column: int = getattr(node, "end_col_offset", None) or column
    return Span(
        line,
        character_column(lines[line - 1] if line <= len(lines) else "", column),
        end,
        character_column(lines[end - 1] if end <= len(lines) else "", end_column),
    )


def source_in(lines: Sequence[str], span: Span) -> str:
    """Return the source inside the span, its lines joined with a newline whatever the file has between them."""
    if span.line == span.end:
        return lines[span.line - 1][span.column : span.end_column]
    first = lines[span.line - 1][span.column :]
    last = lines[span.end - 1][: span.end_column]
    return "\n".join((first, *lines[span.line : span.end - 1], last))


class LineStarts:
    """From an offset in the text to line and column."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(line_break.end() for line_break in LINE_BREAK.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        return self._starts[min(line, len(self._starts)) - 1] + column

    def span(self, begin: int, end: int) -> Span:
        first = bisect_right(self._starts, begin) - 1
        last = bisect_right(self._starts, end) - 1
        return Span(first + 1, begin - self._starts[first], last + 1, end - self._starts[last])
