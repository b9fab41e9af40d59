"""String literals as they are written, to replace part of one without touching the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVICE_WORD = re.compile(r"(?<![A-Za-z0-9_])cuda(?![A-Za-z0-9_])")
BACKEND_WORD = re.compile(r"(?<![A-Za-z0-9_])nccl(?![A-Za-z0-9_])")
_BEGIN = re.compile(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_SKIP = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*|[()])*")


@dataclass(frozen=True, kw_only=True)
class LiteralPiece:
    """One literal of an implicit concatenation, with offsets into the whole expression."""

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


def literal_pieces(raw: str) -> list[LiteralPiece]:
    """Return the literals of an expression that is one string; empty where it is something else."""
    pieces, position = [], _SKIP.match(raw).end()  # type: ignore[union-attr]
    while position < len(raw):
        begin = _BEGIN.match(raw, position)
        end = begin and _end(raw, begin.end(), begin[2])
        if not begin or not end:
            return []
        pieces.append(LiteralPiece(begin=position, end=end, prefix=begin[1], quote=begin[2]))
        position = _SKIP.match(raw, end).end()  # type: ignore[union-attr]
    return pieces


def _end(raw: str, position: int, quote: str) -> int | None:
    while position < len(raw):
        if raw[position] == "\\":
            position += 2
        elif raw.startswith(quote, position):
            return position + len(quote)
        else:
            position += 1
    return None


def text_spans(raw: str, piece: LiteralPiece) -> Iterator[tuple[int, int]]:
    """Yield the spans of plain text in a piece: all of it, or what is outside the braces of an f-string."""
    begin, end = piece.body
    if not piece.is_format:
        yield begin, end
        return
    start, depth = begin, 0
    for index in range(begin, end):
        char = raw[index]
        if char == "{":
            if not depth:
                yield start, index
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            start = index + 1
    if not depth:
        yield start, end


def pattern_spans(raw: str, pattern: re.Pattern[str]) -> list[tuple[LiteralPiece, int, int]]:
    """Return where a pattern matches the text of a literal. A doubled brace ends a span of text, which makes no
    difference here."""
    return [
        (piece, match.start(), match.end())
        for piece in literal_pieces(raw)
        for begin, end in text_spans(raw, piece)
        for match in pattern.finditer(raw, begin, end)
        if match.start() == begin or raw[match.start() - 1] != "\\"
    ]


def literal_value(raw: str) -> str | None:
    """Return the text between the quotes; None where an escape or f-string makes its value differ."""
    pieces = literal_pieces(raw)
    if not pieces or any(piece.is_format or "b" in piece.prefix.lower() for piece in pieces):
        return None
    text = "".join(raw[slice(*piece.body)] for piece in pieces)
    return None if "\\" in text else text


def replace_word(raw: str, pattern: re.Pattern[str], word: str) -> list[tuple[int, int, str]]:
    """Return edits that put another word in."""
    return [(begin, end, word) for _, begin, end in pattern_spans(raw, pattern)]


def insert_name(raw: str, pattern: re.Pattern[str], name: str) -> list[tuple[int, int, str]]:
    """Return edits that put the value of a variable in: the literal becomes the name, or an f-string."""
    value = literal_value(raw)
    if value is not None and pattern.fullmatch(value):
        pieces = literal_pieces(raw)
        return [(pieces[0].begin, pieces[-1].end, name)]
    edits = []
    changed: set[int] = set()
    for piece, begin, end in pattern_spans(raw, pattern):
        if "b" in piece.prefix.lower():
            return []
        edits.append((begin, end, f"{{{name}}}"))
        if not piece.is_format and piece.begin not in changed:
            changed.add(piece.begin)
            edits.extend(_as_format(raw, piece))
    return edits


def _as_format(raw: str, piece: LiteralPiece) -> Iterator[tuple[int, int, str]]:
    prefix = piece.prefix.replace("u", "").replace("U", "")
    yield piece.begin, piece.begin + len(piece.prefix), "f" + prefix
    begin, end = piece.body
    for index in range(begin, end):
        if raw[index] in "{}":
            yield index, index + 1, raw[index] * 2


def format_expression(raw: str, name: str) -> str | None:
    """Return `"cuda:{}"` before .format as an expression that keeps its braces; None where it has another form."""
    pieces = literal_pieces(raw)
    if len(pieces) != 1 or pieces[0].prefix:
        return None
    begin, end = pieces[0].body
    if not DEVICE_WORD.match(raw, begin, end):
        return None
    rest = raw[begin + len("cuda") : end]
    quote = pieces[0].quote
    return f"({name} + {quote}{rest}{quote})"
