"""Run the advice on a source that a test writes."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from backends.migration.scan.advice import advise
from backends.migration.scan.python.module import ProjectExports, parse_module

if TYPE_CHECKING:
    from backends.migration.finding import Occurrence


def advised(source: str, path: str = "train.py") -> list[Occurrence]:
    """Return all advice but the APIs, which the judge looks up."""
    occurrences = advise(parse_module(path, dedent(source), ProjectExports()))
    return [occurrence for occurrence in occurrences if occurrence.category != "api"]


def advised_lines(source: str, path: str = "train.py") -> list[tuple[int, str]]:
    """Line and rule, the first line of the source being 1."""
    return sorted((occurrence.line, occurrence.rule) for occurrence in advised(source.removeprefix("\n"), path))


def advised_rules(source: str, path: str = "train.py") -> set[str]:
    return {rule for _, rule in advised_lines(source, path)}
