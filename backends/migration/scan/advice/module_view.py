"""A module as the themes of advice see it, and the occurrences that they make of it."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.finding import Occurrence
from backends.migration.scan.advice.advice_rules import ADVICE_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.scan.python.module import Module

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Loop = (ast.For, ast.AsyncFor, ast.While)
MAX_TEXT = 200
TESTS = {"test", "tests", "unit_tests", "testing"}


class ModuleView:
    """The view of a module that all themes of advice share."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.name_of = module.name_of
        self.nodes = module.nodes

    @cached_property
    def is_test(self) -> bool:
        *folders, file = self.module.path.split("/")
        return file.startswith(("test_", "conftest")) or any(folder in TESTS for folder in folders)

    @cached_property
    def uses_torch(self) -> bool:
        """Imports it, or calls it by a name that another module gave it."""
        imported = {alias.name for node in self.nodes(ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in self.nodes(ast.ImportFrom)}
        called = (name for _, name in self.module.calls if name is not None)
        return any(name.partition(".")[0] == "torch" for names in (imported, called) for name in names)

    @cached_property
    def decorators(self) -> list[ast.expr]:
        """Decorators of functions and classes that are not calls themselves."""
        lists = [node.decorator_list for node in self.nodes(ast.FunctionDef)]
        lists += [node.decorator_list for node in self.nodes(ast.ClassDef)]
        return [decorator for node_list in lists for decorator in node_list if not isinstance(decorator, ast.Call)]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, nearest first."""
        return self.module.index.ancestors(node)

    def enclosing_function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        return next((ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, Function)), None)

    def is_numpy(self, node: ast.expr) -> bool:
        """`np.array(x)` in `np.array(x).nonzero()`."""
        return isinstance(node, ast.Call) and (self.name_of(node.func) or "").startswith("numpy.")

    def advise(self, node: ast.AST, rule: str, name: str = "", **args: Any) -> Iterator[Occurrence]:
        if not self.module.is_message(node):
            yield self.make_occurrence(node, rule, name, args)

    def make_occurrence(self, node: ast.AST, rule: str, name: str, args: dict[str, Any]) -> Occurrence:
        span = self.module.span(node)
        return Occurrence(
            kind="advice",
            path=self.module.path,
            line=span.line,
            end=span.end,
            column=span.column,
            end_column=span.end_column,
            category=ADVICE_RULES[rule].category if rule else "api",
            rule=rule,
            name=name,
            text=self.module.source(node)[:MAX_TEXT],
            args=args,
        )


def may_be_tensor_method(name: str | None) -> bool:
    """Whether what is called may be a method of a tensor: no library has it, nor is it a function of the project.
    "/models/net.model.double" is a method of what another module made, "/utils.double" a function there."""
    return name is None or (name.startswith("/") and name.rpartition("/")[2].count(".") > 1)


def fold_repeats(occurrences: Iterable[Occurrence], limit: int) -> Iterator[Occurrence]:
    """Yield the first `limit` occurrences of one rule; the very first carries in `count` how many there are."""
    all_occurrences = list(occurrences)
    for number, occurrence in enumerate(all_occurrences[:limit]):
        yield _with_count(occurrence, len(all_occurrences)) if number == 0 else occurrence


def _with_count(occurrence: Occurrence, count: int) -> Occurrence:
    return msgspec.structs.replace(occurrence, args=occurrence.args | {"count": count})
