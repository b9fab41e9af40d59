"""Imports of torch's GPU stack, of libraries made for CUDA, and of compiled extensions."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.python.categories import api_category
from backends.migration.scan.python.cuda_libraries import cuda_library
from backends.migration.scan.python.occurrences import make_occurrence
from backends.migration.scan.python.scopes import import_origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

_EXTENSION = re.compile(r"\w+_cuda(?:_ext|_lib|_kernel|_op|_ops)?|cuda_(?:ext|ops|kernels)")
_AVAILABILITY_CHECK = re.compile(
    r"(?:^|[._])(?:find_spec|importorskip|find_loader|(?:package|module|library)_available)$"
)


def scan_imports(module: Module) -> Iterator[Occurrence]:
    for node in module.nodes(ast.Import):
        for alias in node.names:
            name = module.exports.canonical_name(alias.name, module.path)
            yield from _scan_import(module, alias, name, alias.asname)
    for origin in module.nodes(ast.ImportFrom):
        yield from _scan_import_from(module, origin)
    for call, function in module.calls:
        yield from _scan_import_call(module, call, function or _plain_name(call.func))


def _scan_import_from(module: Module, node: ast.ImportFrom) -> Iterator[Occurrence]:
    origin = import_origin(node, module.index.package)
    if origin.startswith("/") or module.exports.canonical_name(origin, module.path).startswith("/"):
        yield from _own_extension_import(module, node)
        return
    others = [f"{origin}.{alias.name}" for alias in node.names]
    yield from _library_import(module, node, next((name for name in others if cuda_library(name)), origin), origin)
    for alias in node.names:
        name = origin if alias.name == "*" else f"{origin}.{alias.name}"
        if (category := api_category(name)) is not None:
            yield make_occurrence(module, alias, category, name, "import", _bound_args(alias.asname, alias.name))


def _own_extension_import(module: Module, node: ast.ImportFrom) -> Iterator[Occurrence]:
    """`from . import _C`, where a setup file builds <package>._C."""
    built = {name.rpartition(".")[2] for name in module.exports.extensions}
    if any(alias.name in built for alias in node.names):
        yield make_occurrence(module, node, "custom_ext_import", node.names[0].name, "import")


def _scan_import(module: Module, node: ast.AST, name: str, alias: str | None) -> Iterator[Occurrence]:
    if name.startswith("/"):
        return
    if (category := api_category(name)) is not None:
        yield make_occurrence(module, node, category, name, "import", _bound_args(alias, name.partition(".")[0]))
    else:
        yield from _library_import(module, node, name, name)


def _library_import(module: Module, node: ast.AST, name: str, origin: str) -> Iterator[Occurrence]:
    if (library := cuda_library(name)) is not None:
        yield make_occurrence(module, node, f"lib_{library}", origin, "import")
    elif origin in module.exports.extensions or _EXTENSION.fullmatch(origin):
        yield make_occurrence(module, node, "custom_ext_import", origin, "import")


def _bound_args(alias: str | None, name: str) -> dict[str, str]:
    return {"bound": alias or name}


def _scan_import_call(module: Module, call: ast.Call, function: str) -> Iterator[Occurrence]:
    """import_module("apex"), find_spec("flash_attn"): the library is meant as much as in an import."""
    if not call.args or not (
        function in ("importlib.import_module", "__import__") or _AVAILABILITY_CHECK.search(function)
    ):
        return
    name = module.text_of(call.args[0])
    if not name or module.exports.canonical_name(name, module.path).startswith("/"):
        return
    context = "import" if "import" in function.rpartition(".")[2] else "find_spec"
    if (library := cuda_library(name)) is not None:
        yield make_occurrence(module, call, f"lib_{library}", name, context)
    elif name in module.exports.extensions or _EXTENSION.fullmatch(name):
        yield make_occurrence(module, call, "custom_ext_import", name, context)
    elif context == "find_spec" and (category := api_category(name)) is not None:
        yield make_occurrence(module, call, category, name, context)


def _plain_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return f".{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""
