"""One line of code over several, as people fold it."""

from __future__ import annotations

import io
import tokenize
from contextlib import suppress

WIDTH = 100
OPENING, CLOSING = "([{", ")]}"


def lay(text: str, indent: int) -> list[str]:
    """A statement in lines of at most `WIDTH`, where its brackets allow it."""
    text = with_double_quotes(text)
    room = " " * indent
    if indent + len(text) <= WIDTH:
        return [room + text]
    cut = _outermost(text)
    if cut is None:
        return [room + text]
    begin, end = cut
    inside = text[begin + 1 : end].strip()
    parts = split_at_commas(inside)
    head, tail = room + text[: begin + 1], room + text[end:]
    if indent + 4 + len(inside) <= WIDTH and (len(parts) > 1 or not inside.startswith(tuple(OPENING))):
        return [head, room + "    " + inside, tail]
    lines = [head]
    for part in parts:
        folded = _string(part, indent + 4) or lay(part, indent + 4)
        if len(parts) > 1:
            folded[-1] += ","
        lines += folded
    return [*lines, tail]


def with_double_quotes(text: str) -> str:
    """As ruff writes strings."""
    pieces, last = [], 0
    for token, begin, end in _tokens(text):
        if token.type == tokenize.STRING and token.string[0] == "'" and not set(token.string) & {'"', "\\"}:
            pieces += [text[last:begin], '"' + token.string.strip("'") + '"']
            last = end
    return "".join([*pieces, text[last:]])


def _tokens(text: str) -> list[tuple[tokenize.TokenInfo, int, int]]:
    """Tokens of a piece of code with their places. What is not whole has those that come before its end."""
    lines = text.splitlines(keepends=True) or [""]
    starts = [sum(map(len, lines[:index])) for index in range(len(lines) + 1)]
    tokens: list[tuple[tokenize.TokenInfo, int, int]] = []
    with suppress(tokenize.TokenError, IndentationError):
        tokens.extend(
            (token, starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.string and token.type not in (tokenize.NEWLINE, tokenize.NL)
        )
    return tokens


def _outermost(text: str) -> tuple[int, int] | None:
    """The last pair of brackets at the top that holds enough to be worth a fold."""
    depth, begin, best = 0, 0, None
    for token, column, _ in _tokens(text):
        if token.string in OPENING:
            begin = column if depth == 0 else begin
            depth += 1
        elif token.string in CLOSING:
            depth -= 1
            if depth == 0 and column - begin > 20:
                best = begin, column
    return best


def split_at_commas(text: str) -> list[str]:
    parts, last, depth = [], 0, 0
    for token, begin, end in _tokens(text):
        if token.string in ("for", "lambda") and depth == 0:
            return [text]
        depth += (token.string in OPENING) - (token.string in CLOSING)
        if token.string == "," and depth == 0:
            parts.append(text[last:begin].strip())
            last = end
    rest = text[last:].strip()
    return [*parts, rest] if rest else parts


def _string(text: str, indent: int) -> list[str] | None:
    """A long sentence in pieces that Python joins."""
    tokens = _tokens(text)
    if not tokens or tokens[0][0].type != tokenize.STRING or indent + tokens[0][2] <= WIDTH:
        return None
    whole, room = tokens[0][0].string, " " * indent
    if whole[0] != '"' or "\\" in whole:
        return None
    pieces, line = [], ""
    for word in whole[1:-1].split(" "):
        if line and len(line) + len(word) > WIDTH - indent - 4:
            pieces.append(line)
            line = ""
        line += word + " "
    pieces.append(line[:-1])
    rest = text[tokens[0][2] :]
    lines = [f'{room}"{piece}"' for piece in pieces]
    lines[-1] += rest
    return lines
