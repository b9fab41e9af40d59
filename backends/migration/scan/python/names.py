"""What an expression is called, whatever the file calls it: "torch.cuda.is_available" for c.is_available."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from backends.migration.scan.python.flow import reaching
from backends.migration.scan.python.literals import template
from backends.migration.scan.python.star import public_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.python.exports import Exports
    from backends.migration.scan.python.scopes import Binding, Scope
    from backends.migration.scan.python.tree import Tree

_DEPTH = 40  # of aliases of aliases, and of dots; nobody writes more, and hostile sources do
_BUILTINS = frozenset(vars(builtins))


class Names:
    """Canonical names of the expressions of one module. A name of the project begins with "/" and its module's path."""

    def __init__(self, tree: Tree, path: str, exports: Exports) -> None:
        self._tree = tree
        self._path = path
        self._exports = exports
        self._known: dict[ast.AST, str | None] = {}

    def of(self, node: ast.AST, depth: int = 0) -> str | None:
        """None for what is no module, no attribute of one, or cannot be known."""
        if node in self._known:
            return self._known[node]
        reader = _READERS.get(node.__class__)
        if reader is None or depth > _DEPTH:
            return None
        self._known[node] = None  # what is defined by itself has no name
        name = self._known[node] = reader(self, node, depth + 1)
        return name

    def constant(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """The text of an expression that is always the same one, through names that are bound to it."""
        if node is None or depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            for binding in self._bindings(node):
                value = binding.value
                if isinstance(value, str):
                    return self._exports.constant(value, self._path)
                if value is not None and (text := self.constant(value, depth + 1)) is not None:
                    return text
            return None
        found = template(node, lambda inner: self.constant(inner, depth + 1))
        return found.value if found is not None and not found.holes else None

    def bindings(self, node: ast.Name) -> list[Binding]:
        """Those that may have given the name its value where it is used."""
        return list(self._bindings(node))

    def _bindings(self, node: ast.Name) -> Iterator[Binding]:
        found = self._lookup(node)
        if found is not None:
            scope, used_in = found
            yield from reaching(self._tree, scope.bindings[node.id], node if scope is used_in else None)

    def _lookup(self, node: ast.Name) -> tuple[Scope, Scope] | None:
        used_in = self._tree.scopes[node]
        scope: Scope | None = used_in
        while scope is not None:
            scope = scope.elsewhere.get(node.id, scope)
            if node.id in scope.bindings and (scope.kind != "class" or scope is used_in):
                return scope, used_in
            scope = scope.outer
        return None

    def _name(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.Name)
        if self._lookup(node) is None:
            return self._unbound(node.id)
        return self._best(self._value(binding.value, depth) for binding in self._bindings(node))

    def _value(self, value: ast.expr | str | None, depth: int) -> str | None:
        if isinstance(value, str):
            return self._exports.canonical(value, self._path)
        return self.of(value, depth) if value is not None else None

    def _best(self, names: Iterator[str | None]) -> str | None:
        """Of what a name may be: torch rather than a stand-in for where torch lacks something."""
        first = None
        for name in names:
            if name is not None and name.startswith("torch."):
                return name
            first = first or name
        return first

    def _unbound(self, name: str) -> str | None:
        for node in self._tree.nodes[ast.ImportFrom]:
            if node.names[0].name == "*" and (found := self._starred(node, name)) is not None:
                return found
        return name if name in _BUILTINS else None

    def _starred(self, node: ast.ImportFrom, name: str) -> str | None:
        origin = self._exports.origin(node, self._tree.package, self._path)
        if origin.startswith("/"):
            found = self._exports.canonical(f"{origin}.{name}", self._path)
            return None if found == f"{origin}.{name}" else found
        return f"{origin}.{name}" if name in public_names(origin) else None

    def _attribute(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.Attribute)
        base = self.of(node.value, depth)
        if base is not None:
            return self._member(base, node.attr)
        return self._of_class(node, depth)

    def _member(self, base: str, name: str) -> str:
        return self._exports.canonical(f"{base}.{name}", self._path) if base[0] == "/" else f"{base}.{name}"

    def _of_class(self, node: ast.Attribute, depth: int) -> str | None:
        """self.x and Name.x of a class of this module."""
        if not isinstance(node.value, ast.Name):
            return None
        scope = self._class(node.value)
        if scope is None:
            return None
        bindings = (*scope.attributes.get(node.attr, ()), *scope.bindings.get(node.attr, ()))
        return self._best(self._value(binding.value, depth) for binding in bindings)

    def _class(self, node: ast.Name) -> Scope | None:
        scope: Scope | None = self._tree.scopes[node]
        while scope is not None:
            if scope.first == node.id:
                return scope.outer
            scope = scope.outer
        for binding in self._bindings(node):
            if isinstance(binding.node, ast.ClassDef):
                return self._tree.scopes.get(binding.node)
        return None

    def _call(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.Call)
        if not node.args:
            return None
        if isinstance(node.func, ast.Call):
            return self._got(node.func, node.args[0], depth)
        called = self.of(node.func, depth)
        if called == "getattr" and len(node.args) > 1:
            base, name = self.of(node.args[0], depth), self.constant(node.args[1], depth)
            return self._members(base, name) if base and name else None
        if called in ("importlib.import_module", "__import__"):
            return self._imported(node, called, depth)
        if called == "vars" and (base := self.of(node.args[0], depth)) is not None:
            return f"{base}.__dict__"
        return None

    def _got(self, getter: ast.Call, of: ast.expr, depth: int) -> str | None:
        """operator.attrgetter("cuda.is_available")(torch)"""
        if len(getter.args) != 1 or self.of(getter.func, depth) != "operator.attrgetter":
            return None
        base, name = self.of(of, depth), self.constant(getter.args[0], depth)
        return self._members(base, name) if base and name else None

    def _imported(self, node: ast.Call, called: str, depth: int) -> str | None:
        name = self.constant(node.args[0], depth)
        if name and name[0] == ".":
            package = next((keyword.value for keyword in node.keywords if keyword.arg == "package"), None)
            base = self.constant(node.args[1] if len(node.args) > 1 else package, depth)
            name = f"{base}{name}" if base and name[:2] != ".." else None
        if not name:
            return None
        whole = called != "__import__" or len(node.args) > 3 or bool(node.keywords)
        return self._exports.canonical(name if whole else name.partition(".")[0], self._path)

    def _members(self, base: str, names: str) -> str:
        for name in names.split("."):
            base = self._member(base, name)
        return base

    def _conditional(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.IfExp)
        return self._best(self.of(branch, depth) for branch in (node.body, node.orelse))

    def _either(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.BoolOp)
        return self._best(self.of(value, depth) for value in node.values)

    def _walrus(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.NamedExpr)
        return self.of(node.value, depth)

    def _subscript(self, node: ast.AST, depth: int) -> str | None:
        """An entry of sys.modules, of a module's __dict__, or of a written dict of modules."""
        assert isinstance(node, ast.Subscript)
        key = self.constant(node.slice, depth)
        if key is None:
            return None
        base = self.of(node.value, depth)
        if base == "sys.modules":
            return self._exports.canonical(key, self._path)
        if base is not None and base.endswith(".__dict__"):
            return self._member(base.removesuffix(".__dict__"), key)
        return self._best(self._entry(written, key, depth) for written in self._dicts(node.value))

    def _entry(self, written: ast.Dict, key: str, depth: int) -> str | None:
        for name, value in zip(written.keys, written.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return self.of(value, depth)
        return None

    def _dicts(self, node: ast.expr) -> Iterator[ast.Dict]:
        if isinstance(node, ast.Dict):
            yield node
        elif isinstance(node, ast.Name):
            yield from (found.value for found in self._bindings(node) if isinstance(found.value, ast.Dict))


_READERS = {
    ast.Name: Names._name,
    ast.Attribute: Names._attribute,
    ast.Call: Names._call,
    ast.IfExp: Names._conditional,
    ast.BoolOp: Names._either,
    ast.NamedExpr: Names._walrus,
    ast.Subscript: Names._subscript,
}
