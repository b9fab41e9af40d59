"""Imports of torch's GPU stack, of libraries made for CUDA, and of compiled extensions."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.python.categories import category_of
from backends.migration.scan.python.libraries import library_of
from backends.migration.scan.python.scopes import origin_of
from backends.migration.scan.python.seen import seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

_EXTENSION = re.compile(r"\w+_cuda(?:_ext|_lib|_kernel|_op|_ops)?|cuda_(?:ext|ops|kernels)")
_ASKED = re.compile(r"(?:^|[._])(?:find_spec|importorskip|find_loader|(?:package|module|library)_available)$")


def import_places(module: Module) -> Iterator[Place]:
    for node in module.nodes(ast.Import):
        for alias in node.names:
            name = module.exports.canonical(alias.name, module.path)
            yield from _imported(module, alias, name, alias.asname)
    for origin in module.nodes(ast.ImportFrom):
        yield from _from(module, origin)
    for call, function in module.calls:
        yield from _asked(module, call, function or _written(call.func))


def _from(module: Module, node: ast.ImportFrom) -> Iterator[Place]:
    origin = origin_of(node, module.index.package)
    if origin.startswith("/") or module.exports.canonical(origin, module.path).startswith("/"):
        yield from _own_extension(module, node)
        return
    others = [f"{origin}.{alias.name}" for alias in node.names]
    yield from _other(module, node, next((name for name in others if library_of(name)), origin), origin)
    for alias in node.names:
        name = origin if alias.name == "*" else f"{origin}.{alias.name}"
        if (category := category_of(name)) is not None:
            yield seen(module, alias, category, name, "import", _bound(alias.asname, alias.name))


def _own_extension(module: Module, node: ast.ImportFrom) -> Iterator[Place]:
    """`from . import _C`, where a setup file builds <package>._C."""
    built = {name.rpartition(".")[2] for name in module.exports.extensions}
    if any(alias.name in built for alias in node.names):
        yield seen(module, node, "custom_ext_import", node.names[0].name, "import")


def _imported(module: Module, place: ast.AST, name: str, alias: str | None) -> Iterator[Place]:
    if name.startswith("/"):
        return
    if (category := category_of(name)) is not None:
        yield seen(module, place, category, name, "import", _bound(alias, name.partition(".")[0]))
    else:
        yield from _other(module, place, name, name)


def _other(module: Module, node: ast.AST, name: str, origin: str) -> Iterator[Place]:
    if (library := library_of(name)) is not None:
        yield seen(module, node, f"lib_{library}", origin, "import")
    elif origin in module.exports.extensions or _EXTENSION.fullmatch(origin):
        yield seen(module, node, "custom_ext_import", origin, "import")


def _bound(alias: str | None, name: str) -> dict[str, str]:
    return {"bound": alias or name}


def _asked(module: Module, call: ast.Call, function: str) -> Iterator[Place]:
    """import_module("apex"), find_spec("flash_attn"): the library is meant as much as in an import."""
    if not call.args or not (function in ("importlib.import_module", "__import__") or _ASKED.search(function)):
        return
    name = module.text_of(call.args[0])
    if not name or module.exports.canonical(name, module.path).startswith("/"):
        return
    context = "import" if "import" in function.rpartition(".")[2] else "find_spec"
    if (library := library_of(name)) is not None:
        yield seen(module, call, f"lib_{library}", name, context)
    elif name in module.exports.extensions or _EXTENSION.fullmatch(name):
        yield seen(module, call, "custom_ext_import", name, context)
    elif context == "find_spec" and (category := category_of(name)) is not None:
        yield seen(module, call, category, name, context)


def _written(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return f".{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""
