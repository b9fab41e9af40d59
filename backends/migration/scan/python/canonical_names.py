"""Canonical names of expressions, whatever alias the file uses: "torch.cuda.is_available" for c.is_available."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from backends.migration.scan.python.reaching_bindings import reaching_bindings
from backends.migration.scan.python.text_templates import text_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.python.exports import ProjectExports
    from backends.migration.scan.python.scoped_tree import ScopedTree
    from backends.migration.scan.python.scopes import Binding, Scope


_STAR_IMPORTS = {
    "torch": "autocast compile",
    "torch.amp": "autocast GradScaler custom_fwd custom_bwd",
    "torch.cuda": """amp nvtx nccl comm is_available device_count current_device set_device device Stream Event stream
        synchronize manual_seed manual_seed_all empty_cache memory_allocated max_memory_allocated memory_reserved
        max_memory_reserved get_device_name get_device_properties get_device_capability current_stream default_stream
        is_bf16_supported is_initialized init ipc_collect mem_get_info memory_summary reset_peak_memory_stats
        CUDAGraph graph make_graphed_callables get_rng_state set_rng_state get_rng_state_all set_rng_state_all
        FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ByteTensor BoolTensor""",
    "torch.cuda.amp": "autocast GradScaler custom_fwd custom_bwd",
    "torch.distributed": "is_nccl_available ProcessGroupNCCL",
    "torch.jit": "script trace load save freeze script_method ScriptModule",
    "torch.nn": "DataParallel",
    "torch.nn.parallel": "DataParallel data_parallel",
    "torch.utils.cpp_extension": "CUDAExtension BuildExtension CppExtension load load_inline CUDA_HOME",
}
_STAR_NAMES = {module: frozenset(names.split()) for module, names in _STAR_IMPORTS.items()}


def star_import_names(module: str) -> frozenset[str]:
    return _STAR_NAMES.get(module, frozenset())


_MAX_DEPTH = 40  # of aliases of aliases, and of dots; nobody writes more, and hostile sources do
_BUILTINS = frozenset(vars(builtins))


class CanonicalNames:
    """Canonical names of the expressions of one module. A name of the project begins with "/" and its module's path."""

    def __init__(self, tree: ScopedTree, path: str, exports: ProjectExports) -> None:
        self._tree = tree
        self._path = path
        self._exports = exports
        self._resolved: dict[ast.AST, str | None] = {}

    def name_of(self, node: ast.AST, depth: int = 0) -> str | None:
        """Return the canonical name; None for what is no module, no attribute of one, or cannot be known."""
        if node in self._resolved:
            return self._resolved[node]
        resolve = _RESOLVERS.get(node.__class__)
        if resolve is None or depth > _MAX_DEPTH:
            return None
        self._resolved[node] = None  # what is defined by itself has no name
        name = self._resolved[node] = resolve(self, node, depth + 1)
        return name

    def constant_text(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """The text of an expression that is always the same one, through names that are bound to it."""
        if node is None or depth > _MAX_DEPTH:
            return None
        if isinstance(node, ast.Name):
            for binding in self._reaching(node):
                value = binding.value
                if isinstance(value, str):
                    return self._exports.constant_text(value, self._path)
                if value is not None and (text := self.constant_text(value, depth + 1)) is not None:
                    return text
            return None
        literal = text_template(node, lambda inner: self.constant_text(inner, depth + 1))
        return literal.value if literal is not None and not literal.holes else None

    def bindings(self, node: ast.Name) -> list[Binding]:
        """Those that may have given the name its value where it is used."""
        return list(self._reaching(node))

    def _reaching(self, node: ast.Name) -> Iterator[Binding]:
        binding_scopes = self._find_scope(node)
        if binding_scopes is not None:
            scope, used_in = binding_scopes
            yield from reaching_bindings(self._tree, scope.bindings[node.id], node if scope is used_in else None)

    def _find_scope(self, node: ast.Name) -> tuple[Scope, Scope] | None:
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
        if self._find_scope(node) is None:
            return self._unbound_name(node.id)
        return self._prefer_torch(self._value(binding.value, depth) for binding in self._reaching(node))

    def _value(self, value: ast.expr | str | None, depth: int) -> str | None:
        if isinstance(value, str):
            return self._exports.canonical_name(value, self._path)
        return self.name_of(value, depth) if value is not None else None

    def _prefer_torch(self, names: Iterator[str | None]) -> str | None:
        """Choose among what a name may be: torch rather than a stand-in for where torch lacks something."""
        first = None
        for name in names:
            if name is not None and name.startswith("torch."):
                return name
            first = first or name
        return first

    def _unbound_name(self, name: str) -> str | None:
        for node in self._tree.nodes[ast.ImportFrom]:
            if node.names[0].name == "*" and (imported := self._star_import_name(node, name)) is not None:
                return imported
        return name if name in _BUILTINS else None

    def _star_import_name(self, node: ast.ImportFrom, name: str) -> str | None:
        origin = self._exports.origin_module(node, self._tree.package, self._path)
        if origin.startswith("/"):
            resolved = self._exports.canonical_name(f"{origin}.{name}", self._path)
            return None if resolved == f"{origin}.{name}" else resolved
        return f"{origin}.{name}" if name in star_import_names(origin) else None

    def _attribute(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.Attribute)
        base = self.name_of(node.value, depth)
        if base is not None:
            return self._member(base, node.attr)
        return self._class_attribute(node, depth)

    def _member(self, base: str, name: str) -> str:
        return self._exports.canonical_name(f"{base}.{name}", self._path) if base[0] == "/" else f"{base}.{name}"

    def _class_attribute(self, node: ast.Attribute, depth: int) -> str | None:
        """self.x and Name.x of a class of this module."""
        if not isinstance(node.value, ast.Name):
            return None
        scope = self._class_scope(node.value)
        if scope is None:
            return None
        bindings = (*scope.attributes.get(node.attr, ()), *scope.bindings.get(node.attr, ()))
        return self._prefer_torch(self._value(binding.value, depth) for binding in bindings)

    def _class_scope(self, node: ast.Name) -> Scope | None:
        scope: Scope | None = self._tree.scopes[node]
        while scope is not None:
            if scope.first == node.id:
                return scope.outer
            scope = scope.outer
        for binding in self._reaching(node):
            if isinstance(binding.node, ast.ClassDef):
                return self._tree.scopes.get(binding.node)
        return None

    def _call(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.Call)
        if not node.args:
            return None
        if isinstance(node.func, ast.Call):
            return self._attrgetter_call(node.func, node.args[0], depth)
        called = self.name_of(node.func, depth)
        if called == "getattr" and len(node.args) > 1:
            base, name = self.name_of(node.args[0], depth), self.constant_text(node.args[1], depth)
            return self._members(base, name) if base and name else None
        if called in ("importlib.import_module", "__import__"):
            return self._import_call(node, called, depth)
        if called == "vars" and (base := self.name_of(node.args[0], depth)) is not None:
            return f"{base}.__dict__"
        return None

    def _attrgetter_call(self, getter: ast.Call, argument: ast.expr, depth: int) -> str | None:
        """operator.attrgetter("cuda.is_available")(torch)"""
        if len(getter.args) != 1 or self.name_of(getter.func, depth) != "operator.attrgetter":
            return None
        base, name = self.name_of(argument, depth), self.constant_text(getter.args[0], depth)
        return self._members(base, name) if base and name else None

    def _import_call(self, node: ast.Call, called: str, depth: int) -> str | None:
        name = self.constant_text(node.args[0], depth)
        if name and name[0] == ".":
            package = next((keyword.value for keyword in node.keywords if keyword.arg == "package"), None)
            base = self.constant_text(node.args[1] if len(node.args) > 1 else package, depth)
            name = f"{base}{name}" if base and name[:2] != ".." else None
        if not name:
            return None
        whole = called != "__import__" or len(node.args) > 3 or bool(node.keywords)
        return self._exports.canonical_name(name if whole else name.partition(".")[0], self._path)

    def _members(self, base: str, names: str) -> str:
        for name in names.split("."):
            base = self._member(base, name)
        return base

    def _conditional(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.IfExp)
        return self._prefer_torch(self.name_of(branch, depth) for branch in (node.body, node.orelse))

    def _bool_op(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.BoolOp)
        return self._prefer_torch(self.name_of(value, depth) for value in node.values)

    def _walrus(self, node: ast.AST, depth: int) -> str | None:
        assert isinstance(node, ast.NamedExpr)
        return self.name_of(node.value, depth)

    def _subscript(self, node: ast.AST, depth: int) -> str | None:
        """An entry of sys.modules, of a module's __dict__, or of a written dict of modules."""
        assert isinstance(node, ast.Subscript)
        key = self.constant_text(node.slice, depth)
        if key is None:
            return None
        base = self.name_of(node.value, depth)
        if base == "sys.modules":
            return self._exports.canonical_name(key, self._path)
        if base is not None and base.endswith(".__dict__"):
            return self._member(base.removesuffix(".__dict__"), key)
        return self._prefer_torch(self._entry(written, key, depth) for written in self._dict_literals(node.value))

    def _entry(self, written: ast.Dict, key: str, depth: int) -> str | None:
        for name, value in zip(written.keys, written.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return self.name_of(value, depth)
        return None

    def _dict_literals(self, node: ast.expr) -> Iterator[ast.Dict]:
        if isinstance(node, ast.Dict):
            yield node
        elif isinstance(node, ast.Name):
            yield from (binding.value for binding in self._reaching(node) if isinstance(binding.value, ast.Dict))


_RESOLVERS = {
    ast.Name: CanonicalNames._name,
    ast.Attribute: CanonicalNames._attribute,
    ast.Call: CanonicalNames._call,
    ast.IfExp: CanonicalNames._conditional,
    ast.BoolOp: CanonicalNames._bool_op,
    ast.NamedExpr: CanonicalNames._walrus,
    ast.Subscript: CanonicalNames._subscript,
}
