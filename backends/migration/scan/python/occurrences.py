"""Occurrences made from nodes of a module."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from backends.migration.finding import Occurrence
from backends.migration.scan.python.positions import Span, source_in

if TYPE_CHECKING:
    from backends.migration.scan.python.module import Module

MAX_TEXT = 200
"""Characters of the source that an occurrence carries."""


def make_occurrence(
    module: Module,
    node: ast.AST,
    category: str,
    name: str,
    context: str = "",
    args: dict[str, Any] | None = None,
    *,
    span: Span | None = None,
) -> Occurrence:
    """Make the occurrence of a node, or of a `span` inside it."""
    span = span or visible_span(module, node)
    return Occurrence(
        path=module.path,
        line=span.line,
        end=span.end,
        column=span.column,
        end_column=span.end_column,
        category=category,
        name=name,
        context=context,
        text=source_in(module.lines, span)[:MAX_TEXT],
        args=args or {},
    )


def visible_span(module: Module, node: ast.AST) -> Span:
    """Return the span of a node; before Python 3.12 the whole f-string's where its parts have no true position."""
    span = module.span(node)
    if sys.version_info >= (3, 12):
        return span
    string = next((outer for outer in module.index.ancestors(node) if isinstance(outer, ast.JoinedStr)), None)
    if string is None or isinstance(node, ast.JoinedStr) or _is_span_exact(module, node, span):
        return span
    return module.span(string)


def _is_span_exact(module: Module, node: ast.AST, span: Span) -> bool:
    try:
        written = ast.parse(source_in(module.lines, span), mode="eval").body
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return False
    return ast.dump(written) == ast.dump(node)
