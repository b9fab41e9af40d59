"""The commands of a shell text, word by word, with where each word stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# A word, a comment, white space with line continuations, or what ends a command. Every character is in one of them.
TOKEN = re.compile(
    r"""(?P<word>(?:'[^']*'?|"(?:\\.|[^"\\])*"?|\\[^\n]|[^\s'"\\;|&()<>`#]|(?<=[^\s;|&()<>`])\#)+)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<space>(?:\\\r?\n|[^\S\n]|[<>\\])+)|(?P<end>[\n;|&()`]+)""",
    re.DOTALL | re.VERBOSE,
)
QUOTES = re.compile(r"""['"]|\\(?=.)""", re.DOTALL)


class Word(NamedTuple):
    """`value`: without its quotes. `begin`, `end`: offsets in the text."""

    value: str
    begin: int
    end: int


def commands(text: str) -> Iterator[list[Word]]:
    """Comments are in none. Never raises: a quote that is left open ends with the text."""
    words: list[Word] = []
    for token in TOKEN.finditer(text):
        if token.lastgroup == "word":
            words.append(Word(QUOTES.sub("", token[0]), token.start(), token.end()))
        elif token.lastgroup == "end" and words:
            yield words
            words = []
    if words:
        yield words
