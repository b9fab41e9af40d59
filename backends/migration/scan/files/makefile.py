"""Makefiles: recipes and variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import names, shell
from backends.migration.scan.files.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

LOGICAL = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|.)?)*(?:\r\n|\r|\n|\Z)", re.DOTALL)
VARIABLE = re.compile(r"(?:(?:export|override)\s+)*([A-Za-z_][\w.-]*)\s*(?:[:?+!]{0,3}=)[ \t]*")
EXPORTED = re.compile(r"export[ \t]+\w+")


def places(path: str, text: str) -> Iterator[Place]:
    """Recipe lines are shell; a variable's value is read as one command."""
    source = Source(path, text)
    at = 0
    while at < len(text) and (line := LOGICAL.match(text, at)) and line.end() > at:
        yield from _line(source, at, line.end())
        at = line.end()


def _line(source: Source, begin: int, end: int) -> Iterator[Place]:
    if source.text.startswith("\t", begin):
        while source.text[begin : begin + 1] in ("\t", "@", "-", "+", " "):
            begin += 1
        yield from shell.read(source, begin, end)
    elif variable := VARIABLE.match(source.text, begin, end):
        if names.ENVIRONMENT.match(variable[1]):
            value = source.text[variable.end() : end].strip()
            yield source.place(*variable.span(1), "cuda_env", name=variable[1], context="env", args={"value": value})
        yield from shell.read(source, variable.end(), end)
    elif EXPORTED.match(source.text, begin, end):
        yield from shell.read(source, begin, end)
