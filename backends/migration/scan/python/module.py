"""One Python module as its readers see it."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from backends.migration.scan.python.exports import Exports, defines_cuda, exports_of
from backends.migration.scan.python.names import Names
from backends.migration.scan.python.positions import Span, cut, lines_of, span_of
from backends.migration.scan.python.quiet import is_quiet
from backends.migration.scan.python.tree import Tree, Unparsable, parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Exports", "Module", "Unparsable", "exports_of", "parse", "read"]

Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.While"
Node = TypeVar("Node", bound=ast.AST)

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_STEPPED = re.compile(r"(?i)load|dataset|batch|epoch|iter|step|train|sampl|queue|stream")
_TRAINS = frozenset(("backward", "zero_grad", "manual_backward"))


class Module:
    """A parsed file. Nothing of it was imported or run."""

    def __init__(self, path: str, text: str, root: ast.Module, exports: Exports) -> None:
        """`text`: what was parsed, without a byte order mark."""
        self.path = path
        self.text = text
        self.tree = root
        self.lines: Sequence[str] = lines_of(text)
        self.index = Tree(root, path)
        self.names = Names(self.index, path, exports)
        self.exports = exports

    def name_of(self, node: ast.AST) -> str | None:
        """Canonical dotted name, "torch.cuda.is_available"; one of the project's own begins with "/"."""
        return self.names.of(node)

    def text_of(self, node: ast.AST | None) -> str | None:
        """The text of an expression that is always the same one, also through names and modules."""
        return self.names.constant(node)

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str | None], ...]:
        """All calls in source order, each with the canonical name of what is called."""
        return tuple((call, self.names.of(call.func)) for call in self.index.nodes[ast.Call])

    def nodes(self, kind: type[Node]) -> Sequence[Node]:
        """All nodes of Call, Attribute, Name, Constant, BinOp, Subscript and the like, in source order."""
        found: list[Any] = self.index.nodes[kind]
        return found

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.index.parents.get(node)

    def ancestors(self, node: ast.AST) -> Sequence[ast.AST]:
        """From the parent up to the module."""
        return tuple(self.index.ancestors(node))

    def quiet(self, node: ast.AST) -> bool:
        """A docstring, help text or message, or a part of one. A call inside of a message is not."""
        return isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and is_quiet(node, self.index)

    def loops(self, node: ast.AST) -> tuple[Loop, ...]:
        """The training-like loops of the same function around a node, innermost first.

        A loop is training-like when backward() is called in it, or when it goes over batches, steps or epochs.
        """
        found = []
        child = node
        for parent in self.index.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if isinstance(parent, _LOOPS) and self._repeats(parent, child) and self._trains(parent):
                found.append(parent)
            child = parent
        return tuple(found)

    @staticmethod
    def _repeats(loop: Loop, child: ast.AST) -> bool:
        """What a for loop goes over is evaluated once."""
        return child not in loop.orelse and not (isinstance(loop, ast.For | ast.AsyncFor) and child is loop.iter)

    def _trains(self, loop: Loop) -> bool:
        return loop in self._training or (
            isinstance(loop, ast.For) and _STEPPED.search(self.source(loop.iter)) is not None
        )

    @cached_property
    def own_cuda(self) -> frozenset[str]:
        """Classes of the project that define a `cuda` of their own."""
        own = (node.name for node in self.index.nodes[ast.ClassDef] if defines_cuda(node))
        return self.exports.own_cuda.union(own)

    @cached_property
    def _training(self) -> frozenset[ast.AST]:
        """Loops in which backward() is called, and all loops around those."""
        return frozenset(
            parent
            for node in self.index.nodes[ast.Attribute]
            if node.attr in _TRAINS
            for parent in self.index.ancestors(node)
            if isinstance(parent, _LOOPS)
        )

    def span(self, node: ast.AST) -> Span:
        return span_of(node, self.lines)

    def source(self, node: ast.AST) -> str:
        """The source of a node, as written."""
        return cut(self.lines, self.span(node))


def read(path: str, text: str, exports: Exports) -> Module:
    """Raises Unparsable."""
    text = text.removeprefix("\ufeff")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be parsed
    return Module(path, text, parsed(text), exports)


def parse(path: str, text: str, exports: Exports) -> Module | None:
    """None for text that is not Python 3; `unparsed.places` still finds something in it."""
    try:
        return read(path, text, exports)
    except Unparsable:
        return None
