"""One parsed Python module: its tree, canonical names, calls and source spans."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from backends.migration.scan.python.canonical_names import CanonicalNames
from backends.migration.scan.python.exports import ProjectExports, defines_cuda, module_exports
from backends.migration.scan.python.message_texts import is_message_text
from backends.migration.scan.python.positions import Span, lines_of, source_in, span_of
from backends.migration.scan.python.scoped_tree import ScopedTree, UnparsableSource, parse_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Module", "ProjectExports", "UnparsableSource", "module_exports", "parse_module", "try_parse_module"]

Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.While"
Node = TypeVar("Node", bound=ast.AST)

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_STEPPED = re.compile(r"(?i)load|dataset|batch|epoch|iter|step|train|sampl|queue|stream")
_TRAINS = frozenset(("backward", "zero_grad", "manual_backward"))


class Module:
    """A parsed file. Nothing of it was imported or run."""

    def __init__(self, path: str, text: str, root: ast.Module, exports: ProjectExports) -> None:
        """`text`: what was parsed, without a byte order mark."""
        self.path = path
        self.text = text
        self.tree = root
        self.lines: Sequence[str] = lines_of(text)
        self.index = ScopedTree(root, path)
        self.names = CanonicalNames(self.index, path, exports)
        self.exports = exports

    def name_of(self, node: ast.AST) -> str | None:
        """Canonical dotted name, "torch.cuda.is_available"; one of the project's own begins with "/"."""
        return self.names.name_of(node)

    def text_of(self, node: ast.AST | None) -> str | None:
        """The text of an expression that is always the same one, also through names and modules."""
        return self.names.constant_text(node)

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str | None], ...]:
        """All calls in source order, each with the canonical name of what is called."""
        return tuple((call, self.names.name_of(call.func)) for call in self.index.nodes[ast.Call])

    def nodes(self, kind: type[Node]) -> Sequence[Node]:
        """All nodes of Call, Attribute, Name, Constant, BinOp, Subscript and the like, in source order."""
        collected: list[Any] = self.index.nodes[kind]
        return collected

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.index.parents.get(node)

    def ancestors(self, node: ast.AST) -> Sequence[ast.AST]:
        """From the parent up to the module."""
        return tuple(self.index.ancestors(node))

    def is_message(self, node: ast.AST) -> bool:
        """Whether the node is a docstring, help text or message, or a part of one. A call inside a message is not."""
        return isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and is_message_text(node, self.index)

    def training_loops(self, node: ast.AST) -> tuple[Loop, ...]:
        """Return the training-like loops around a node in its own function, innermost first.

        A loop is training-like when backward() is called in it, or when it goes over batches, steps or epochs.
        """
        around = []
        child = node
        for parent in self.index.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if isinstance(parent, _LOOPS) and self._repeats(parent, child) and self._is_training_loop(parent):
                around.append(parent)
            child = parent
        return tuple(around)

    @staticmethod
    def _repeats(loop: Loop, child: ast.AST) -> bool:
        """What a for loop goes over is evaluated once."""
        return child not in loop.orelse and not (isinstance(loop, ast.For | ast.AsyncFor) and child is loop.iter)

    def _is_training_loop(self, loop: Loop) -> bool:
        return loop in self._loops_around_backward or (
            isinstance(loop, ast.For) and _STEPPED.search(self.source(loop.iter)) is not None
        )

    @cached_property
    def own_cuda(self) -> frozenset[str]:
        """Classes of the project that define a `cuda` of their own."""
        own = (node.name for node in self.index.nodes[ast.ClassDef] if defines_cuda(node))
        return self.exports.own_cuda.union(own)

    @cached_property
    def _loops_around_backward(self) -> frozenset[ast.AST]:
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
        return source_in(self.lines, self.span(node))


def parse_module(path: str, text: str, exports: ProjectExports) -> Module:
    """Raises Unparsable."""
    text = text.removeprefix("\ufeff")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be parsed
    return Module(path, text, parse_tree(text), exports)


def try_parse_module(path: str, text: str, exports: ProjectExports) -> Module | None:
    """Return None for text that is not Python 3; `token_scanner.scan_tokens` still finds something in it."""
    try:
        return parse_module(path, text, exports)
    except UnparsableSource:
        return None
