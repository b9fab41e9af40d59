"""Names and what they are bound to, scope by scope."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
Position: TypeAlias = tuple[int, int]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Binding(NamedTuple):
    """What a name gets. `value`: an expression, a dotted name of an import, or None for what cannot be known.

    `position`: line and column (of ast) from where the name has it. `node`: the statement, for the block it stands in.
    """

    position: Position
    node: ast.AST
    value: ast.expr | str | None


class Scope:
    """A module, class, function or comprehension."""

    __slots__ = ("attributes", "bindings", "elsewhere", "first", "kind", "node", "outer")

    def __init__(
        self,
        node: ast.AST,
        kind: Literal["module", "class", "function", "comprehension"],
        outer: Scope | None,
    ) -> None:
        self.node = node
        self.kind = kind
        self.outer = outer
        self.bindings: dict[str, list[Binding]] = {}
        self.attributes: dict[str, list[Binding]] = {}
        """For a class: what its methods assign to self.<name>."""
        self.elsewhere: dict[str, Scope] = {}
        """Names that a global or nonlocal statement sends to another scope."""
        self.first = ""
        """For a method: the name of its first parameter."""

    def bind(self, name: str, binding: Binding) -> None:
        self.elsewhere.get(name, self).bindings.setdefault(name, []).append(binding)

    @property
    def owner(self) -> Scope | None:
        """The class whose method this is, or whose method it is inside of."""
        scope: Scope | None = self
        while scope is not None and scope.outer is not None:
            if scope.kind == "function" and scope.outer.kind == "class":
                return scope.outer
            scope = scope.outer
        return None

    def module(self) -> Scope:
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def function(self) -> Scope:
        """Where `x := …` binds: comprehensions have no names of their own for it."""
        scope = self
        while scope.kind == "comprehension" and scope.outer is not None:
            scope = scope.outer
        return scope


def _start_position(node: ast.AST) -> Position:
    line: int = getattr(node, "lineno", 1)
    column: int = getattr(node, "col_offset", 0)
    return line, column


def _end_position(node: ast.AST) -> Position:
    end: tuple[int | None, int | None] = (getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None))
    return end[0] or 1, end[1] or 0


def bind_names(node: ast.AST, scope: Scope, package: str) -> None:
    """Notes what this node binds, if anything. `package`: folder of the module, for relative imports."""
    binder = _BINDERS.get(node.__class__)
    if binder is not None:
        for target, position, value in binder(node, scope, package):
            _bind_target(scope, target, Binding(position, node, value))


Bindings: TypeAlias = "Iterator[tuple[ast.expr | str, Position, ast.expr | str | None]]"


def _assign(node: ast.Assign, _scope: Scope, _package: str) -> Bindings:
    for target in node.targets:
        yield target, _end_position(node), node.value


def _annotated(node: ast.AnnAssign, _scope: Scope, _package: str) -> Bindings:
    if node.value is not None:
        yield node.target, _end_position(node), node.value


def _augmented(node: ast.AugAssign, _scope: Scope, _package: str) -> Bindings:
    yield node.target, _end_position(node), None


def _walrus(node: ast.NamedExpr, scope: Scope, _package: str) -> Bindings:
    scope.function().bind(node.target.id, Binding(_end_position(node), node, node.value))
    yield from ()


def _loop(node: ast.For | ast.AsyncFor, _scope: Scope, _package: str) -> Bindings:
    yield from _iterated(node.target, node.iter, _end_position(node.target))


def _comprehension(node: ast.comprehension, _scope: Scope, _package: str) -> Bindings:
    yield from _iterated(node.target, node.iter, (0, 0))


def _iterated(target: ast.expr, iterable: ast.expr, position: Position) -> Bindings:
    """A loop over a written list gives its name each of the elements."""
    if isinstance(target, ast.Name) and isinstance(iterable, ast.Tuple | ast.List) and 0 < len(iterable.elts) <= 16:
        yield target, position, ast.BoolOp(op=ast.Or(), values=iterable.elts)
    else:
        yield target, position, None


def _with(node: ast.With | ast.AsyncWith, _scope: Scope, _package: str) -> Bindings:
    for item in node.items:
        if item.optional_vars is not None:
            yield item.optional_vars, _end_position(item.optional_vars), None


def _delete(node: ast.Delete, _scope: Scope, _package: str) -> Bindings:
    for target in node.targets:
        yield target, _end_position(node), None


def _handler(node: ast.ExceptHandler, _scope: Scope, _package: str) -> Bindings:
    if node.name:
        yield node.name, _start_position(node), None


def _capture(node: ast.MatchAs | ast.MatchStar, _scope: Scope, _package: str) -> Bindings:
    if node.name:
        yield node.name, _start_position(node), None


def _mapping(node: ast.MatchMapping, _scope: Scope, _package: str) -> Bindings:
    if node.rest:
        yield node.rest, _start_position(node), None


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, _scope: Scope, _package: str) -> Bindings:
    yield node.name, _start_position(node), None


def _import(node: ast.Import, _scope: Scope, _package: str) -> Bindings:
    for alias in node.names:
        yield alias.asname or alias.name.partition(".")[0], _end_position(node), imported_name(alias)


def imported_name(alias: ast.alias) -> str:
    """What `import a.b` binds is `a`, what `import a.b as c` binds is `a.b`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _import_from(node: ast.ImportFrom, _scope: Scope, package: str) -> Bindings:
    origin = import_origin(node, package)
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name, _end_position(node), f"{origin}.{alias.name}"


