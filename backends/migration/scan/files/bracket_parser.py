"""Values between brackets: JSON, flow collections of YAML, arrays and inline tables of TOML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.scan.files.config_value import ConfigValue

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
    """The item between two commas: a key with its value, or a value. Consecutive plain words are one value."""

    begin: int = -1
    end: int = -1
    key: tuple[int, int] | None = None


@dataclass(kw_only=True)
class BracketParser:
    """Reads the collection that opens at `at`, or a lone value; `at` is then behind it."""

    text: str
    at: int
    keys: tuple[str, ...]
    token: re.Pattern[str]
    depth: int = 0
    _item: _Item = field(default_factory=_Item)
    _outer: list[tuple[tuple[str, ...], _Item]] = field(default_factory=list)

    def parse(self) -> Iterator[ConfigValue]:
        sign = SIGNS[self.token]
        while self.at < len(self.text) and (token := self.token.match(self.text, self.at)):
            self.at = token.end()
            mark = token["mark"]
            if token["string"] or token["plain"]:
                self._extend_item(token)
            elif mark == sign:
                self._item = _Item(key=(self._item.begin, self._item.end)) if self._item.end >= 0 else self._item
            elif mark:
                yield from self._parse_mark(mark)
                if mark in "]}" and not self._outer:
                    return
        yield from self._finish_item()

    def _extend_item(self, token: re.Match[str]) -> None:
        begin, end = token.span()
        if token["string"]:
            begin, end = inside_quotes(self.text, begin, end)
        if self._item.begin < 0:
            self._item.begin = begin
        self._item.end = end

    def _parse_mark(self, mark: str) -> Iterator[ConfigValue]:
        if mark in "[{":
            self._outer.append((self.keys, self._item))
            if self._item.key and self._item.key[0] >= 0:
                self.keys = (*self.keys, self.text[slice(*self._item.key)])
            self._item = _Item()
            return
        yield from self._finish_item()
        if mark in "]}" and self._outer:
            self.keys, _ = self._outer.pop()
        self._item = _Item()

    def _finish_item(self) -> Iterator[ConfigValue]:
        item = self._item
        if item.end < 0:
            return
        block = "\n" in self.text[item.begin : item.end]
        if item.key:
            keys = (*self.keys, self.text[slice(*item.key)])
            yield ConfigValue(keys, item.begin, item.end, *item.key, block)
        else:
            yield ConfigValue(self.keys, item.begin, item.end, block=block)


def inside_quotes(text: str, begin: int, end: int) -> tuple[int, int]:
    """The region between the quotes of a string, one or three on each side; the closing ones may be missing."""
    for quote in ('"""', "'''"):
        if text.startswith(quote, begin) and end - begin >= 3:
            closed = end - begin >= 6 and text.startswith(quote, end - 3)
            return begin + 3, end - 3 if closed else end
    closed = end - begin >= 2 and text[end - 1] == text[begin]
    return begin + 1, end - 1 if closed else end
