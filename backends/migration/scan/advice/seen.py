"""A module as the themes of advice read it, and the places that they make."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.found import Place
from backends.migration.scan.advice.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.scan.python.module import Module

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Loop = (ast.For, ast.AsyncFor, ast.While)
LONGEST = 200
TESTS = {"test", "tests", "unit_tests", "testing"}


class Seen:
    """What the themes read of a module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.name_of = module.name_of
        self.each = module.nodes

    @cached_property
    def is_a_test(self) -> bool:
        *folders, file = self.module.path.split("/")
        return file.startswith(("test_", "conftest")) or any(one in TESTS for one in folders)

    @cached_property
    def uses_torch(self) -> bool:
        """Imports it, or calls it by a name that another module gave it."""
        imported = {alias.name for node in self.each(ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in self.each(ast.ImportFrom)}
        called = (name for _, name in self.module.calls if name is not None)
        return any(name.partition(".")[0] == "torch" for names in (imported, called) for name in names)

    @cached_property
    def decorators(self) -> list[ast.expr]:
        """Of functions and classes; those that are called are calls."""
        lists = [node.decorator_list for node in self.each(ast.FunctionDef)]
        lists += [node.decorator_list for node in self.each(ast.ClassDef)]
        return [one for listed in lists for one in listed if not isinstance(one, ast.Call)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Its parents, from the nearest on."""
        return self.module.index.ancestors(node)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        return next((one for one in self.above(node) if isinstance(one, Function)), None)

    def is_numpy(self, node: ast.expr) -> bool:
        """`np.array(x)` in `np.array(x).nonzero()`."""
        return isinstance(node, ast.Call) and (self.name_of(node.func) or "").startswith("numpy.")

    def place(self, node: ast.AST, rule: str, name: str = "", **args: Any) -> Iterator[Place]:
        if not self.module.quiet(node):
            yield self.exactly(node, rule, name, args)

    def exactly(self, node: ast.AST, rule: str, name: str, args: dict[str, Any]) -> Place:
        span = self.module.span(node)
        return Place(
            kind="advice",
            path=self.module.path,
            line=span.line,
            end=span.end,
            column=span.column,
            end_column=span.end_column,
            category=RULES[rule].category if rule else "api",
            rule=rule,
            name=name,
            text=self.module.source(node)[:LONGEST],
            args=args,
        )


def is_open(name: str | None) -> bool:
    """Whether what is called may be a method of a tensor: no library has it, nor is it a function of the project.
    "/models/net.model.double" is a method of what another module made, "/utils.double" a function there."""
    return name is None or (name.startswith("/") and name.rpartition("/")[2].count(".") > 1)


def folded(places: Iterable[Place], most: int) -> Iterator[Place]:
    """The first places of one rule; the first of them says in `count` how many there are."""
    found = list(places)
    for number, place in enumerate(found[:most]):
        yield _counted(place, len(found)) if number == 0 else place


def _counted(place: Place, count: int) -> Place:
    return msgspec.structs.replace(place, args=place.args | {"count": count})
