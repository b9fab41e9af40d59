"""String literals as they are written: what stands in them can be replaced without touching the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVICE = re.compile(r"(?<![A-Za-z0-9_])cuda(?![A-Za-z0-9_])")
BACKEND = re.compile(r"(?<![A-Za-z0-9_])nccl(?![A-Za-z0-9_])")
_BEGIN = re.compile(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_SKIP = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*|[()])*")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One literal of an implicit concatenation; offsets into the whole."""

    begin: int
    end: int
    prefix: str
    quote: str

    @property
    def body(self) -> tuple[int, int]:
        return self.begin + len(self.prefix) + len(self.quote), self.end - len(self.quote)

    @property
    def is_format(self) -> bool:
        return "f" in self.prefix.lower()


def pieces(raw: str) -> list[Piece]:
    """The literals of an expression that is one string; empty where it is something else."""
    found, place = [], _SKIP.match(raw).end()  # type: ignore[union-attr]
    while place < len(raw):
        begin = _BEGIN.match(raw, place)
        end = begin and _end(raw, begin.end(), begin[2])
        if not begin or not end:
            return []
        found.append(Piece(begin=place, end=end, prefix=begin[1], quote=begin[2]))
        place = _SKIP.match(raw, end).end()  # type: ignore[union-attr]
    return found


def _end(raw: str, place: int, quote: str) -> int | None:
    while place < len(raw):
        if raw[place] == "\\":
            place += 2
        elif raw.startswith(quote, place):
            return place + len(quote)
        else:
            place += 1
    return None


def plain_parts(raw: str, piece: Piece) -> Iterator[tuple[int, int]]:
    """What is text in a piece: all of it, or what stands outside the braces of an f-string."""
    begin, end = piece.body
    if not piece.is_format:
        yield begin, end
        return
    place, depth = begin, 0
    for index in range(begin, end):
        char = raw[index]
        if char == "{":
            if not depth:
                yield place, index
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            place = index + 1
    if not depth:
        yield place, end


def occurrences(raw: str, pattern: re.Pattern[str]) -> list[tuple[Piece, int, int]]:
    """Where a pattern stands in the text of a literal. A doubled brace ends a part, which changes nothing here."""
    return [
        (piece, found.start(), found.end())
        for piece in pieces(raw)
        for begin, end in plain_parts(raw, piece)
        for found in pattern.finditer(raw, begin, end)
        if found.start() == begin or raw[found.start() - 1] != "\\"
    ]


def value_of(raw: str) -> str | None:
    """The text between the quotes, where no escape and no f-string makes it something else."""
    found = pieces(raw)
    if not found or any(piece.is_format or "b" in piece.prefix.lower() for piece in found):
        return None
    text = "".join(raw[slice(*piece.body)] for piece in found)
    return None if "\\" in text else text


def renamed(raw: str, pattern: re.Pattern[str], word: str) -> list[tuple[int, int, str]]:
    """Edits that put another word in."""
    return [(begin, end, word) for _, begin, end in occurrences(raw, pattern)]


def named(raw: str, pattern: re.Pattern[str], name: str) -> list[tuple[int, int, str]]:
    """Edits that put the value of a variable in: the literal becomes the name, or an f-string."""
    value = value_of(raw)
    if value is not None and pattern.fullmatch(value):
        found = pieces(raw)
        return [(found[0].begin, found[-1].end, name)]
    edits = []
    changed: set[int] = set()
    for piece, begin, end in occurrences(raw, pattern):
        if "b" in piece.prefix.lower():
            return []
        edits.append((begin, end, f"{{{name}}}"))
        if not piece.is_format and piece.begin not in changed:
            changed.add(piece.begin)
            edits.extend(_as_format(raw, piece))
    return edits


def _as_format(raw: str, piece: Piece) -> Iterator[tuple[int, int, str]]:
    prefix = piece.prefix.replace("u", "").replace("U", "")
    yield piece.begin, piece.begin + len(piece.prefix), "f" + prefix
    begin, end = piece.body
    for index in range(begin, end):
        if raw[index] in "{}":
            yield index, index + 1, raw[index] * 2


def before_format(raw: str, name: str) -> str | None:
    """`"cuda:{}"` in front of .format as an expression that leaves its braces alone."""
    found = pieces(raw)
    if len(found) != 1 or found[0].prefix:
        return None
    begin, end = found[0].body
    if not DEVICE.match(raw, begin, end):
        return None
    rest = raw[begin + len("cuda") : end]
    quote = found[0].quote
    return f"({name} + {quote}{rest}{quote})"
