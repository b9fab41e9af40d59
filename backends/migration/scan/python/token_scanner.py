"""Occurrences in Python that does not parse: Python 2, Cython, half a file, or nested too deep."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from backends.migration.finding import Occurrence
from backends.migration.scan.python.categories import api_category
from backends.migration.scan.python.cuda_libraries import cuda_library
from backends.migration.scan.python.device_texts import text_category
from backends.migration.scan.python.occurrences import MAX_TEXT
from backends.migration.scan.python.positions import LineStarts

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
_MESSAGE_KEYWORD = re.compile(r"(?:help|description|metavar|epilog)\s*=\s*$")


class _Token(NamedTuple):
    kind: str
    text: str
    begin: int
    end: int


class _TokenUse(NamedTuple):
    category: str
    name: str
    context: str
    begin: int
    end: int


def scan_tokens(path: str, text: str) -> Iterator[Occurrence]:
    """Find plain imports, dotted names, .cuda() and device names by tokens alone. Comments and messages never count."""
    starts = LineStarts(text)
    for use in sorted(_find_uses(text), key=lambda sight: sight.begin):
        span = starts.span(use.begin, use.end)
        yield Occurrence(
            path=path,
            line=span.line,
            end=span.end,
            column=span.column,
            end_column=span.end_column,
            category=use.category,
            name=use.name,
            context=use.context,
            text=text[use.begin : use.end][:MAX_TEXT],
            args={"unparsed": True},
        )


def _find_uses(text: str) -> Iterator[_TokenUse]:
    tokens = list(_tokens(text))
    quiet = [(token.begin, token.end) for token in tokens if token.kind == "text"]
    imports = [match for match in _IMPORT.finditer(text) if not _is_within(match.start(), quiet)]
    names: dict[str, str] = {}
    for match in imports:
        yield from _scan_import(match, names)
    spans = [match.span() for match in imports]
    for token in tokens:
        if token.kind == "text":
            yield from _scan_string(token, text)
        elif not _is_within(token.begin, spans):
            yield from _scan_name(token, text, names)


def _is_within(at: int, spans: list[tuple[int, int]]) -> bool:
    """`spans`: in order, none inside another."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup is not None and match.lastgroup != "comment":
            yield _Token(match.lastgroup, match[0], match.start(), match.end())


def _scan_import(match: re.Match[str], names: dict[str, str]) -> Iterator[_TokenUse]:
    """What a plain import names; `names` learns what it binds."""
    group = "names" if match["origin"] else "modules"
    for alias in _ALIAS.finditer(match[group]):
        name = f"{match['origin']}.{alias['name']}" if match["origin"] else alias["name"]
        if match["origin"] or alias["alias"]:
            names[alias["alias"] or alias["name"]] = name
        library = cuda_library(name)
        category = f"lib_{library}" if library else api_category(name)
        if category is not None:
            begin = match.start(group) + alias.start()
            yield _TokenUse(category, name, "import", begin, begin + len(alias[0]))


def _scan_string(token: _Token, text: str) -> Iterator[_TokenUse]:
    value = token.text.lstrip("rRbBuUfF").strip("'\"")
    category = text_category(value)
    if category is not None and not _is_only_read(token, text):
        yield _TokenUse(category, value, "", token.begin, token.end)


def _scan_name(token: _Token, text: str, names: dict[str, str]) -> Iterator[_TokenUse]:
    first, _, rest = token.text.partition(".")
    name = ".".join(filter(None, (names.get(first, first), rest)))
    if (category := api_category(name)) is not None:
        yield _TokenUse(category, name, "", token.begin, token.end)
    elif token.text.endswith(".cuda") and text[token.end : token.end + 1] == "(":
        yield _TokenUse("cuda_method", ".cuda()", "", token.begin, token.end)
    elif token.text.endswith(".is_cuda"):
        yield _TokenUse("is_cuda", ".is_cuda", "", token.begin, token.end)


def _is_only_read(token: _Token, text: str) -> bool:
    """A help text, or a message of the same line."""
    line = text[max(text.rfind("\n", 0, token.begin) + 1, token.begin - MAX_TEXT) : token.begin]
    return _MESSAGE_KEYWORD.search(line) is not None or (_MESSAGE.search(line) is not None and "=" not in line)
