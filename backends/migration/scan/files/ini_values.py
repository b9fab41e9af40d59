"""Values of .ini and .cfg files, as configparser reads them; never raises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
SECTION = re.compile(r"\[([^\]]*)\]")
KEY = re.compile(r"([^\s=:#;\[][^=:]*)[=:][ \t]*")
COMMENT = re.compile(r"(?:\A|[ \t])[#;]")


def values(text: str) -> Iterator[Value]:
    """One value per line: an indented line goes on with the key above, as a value of its own."""
    at = 0
    section = key = ""
    while at < len(text) and (line := LINE.match(text, at)):
        begin, end = _content(text, *line.span(1))
        head, named = SECTION.match(text, begin, end), KEY.match(text, begin, end)
        indented = begin > line.start() and key
        if head and not indented:
            section, key = head[1], ""
        elif indented and begin < end:
            yield Value((section, key), begin, end)
        elif named:
            key = named[1].strip()
            yield Value((section, key), min(named.end(), end), end, named.start(1), named.start(1) + len(key))
        at = line.end() if line.end() > at else len(text)


def _content(text: str, begin: int, end: int) -> tuple[int, int]:
    """A line without its comment and the blanks around."""
    comment = COMMENT.search(text[begin:end])
    end = begin + comment.start() if comment else end
    line = text[begin:end]
    return begin + len(line) - len(line.lstrip()), max(
        begin + len(line.rstrip()), begin + len(line) - len(line.lstrip())
    )
