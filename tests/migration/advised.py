"""Advice of a source that a test writes."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from backends.migration.scan.advice import advice
from backends.migration.scan.python.module import Exports, read

if TYPE_CHECKING:
    from backends.migration.found import Place


def places(source: str, path: str = "train.py") -> list[Place]:
    """All but the APIs, which are for the judge to look up."""
    found = advice(read(path, dedent(source), Exports()))
    return [place for place in found if place.category != "api"]


def told(source: str, path: str = "train.py") -> list[tuple[int, str]]:
    """Line and rule, the first line of the source being 1."""
    return sorted((place.line, place.rule) for place in places(source.removeprefix("\n"), path))


def rules(source: str, path: str = "train.py") -> set[str]:
    return {rule for _, rule in told(source, path)}
