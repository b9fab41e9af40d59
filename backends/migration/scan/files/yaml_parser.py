"""Values of YAML, read by lines and indentation; never raises, whatever the text is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.bracket_parser import YAML_TOKEN, BracketParser, inside_quotes
from backends.migration.scan.files.config_value import ConfigValue

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


def parse_yaml(text: str) -> Iterator[ConfigValue]:
    """Scalars in the order of the text. Block scalars (`|`, `>`) are one value each, without their indentation mark."""
    return _YamlParser(text).parse()


class _YamlParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._open: list[tuple[int, str, int, int]] = []

    def parse(self) -> Iterator[ConfigValue]:
        while self.at < len(self.text):
            line = LINE.match(self.text, self.at)
            if line is None:
                return
            if not line[2] or line[2].startswith(("#", "%")):
                self.at = line.end()
            elif not line[1] and line[2].startswith(("---", "...")):
                self._open.clear()
                self.at += 3
                yield from self._parse_line(line.start())
            else:
                self.at = line.start(2)
                yield from self._parse_line(line.start())

    def _parse_line(self, line: int) -> Iterator[ConfigValue]:
        """From `at` to the line's end: dashes, a key, a value. Columns count from `line`."""
        has_key = False
        column = -1
        self._skip_blank()
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
            name = key[group].rstrip()
            self._open.append((column, name, key.start(group), key.start(group) + len(name)))
            self.at, has_key = key.end(), True
        elif column < 0:
            column = self.at - line - 1
        yield from self._parse_value(column, has_key)

    def _skip_blank(self) -> None:
        blank = SPACE.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _parse_value(self, column: int, has_key: bool) -> Iterator[ConfigValue]:
        self._skip_blank()
        if marks := PROPERTY.match(self.text, self.at):
            self.at = marks.end()
        sign = self.text[self.at : self.at + 1]
        if not sign or sign in "\r\n#*":
            self._skip_line()
        elif BLOCK.match(self.text, self.at):
            yield self._block(column, has_key)
        elif sign in "[{":
            parser = BracketParser(text=self.text, at=self.at, keys=self._keys(), token=YAML_TOKEN)
            yield from parser.parse()
            self.at = parser.at
            self._skip_line()
        else:
            yield self._scalar(has_key)
            self._skip_line()

    def _keys(self) -> tuple[str, ...]:
        return tuple(entry[1] for entry in self._open)

    def _make_value(self, begin: int, end: int, has_key: bool, block: bool) -> ConfigValue:
        key = self._open[-1][2:] if has_key and self._open else (0, 0)
        return ConfigValue(self._keys(), begin, end, *key, block)

    def _skip_line(self) -> None:
        line = LINE.match(self.text, self.at)
        self.at = line.end() if line else len(self.text)

    def _scalar(self, has_key: bool) -> ConfigValue:
        begin = self.at
        if self.text[begin] in "\"'" and (quoted := QUOTED.match(self.text, begin)):
            self.at = quoted.end()
            first, last = inside_quotes(self.text, begin, quoted.end())
            return self._make_value(first, last, has_key, "\n" in self.text[first:last])
        line = LINE.match(self.text, begin)
        end = line.end(2) if line else len(self.text)
        comment = COMMENT.search(self.text, begin, end)
        end = comment.start() if comment else end
        while end > begin and self.text[end - 1] in " \t":
            end -= 1
        return self._make_value(begin, end, has_key, False)

    def _block(self, column: int, has_key: bool) -> ConfigValue:
        self._skip_line()
        begin = end = self.at
        while self.at < len(self.text) and (line := LINE.match(self.text, self.at)):
            if line[2] and len(line[1]) <= column:
                break
            end = line.end(2)
            self.at = line.end()
        return self._make_value(begin, max(end, begin), has_key, True)