def import_origin(node: ast.ImportFrom, package: str) -> str:
    """The module after `from`; a relative one is a path of the project, as "/models/common"."""
    if not node.level:
        return node.module or ""
    folders = package.split("/") if package else []
    parents = folders[: max(0, len(folders) - node.level + 1)]
    return "/" + "/".join((*parents, *(node.module.split(".") if node.module else ())))


def _global(node: ast.Global, scope: Scope, _package: str) -> Bindings:
    for name in node.names:
        scope.elsewhere[name] = scope.module()
    yield from ()


def _nonlocal(node: ast.Nonlocal, scope: Scope, _package: str) -> Bindings:
    outer = scope.outer
    for name in node.names:
        candidate = outer
        while candidate is not None and not (candidate.kind == "function" and name in candidate.bindings):
            candidate = candidate.outer
        if candidate is not None:
            scope.elsewhere[name] = candidate
    yield from ()


_BINDERS: dict[type[ast.AST], Callable[[Any, Scope, str], Bindings]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.comprehension: _comprehension,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Delete: _delete,
    ast.ExceptHandler: _handler,
    ast.MatchAs: _capture,
    ast.MatchStar: _capture,
    ast.MatchMapping: _mapping,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
}


def _bind_target(scope: Scope, target: ast.expr | str, binding: Binding) -> None:
    if isinstance(target, str):
        scope.bind(target, binding)
    elif isinstance(target, ast.Name):
        scope.bind(target.id, binding)
    elif isinstance(target, ast.Starred):
        _bind_target(scope, target.value, binding._replace(value=None))
    elif isinstance(target, ast.Tuple | ast.List):
        for element, value in _pairs(target, binding.value):
            _bind_target(scope, element, binding._replace(value=value))
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        _bind_attribute(scope, target.value.id, target.attr, binding)


def _pairs(target: ast.Tuple | ast.List, value: ast.expr | str | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    values: list[ast.expr] = []
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        values = value.elts
    starred = any(isinstance(element, ast.Starred) for element in (*target.elts, *values))
    for index, element in enumerate(target.elts):
        yield element, values[index] if values and not starred else None


def _bind_attribute(scope: Scope, owner: str, name: str, binding: Binding) -> None:
    """`self.x = …` in a method, and `Name.x = …` of a class that the same scope defines, are the class's."""
    own = scope.owner
    if own is not None and owner in _first_names(scope):
        own.attributes.setdefault(name, []).append(binding)


def _first_names(scope: Scope) -> tuple[str, ...]:
    names = []
    inner: Scope | None = scope
    while inner is not None and inner.kind != "class":
        if inner.first:
            names.append(inner.first)
        inner = inner.outer
    return tuple(names)


def function_scope(node: Function, outer: Scope) -> Scope:
    """The scope of a function's body, its parameters bound: to their default where they have one."""
    scope = Scope(node, "function", outer)
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if positional and outer.kind == "class":
        scope.first = positional[0].arg
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for argument, default in zip(
        (*positional, *arguments.kwonlyargs), (*defaults, *arguments.kw_defaults), strict=True
    ):
        scope.bind(argument.arg, Binding((0, 0), argument, default))
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            scope.bind(rest.arg, Binding((0, 0), rest, None))
    return scope
