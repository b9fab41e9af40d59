"""A node of a module as a place that a reader saw."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from backends.migration.found import Place
from backends.migration.scan.python.positions import Span, cut

if TYPE_CHECKING:
    from backends.migration.scan.python.module import Module

LONGEST = 200
"""Characters of the source that a place shows."""


def seen(
    module: Module,
    node: ast.AST,
    category: str,
    name: str,
    context: str = "",
    args: dict[str, Any] | None = None,
    *,
    span: Span | None = None,
) -> Place:
    """The place of a node, or of a span of its own inside of it."""
    span = span or span_in(module, node)
    return Place(
        path=module.path,
        line=span.line,
        end=span.end,
        column=span.column,
        end_column=span.end_column,
        category=category,
        name=name,
        context=context,
        text=cut(module.lines, span)[:LONGEST],
        args=args or {},
    )


def span_in(module: Module, node: ast.AST) -> Span:
    """Where the node stands; before Python 3.12 that of the whole f-string where its parts have no true place."""
    span = module.span(node)
    if sys.version_info >= (3, 12):
        return span
    string = next((outer for outer in module.index.ancestors(node) if isinstance(outer, ast.JoinedStr)), None)
    if string is None or isinstance(node, ast.JoinedStr) or _stands_at(module, node, span):
        return span
    return module.span(string)


def _stands_at(module: Module, node: ast.AST, span: Span) -> bool:
    try:
        written = ast.parse(cut(module.lines, span), mode="eval").body
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return False
    return ast.dump(written) == ast.dump(node)
