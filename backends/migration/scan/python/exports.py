"""What the modules of a project export to one another: aliases of torch, constants, compiled extensions."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.python.cuda_libraries import is_foreign_module
from backends.migration.scan.python.reaching_bindings import reaching_bindings
from backends.migration.scan.python.scoped_tree import ScopedTree, UnparsableSource, parse_tree
from backends.migration.scan.python.scopes import import_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.migration.scan.python.scopes import Binding

_WORTH_PARSING = re.compile(r"\bimport\b|\bdef cuda\b|[\"'](?:torch|cud|nccl|nvtx|amp|jit|backends)[\w.]*[\"']")
_MAX_ALIASES = 16  # of aliases inside a module
_MAX_MODULES = 120  # modules that are asked for one name
_NAME_PART = re.compile(r"(?:torch|cuda|cudnn|nccl|nvtx|amp|jit|backends)(?:\.\w+)*")  # that getattr() may be given


class ModuleExports(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The exports of one module. `names`: name to the dotted name that it stands for. `constants`: texts that are part
    of such a name.

    `stars`: modules that it imports * from. `extensions`: compiled modules that a setup file builds. `own_cuda`:
    classes that define a `cuda` of their own.
    """

    names: dict[str, str] = {}
    constants: dict[str, str] = {}
    stars: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    own_cuda: tuple[str, ...] = ()


NO_EXPORTS = ModuleExports()


def module_exports(path: str, text: str) -> ModuleExports:
    """Return what other modules may need of this one; never raises."""
    if not _WORTH_PARSING.search(text):
        return NO_EXPORTS
    try:
        tree = ScopedTree(parse_tree(text.removeprefix("\ufeff").encode("utf-8", "replace").decode()), path, deep=False)
    except UnparsableSource:
        return NO_EXPORTS
    names, constants = _bound_names(tree)
    return ModuleExports(
        names=names,
        constants=constants,
        stars=tuple(
            import_origin(node, tree.package) for node in tree.nodes[ast.ImportFrom] if node.names[0].name == "*"
        ),
        extensions=_extension_names(tree),
        own_cuda=tuple(node.name for node in tree.nodes[ast.ClassDef] if defines_cuda(node)),
    )


def _bound_names(tree: ScopedTree) -> tuple[dict[str, str], dict[str, str]]:
    names: dict[str, str] = {}
    constants: dict[str, str] = {}
    for name, bindings in tree.module.bindings.items():
        if (dotted := _dotted_name(bindings, tree)) is not None:
            names[name] = dotted
        elif (text := _constant_text(bindings)) is not None:
            constants[name] = text
    return names, constants


def _dotted_name(bindings: list[Binding], tree: ScopedTree) -> str | None:
    """Return what the name stands for once the module has run, torch before others."""
    visible = reaching_bindings(tree, bindings, None)
    names = [name for binding in visible if (name := _resolve_name(binding.value, tree, 0)) is not None]
    names = [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names]
    return next((name for name in names if name.startswith("torch")), names[0] if names else None)


def _resolve_name(value: ast.AST | str | None, tree: ScopedTree, depth: int) -> str | None:
    if isinstance(value, str) or value is None or depth > _MAX_ALIASES:
        return value if isinstance(value, str) else None
    if isinstance(value, ast.Attribute):
        base = _resolve_name(value.value, tree, depth + 1)
        return f"{base}.{value.attr}" if base else None
    if isinstance(value, ast.Name):
        for binding in reversed(tree.module.bindings.get(value.id, ())):
            if binding.value is not value and (name := _resolve_name(binding.value, tree, depth + 1)) is not None:
                return name
        return None
    return _resolve_expression(value, tree, depth)


def _resolve_expression(value: ast.AST, tree: ScopedTree, depth: int) -> str | None:
    if isinstance(value, ast.IfExp):
        return _resolve_name(value.body, tree, depth + 1) or _resolve_name(value.orelse, tree, depth + 1)
    if isinstance(value, ast.Call) and value.args:
        last = value.args[min(1, len(value.args) - 1)]
        text = last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""
        called = value.func.id if isinstance(value.func, ast.Name) else getattr(value.func, "attr", "")
        if called == "getattr" and text and (base := _resolve_name(value.args[0], tree, depth + 1)):
            return f"{base}.{text}"
        if called == "import_module" and text and text[0] != ".":
            return text
    return None


def _constant_text(bindings: list[Binding]) -> str | None:
    value = bindings[-1].value
    text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
    return text if _NAME_PART.fullmatch(text) else None


