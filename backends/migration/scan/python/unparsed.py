"""What can still be seen in a file that does not parse: Python 2, Cython, half a file, nested too deep."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from backends.migration.found import Place
from backends.migration.scan.python.categories import category_of
from backends.migration.scan.python.libraries import library_of
from backends.migration.scan.python.positions import Starts
from backends.migration.scan.python.seen import LONGEST
from backends.migration.scan.python.texts import text_category

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"(?P<comment>\#[^\r\n]*)"
    r"|(?P<text>[rRbBuUfF]{0,2}(?:'''(?:[^\\]|\\.)*?(?:'''|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)"
    r"|'(?:[^'\\\r\n]|\\.)*'|\"(?:[^\"\\\r\n]|\\.)*\"))"
    r"|(?P<chain>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)",
    re.DOTALL,
)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<origin>[\w.]+)[ \t]+import[ \t]+\(?(?P<names>[\w \t,*]+)"
    r"|c?import[ \t]+(?P<modules>[\w. \t,]+))",
    re.MULTILINE,
)
_ALIAS = re.compile(r"(?P<name>[\w.]+)(?:[ \t]+as[ \t]+(?P<alias>\w+))?")
_MESSAGE = re.compile(r"(?:^|[\s;:])(?:print|raise|assert|warnings?\.warn|log(?:ger|ging)?\.\w+)\b[^\n]*$")
_OPEN = re.compile(r"(?:help|description|metavar|epilog)\s*=\s*$")


class _Token(NamedTuple):
    kind: str
    text: str
    begin: int
    end: int


class _Sight(NamedTuple):
    category: str
    name: str
    context: str
    begin: int
    end: int


def places(path: str, text: str) -> Iterator[Place]:
    """By tokens alone: plain imports, dotted names, .cuda(), device names. Comments and messages never count."""
    starts = Starts(text)
    for sight in sorted(_sights(text), key=lambda sight: sight.begin):
        span = starts.span(sight.begin, sight.end)
        yield Place(
            path=path,
            line=span.line,
            end=span.end,
            column=span.column,
            end_column=span.end_column,
            category=sight.category,
            name=sight.name,
            context=sight.context,
            text=text[sight.begin : sight.end][:LONGEST],
            args={"unparsed": True},
        )


def _sights(text: str) -> Iterator[_Sight]:
    tokens = list(_tokens(text))
    quiet = [(token.begin, token.end) for token in tokens if token.kind == "text"]
    imports = [found for found in _IMPORT.finditer(text) if not _within(found.start(), quiet)]
    names: dict[str, str] = {}
    for found in imports:
        yield from _imported(found, names)
    spans = [found.span() for found in imports]
    for token in tokens:
        if token.kind == "text":
            yield from _written(token, text)
        elif not _within(token.begin, spans):
            yield from _named(token, text, names)


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    """`spans`: in order, none inside another."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        if found.lastgroup is not None and found.lastgroup != "comment":
            yield _Token(found.lastgroup, found[0], found.start(), found.end())


def _imported(found: re.Match[str], names: dict[str, str]) -> Iterator[_Sight]:
    """What a plain import names; `names` learns what it binds."""
    group = "names" if found["origin"] else "modules"
    for alias in _ALIAS.finditer(found[group]):
        name = f"{found['origin']}.{alias['name']}" if found["origin"] else alias["name"]
        if found["origin"] or alias["alias"]:
            names[alias["alias"] or alias["name"]] = name
        library = library_of(name)
        category = f"lib_{library}" if library else category_of(name)
        if category is not None:
            begin = found.start(group) + alias.start()
            yield _Sight(category, name, "import", begin, begin + len(alias[0]))


def _written(token: _Token, text: str) -> Iterator[_Sight]:
    value = token.text.lstrip("rRbBuUfF").strip("'\"")
    category = text_category(value)
    if category is not None and not _is_said(token, text):
        yield _Sight(category, value, "", token.begin, token.end)


def _named(token: _Token, text: str, names: dict[str, str]) -> Iterator[_Sight]:
    first, _, rest = token.text.partition(".")
    name = ".".join(filter(None, (names.get(first, first), rest)))
    if (category := category_of(name)) is not None:
        yield _Sight(category, name, "", token.begin, token.end)
    elif token.text.endswith(".cuda") and text[token.end : token.end + 1] == "(":
        yield _Sight("cuda_method", ".cuda()", "", token.begin, token.end)
    elif token.text.endswith(".is_cuda"):
        yield _Sight("is_cuda", ".is_cuda", "", token.begin, token.end)


def _is_said(token: _Token, text: str) -> bool:
    """A help text, or a message of the same line."""
    line = text[max(text.rfind("\n", 0, token.begin) + 1, token.begin - LONGEST) : token.begin]
    return _OPEN.search(line) is not None or (_MESSAGE.search(line) is not None and "=" not in line)
