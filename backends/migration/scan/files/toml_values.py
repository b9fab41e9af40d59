"""Values of TOML; never raises, whatever the text is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.flow import TOML_TOKEN, Reader, inside
from backends.migration.scan.files.value import Value

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

TABLE = re.compile(r"[ \t]*\[\[?([^\]\r\n]*)\]\]?[^\r\n]*")
KEY = re.compile(r"[ \t]*((?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[A-Za-z0-9_.-]|[ \t](?=\.)|(?<=\.)[ \t])+)[ \t]*=[ \t]*")
REST = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^.\s\"']+)")
PLAIN = re.compile(r"[^\s#,]+")


def parts(key: str) -> tuple[str, ...]:
    return tuple(found[1] or found[2] or found[3] or "" for found in PART.finditer(key))


def values(text: str) -> Iterator[Value]:
    """Scalars in the order of the text, those of arrays and inline tables included."""
    at = 0
    table: tuple[str, ...] = ()
    while at < len(text):
        if head := TABLE.match(text, at):
            table, at = parts(head[1]), head.end()
        elif key := KEY.match(text, at):
            at = yield from _value(text, key, (*table, *parts(key[1])))
        rest = REST.match(text, at)
        at = rest.end() if rest else len(text)


def _value(text: str, key: re.Match[str], keys: tuple[str, ...]) -> Generator[Value, None, int]:
    """Gives back where it ends."""
    at = key.end()
    first, last = inside_key(key)
    if text.startswith(("[", "{"), at):
        reader = Reader(text=text, at=at, keys=keys, token=TOML_TOKEN)
        yield from reader.values()
        return reader.at
    token = TOML_TOKEN.match(text, at)
    if token and token["string"]:
        begin, end = inside(text, *token.span())
        yield Value(keys, begin, end, first, last, "\n" in text[begin:end])
        return token.end()
    if plain := PLAIN.match(text, at):
        yield Value(keys, plain.start(), plain.end(), first, last)
    return at


def inside_key(key: re.Match[str]) -> tuple[int, int]:
    first, last = key.span(1)
    return (first + 1, last - 1) if key[1][0] in "\"'" and last - first >= 2 else (first, last)