def _extension_names(tree: ScopedTree) -> tuple[str, ...]:
    """Names that CUDAExtension(…) and CppExtension(…) give to the modules that they build."""
    return tuple(
        name.value
        for call in tree.nodes[ast.Call]
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in ("CUDAExtension", "CppExtension")
        for name in (*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name"))
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    )


def defines_cuda(node: ast.ClassDef) -> bool:
    return any(isinstance(inner, ast.FunctionDef) and inner.name == "cuda" for inner in node.body)


class ProjectExports:
    """The exports of all modules of a project: which module an import means, and what a name of it stands for."""

    def __init__(self, modules: Mapping[str, ModuleExports] | None = None) -> None:
        """`modules`: by path, relative to the project, with "/"."""
        self._modules: dict[str, ModuleExports] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path, exported in (modules or {}).items():
            module = _module_path(path)
            self._modules[module] = exported
            self._by_name[module.rpartition("/")[2]].append(module)
        self._packages = {folder for module in self._modules for folder in _folders(module)}
        self._regular = {_folder(path) for path in modules or {} if path.endswith("__init__.py")}
        for folder in self._packages:
            self._by_name[folder.rpartition("/")[2]].append(folder)
        self._canonical: dict[tuple[str, str], str] = {}
        self.extensions = frozenset(name for exported in self._modules.values() for name in exported.extensions)
        self.own_cuda = frozenset(name for exported in self._modules.values() for name in exported.own_cuda)

    @property
    def digest(self) -> str:
        """Digest of everything that can change the scan of another module; most edits leave it unchanged."""
        content = sorted((module, exported) for module, exported in self._modules.items() if exported != NO_EXPORTS)
        return hashlib.sha256(msgspec.json.encode([sorted(self._modules), content])).hexdigest()

    def origin_module(self, node: ast.ImportFrom, package: str, path: str) -> str:
        """The module after `from`, as canonical() gives it."""
        return self.canonical_name(import_origin(node, package), path)

    def canonical_name(self, name: str, path: str) -> str:
        """Resolve a dotted name in the module at `path`: "torch.cuda" for "utils.tc", or the name itself.

        A module of the project becomes "/folder/module", and what is unknown of it "/folder/module.name".
        """
        folder = _folder(path)
        resolved = self._canonical.get((folder, name))
        if resolved is None:
            resolved = self._canonical[folder, name] = self._resolve(name, folder, set())
        return resolved

    def constant_text(self, name: str, path: str) -> str | None:
        """The text that a name of another module is bound to."""
        module, _, rest = self.canonical_name(name, path).rpartition(".")
        exported = self._modules.get(module[1:]) if module.startswith("/") else None
        return exported.constants.get(rest) if exported is not None else None

    def _resolve(self, name: str, folder: str, visited: set[tuple[str, str]]) -> str:
        """`asked`: modules that were asked for a name on the way here; none is asked for it twice."""
        if name[:1] != "/":
            location = self._locate_module(name, folder)
            if location is None:
                return name
            name = location
        module, rest = self._split(name)
        if not rest:
            return name
        target = self._resolve_export(module, rest[0], visited)
        if target is None:
            inner = f"/{module}/{rest[0]}" if module else f"/{rest[0]}"
            if self._is_module(inner[1:]) and len(visited) < _MAX_MODULES:
                return self._resolve(".".join((inner, *rest[1:])), folder, visited)
            return name
        return self._resolve(".".join((target, *rest[1:])), _folder_of_module(module, self._regular), visited)

    def _resolve_export(self, module: str, name: str, visited: set[tuple[str, str]]) -> str | None:
        exported = self._modules.get(module)
        if exported is None or (module, name) in visited or len(visited) > _MAX_MODULES:
            return None
        visited.add((module, name))
        if name in exported.names:
            target = exported.names[name]
            return None if target == f"/{module}.{name}" else target
        folder = _folder_of_module(module, self._regular)
        for star in exported.stars:
            start = self._resolve(star, folder, visited)
            if start.startswith("/") and start != f"/{module}":
                resolved = self._resolve(f"{start}.{name}", folder, visited)
                if resolved != f"{start}.{name}":
                    return resolved
        return None

    def _split(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Module and the names after it; a folder's own name may have dots."""
        whole = name[1:]
        head, _, tail = whole.rpartition("/")
        parts = tail.split(".")
        for end in range(len(parts), 0, -1):
            module = "/".join(filter(None, (head, ".".join(parts[:end]))))
            if self._is_module(module):
                return module, tuple(parts[end:])
        return "/".join(filter(None, (head, parts[0]))), tuple(parts[1:])

    def _is_module(self, module: str) -> bool:
        return module in self._modules or module in self._packages

    def _locate_module(self, name: str, folder: str) -> str | None:
        """Where an absolute import of this project lies, as "/a/b.rest"; None for what is not of the project."""
        parts = name.split(".")
        if parts[0] not in self._by_name or (is_foreign_module(parts[0]) and not self._is_module(parts[0])):
            return None
        roots = [root for root in self._roots(parts[0], folder) if self._is_module(_join(root, parts[0]))]
        if not roots:
            return None
        best = max(roots, key=lambda root: self._matching_depth(root, parts))
        depth = self._matching_depth(best, parts)
        return ".".join(("/" + _join(best, *parts[:depth]), *parts[depth:]))

    def _matching_depth(self, root: str, parts: list[str]) -> int:
        """How many parts of a dotted name are folders and files under the root."""
        depth = 0
        while depth < len(parts) and self._is_module(_join(root, *parts[: depth + 1])):
            depth += 1
        return depth

    def _roots(self, first: str, folder: str) -> list[str]:
        """Folders that Python may look into: that of the script, those above it, the project, and where it fits."""
        above = [folder, *(folder[: at.start()] for at in reversed(list(re.finditer("/", folder)))), "", "src"]
        elsewhere = [module.rpartition("/")[0] for module in self._by_name[first]]
        nearby = [root for root in above if root not in self._regular or root == folder]
        return list(dict.fromkeys((*nearby, *(elsewhere if len(set(elsewhere)) == 1 else ()))))


def _join(root: str, *parts: str) -> str:
    return "/".join(filter(None, (root, *parts)))


def _module_path(path: str) -> str:
    """Return the module path of a file; an __init__.py is its package."""
    return path.rpartition(".")[0].removesuffix("/__init__") if "/" in path else path.rpartition(".")[0]


def _folders(module: str) -> list[str]:
    return [module[: at.start()] for at in re.finditer("/", module)]


def _folder(path: str) -> str:
    return os.path.dirname(path)  # noqa: PTH120 - a path inside the project, always with "/"


def _folder_of_module(module: str, packages: set[str]) -> str:
    return module if module in packages else module.rpartition("/")[0]
