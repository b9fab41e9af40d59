"""Values of TOML; never raises, whatever the text is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.bracket_parser import TOML_TOKEN, BracketParser, inside_quotes
from backends.migration.scan.files.config_value import ConfigValue

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

TABLE = re.compile(r"[ \t]*\[\[?([^\]\r\n]*)\]\]?[^\r\n]*")
KEY = re.compile(r"[ \t]*((?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[A-Za-z0-9_.-]|[ \t](?=\.)|(?<=\.)[ \t])+)[ \t]*=[ \t]*")
REST = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^.\s\"']+)")
PLAIN = re.compile(r"[^\s#,]+")


def split_key(key: str) -> tuple[str, ...]:
    return tuple(match[1] or match[2] or match[3] or "" for match in PART.finditer(key))


def parse_toml(text: str) -> Iterator[ConfigValue]:
    """Scalars in the order of the text, those of arrays and inline tables included."""
    at = 0
    table: tuple[str, ...] = ()
    while at < len(text):
        if head := TABLE.match(text, at):
            table, at = split_key(head[1]), head.end()
        elif key := KEY.match(text, at):
            at = yield from _parse_value(text, key, (*table, *split_key(key[1])))
        rest = REST.match(text, at)
        at = rest.end() if rest else len(text)


def _parse_value(text: str, key: re.Match[str], keys: tuple[str, ...]) -> Generator[ConfigValue, None, int]:
    """Gives back where it ends."""
    at = key.end()
    first, last = key_span(key)
    if text.startswith(("[", "{"), at):
        parser = BracketParser(text=text, at=at, keys=keys, token=TOML_TOKEN)
        yield from parser.parse()
        return parser.at
    token = TOML_TOKEN.match(text, at)
    if token and token["string"]:
        begin, end = inside_quotes(text, *token.span())
        yield ConfigValue(keys, begin, end, first, last, "\n" in text[begin:end])
        return token.end()
    if plain := PLAIN.match(text, at):
        yield ConfigValue(keys, plain.start(), plain.end(), first, last)
    return at


def key_span(key: re.Match[str]) -> tuple[int, int]:
    first, last = key.span(1)
    return (first + 1, last - 1) if key[1][0] in "\"'" and last - first >= 2 else (first, last)
