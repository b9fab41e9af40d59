"""requirements.txt and constraints files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import requirement
from backends.migration.scan.files.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

LINE = re.compile(r"(?:[^\n\r\\]|\\(?:\r\n|.)?)+", re.DOTALL)
COMMENT = re.compile(r"(?:\A|\s)#[^\n\r]*|\s--(?:hash|global-option|config-settings)\b.*", re.DOTALL)
EDITABLE = re.compile(r"\s*(?:-e|--editable)[ =]\s*")


def places(path: str, text: str) -> Iterator[Place]:
    """Torch, CUDA packages and GPU libraries, one place per requirement; also indexes of CUDA builds."""
    source = Source(path, text)
    for line in LINE.finditer(text):
        comment = COMMENT.search(line[0])
        end = line.start() + comment.start() if comment else line.end()
        yield from _line(source, line.start(), end)


def _line(source: Source, begin: int, end: int) -> Iterator[Place]:
    text = source.text[begin:end]
    editable = EDITABLE.match(text)
    if text.lstrip().startswith("-") and not editable:
        yield from requirement.index_places(source, begin, end)
    else:
        yield from requirement.places(source, begin + (editable.end() if editable else 0), end)
