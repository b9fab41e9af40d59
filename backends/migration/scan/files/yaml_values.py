"""Values of YAML, read by lines and indentation; never raises, whatever the text is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.flow import YAML_TOKEN, Reader, inside
from backends.migration.scan.files.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE = re.compile(r"([ \t]*)([^\r\n]*)(\r\n|\r|\n|\Z)")
DASH = re.compile(r"-(?:[ \t]+|(?=[\r\n]|\Z))")
KEY = re.compile(
    r"(?:\"((?:[^\"\\\r\n]|\\.)*)\"[ \t]*|'((?:[^'\r\n]|'')*)'[ \t]*"
    r"|([^\s\"'#\[\]{},&*!|>%@`][^\r\n]*?)):(?=[ \t\r\n]|\Z)"
)
PROPERTY = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]+)+|[&!][^\s,\[\]{}]*(?=[\r\n]|\Z)")
BLOCK = re.compile(r"[|>][-+\d]*[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?|\'(?:[^\']|\'\')*\'?', re.DOTALL)
COMMENT = re.compile(r"[ \t]#")
SPACE = re.compile(r"[ \t]*")


def values(text: str) -> Iterator[Value]:
    """Scalars in the order of the text. Block scalars (`|`, `>`) are one value each, without their indentation mark."""
    return _Yaml(text).values()


class _Yaml:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._open: list[tuple[int, str, int, int]] = []

    def values(self) -> Iterator[Value]:
        while self.at < len(self.text):
            line = LINE.match(self.text, self.at)
            if line is None:
                return
            if not line[2] or line[2].startswith(("#", "%")):
                self.at = line.end()
            elif not line[1] and line[2].startswith(("---", "...")):
                self._open.clear()
                self.at += 3
                yield from self._content(line.start())
            else:
                self.at = line.start(2)
                yield from self._content(line.start())

    def _content(self, line: int) -> Iterator[Value]:
        """From `at` to the line's end: dashes, a key, a value. Columns count from `line`."""
        own = False
        column = -1
        self._blank()
        while dash := DASH.match(self.text, self.at):
            column = self.at - line
            while self._open and self._open[-1][0] > column:
                self._open.pop()
            self.at = dash.end()
        key = KEY.match(self.text, self.at)
        if key and not COMMENT.search(self.text, self.at, key.end(3) if key[3] else self.at):
            column = self.at - line
            while self._open and self._open[-1][0] >= column:
                self._open.pop()
            group = next(number for number in (1, 2, 3) if key[number] is not None)
            named = key[group].rstrip()
            self._open.append((column, named, key.start(group), key.start(group) + len(named)))
            self.at, own = key.end(), True
        elif column < 0:
            column = self.at - line - 1
        yield from self._value(column, own)

    def _blank(self) -> None:
        blank = SPACE.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _value(self, column: int, own: bool) -> Iterator[Value]:
        self._blank()
        if marks := PROPERTY.match(self.text, self.at):
            self.at = marks.end()
        sign = self.text[self.at : self.at + 1]
        if not sign or sign in "\r\n#*":
            self._next_line()
        elif BLOCK.match(self.text, self.at):
            yield self._block(column, own)
        elif sign in "[{":
            reader = Reader(text=self.text, at=self.at, keys=self._keys(), token=YAML_TOKEN)
            yield from reader.values()
            self.at = reader.at
            self._next_line()
        else:
            yield self._scalar(own)
            self._next_line()

    def _keys(self) -> tuple[str, ...]:
        return tuple(entry[1] for entry in self._open)

    def _made(self, begin: int, end: int, own: bool, block: bool) -> Value:
        key = self._open[-1][2:] if own and self._open else (0, 0)
        return Value(self._keys(), begin, end, *key, block)

    def _next_line(self) -> None:
        line = LINE.match(self.text, self.at)
        self.at = line.end() if line else len(self.text)

    def _scalar(self, own: bool) -> Value:
        begin = self.at
        if self.text[begin] in "\"'" and (quoted := QUOTED.match(self.text, begin)):
            self.at = quoted.end()
            first, last = inside(self.text, begin, quoted.end())
            return self._made(first, last, own, "\n" in self.text[first:last])
        line = LINE.match(self.text, begin)
        end = line.end(2) if line else len(self.text)
        comment = COMMENT.search(self.text, begin, end)
        end = comment.start() if comment else end
        while end > begin and self.text[end - 1] in " \t":
            end -= 1
        return self._made(begin, end, own, False)

    def _block(self, column: int, own: bool) -> Value:
        self._next_line()
        begin = end = self.at
        while self.at < len(self.text) and (line := LINE.match(self.text, self.at)):
            if line[2] and len(line[1]) <= column:
                break
            end = line.end(2)
            self.at = line.end()
        return self._made(begin, max(end, begin), own, True)
