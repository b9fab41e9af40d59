"""Values between brackets: JSON, flow collections of YAML, arrays and inline tables of TOML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.scan.files.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\r\n]*|/\*.*?(?:\*/|\Z)|#[^\r\n]*)"
    r'|(?P<string>"(?:[^"\\\r\n]|\\.)*"?|\'(?:[^\'\\\r\n]|\\.)*\'?)'
    r"|(?P<mark>[\[\]{},:])|(?P<plain>[^\s\[\]{},:\"'#]+|.)",
    re.DOTALL,
)
YAML_TOKEN = re.compile(
    r"(?P<blank>\s+|(?<![^\s\[\]{},])#[^\r\n]*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*"?|\'(?:[^\']|\'\')*\'?)'
    r"|(?P<mark>[\[\]{},]|:(?=[\s\"'\[{,\]}]|\Z))|(?P<plain>(?:[^\s\[\]{},:\"']|:(?![\s,\]}]|\Z))+|.)",
    re.DOTALL,
)
TOML_TOKEN = re.compile(
    r"(?P<blank>\s+|#[^\r\n]*)"
    r'|(?P<string>"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)|"(?:[^"\\\r\n]|\\.)*"?|\'[^\'\r\n]*\'?)'
    r"|(?P<mark>[\[\]{},=])|(?P<plain>[^\s\[\]{},=\"'#]+|.)",
    re.DOTALL,
)
SIGNS = {JSON_TOKEN: ":", YAML_TOKEN: ":", TOML_TOKEN: "="}


@dataclass(kw_only=True)
class _Item:
    """What stands between two commas: a key with its value, or a value. Plain words that follow are one."""

    begin: int = -1
    end: int = -1
    key: tuple[int, int] | None = None


@dataclass(kw_only=True)
class Reader:
    """Reads the collection that opens at `at`, or a lone value; `at` is then behind it."""

    text: str
    at: int
    keys: tuple[str, ...]
    token: re.Pattern[str]
    depth: int = 0
    _item: _Item = field(default_factory=_Item)
    _outer: list[tuple[tuple[str, ...], _Item]] = field(default_factory=list)

    def values(self) -> Iterator[Value]:
        sign = SIGNS[self.token]
        while self.at < len(self.text) and (found := self.token.match(self.text, self.at)):
            self.at = found.end()
            mark = found["mark"]
            if found["string"] or found["plain"]:
                self._extend(found)
            elif mark == sign:
                self._item = _Item(key=(self._item.begin, self._item.end)) if self._item.end >= 0 else self._item
            elif mark:
                yield from self._mark(mark)
                if mark in "]}" and not self._outer:
                    return
        yield from self._close()

    def _extend(self, found: re.Match[str]) -> None:
        begin, end = found.span()
        if found["string"]:
            begin, end = inside(self.text, begin, end)
        if self._item.begin < 0:
            self._item.begin = begin
        self._item.end = end

    def _mark(self, mark: str) -> Iterator[Value]:
        if mark in "[{":
            self._outer.append((self.keys, self._item))
            if self._item.key and self._item.key[0] >= 0:
                self.keys = (*self.keys, self.text[slice(*self._item.key)])
            self._item = _Item()
            return
        yield from self._close()
        if mark in "]}" and self._outer:
            self.keys, _ = self._outer.pop()
        self._item = _Item()

    def _close(self) -> Iterator[Value]:
        item = self._item
        if item.end < 0:
            return
        block = "\n" in self.text[item.begin : item.end]
        if item.key:
            keys = (*self.keys, self.text[slice(*item.key)])
            yield Value(keys, item.begin, item.end, *item.key, block)
        else:
            yield Value(self.keys, item.begin, item.end, block=block)


def inside(text: str, begin: int, end: int) -> tuple[int, int]:
    """The region between the quotes of a string, one or three on each side; the closing ones may be missing."""
    for quote in ('"""', "'''"):
        if text.startswith(quote, begin) and end - begin >= 3:
            closed = end - begin >= 6 and text.startswith(quote, end - 3)
            return begin + 3, end - 3 if closed else end
    closed = end - begin >= 2 and text[end - 1] == text[begin]
    return begin + 1, end - 1 if closed else end
