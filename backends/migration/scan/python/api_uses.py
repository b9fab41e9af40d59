"""Names of torch's GPU stack, wherever they are used: called, read, set, as a decorator, through getattr."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from backends.migration.scan.python.categories import api_category, is_kernel_decorator
from backends.migration.scan.python.occurrences import make_occurrence
from backends.migration.scan.python.triton_kernels import describe_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

_DEVICE_INDEPENDENT = frozenset(("torch_compile", "jit", "amp_generic", "dataparallel"))
"""Categories where hasattr() asks for the version of torch, not for the device."""
_PLAIN_VALUES = frozenset(("cuda_version", "cudnn", "backend_cuda"))
"""What is read from these is a number or a text: a name that keeps it is no part of torch any more."""
_ATTRIBUTE_FUNCTIONS = {"getattr": "getattr", "hasattr": "hasattr", "setattr": "set", "delattr": "set"}


def scan_apis(module: Module) -> Iterator[Occurrence]:
    for kind in (ast.Attribute, ast.Name, ast.Subscript):
        for node in module.nodes(kind):
            if not _is_part_of_name(node, module):
                yield from _name_occurrences(node, module)
    for call, function in module.calls:
        if function in _ATTRIBUTE_FUNCTIONS:
            yield from _getattr_occurrences(call, _ATTRIBUTE_FUNCTIONS[function], module)
        elif function in ("importlib.import_module", "__import__") and not _is_part_of_name(call, module):
            yield from _name_occurrences(call, module, "import")


def _is_part_of_name(node: ast.expr, module: Module) -> bool:
    """Whether the node is a part of a longer name: only the whole name is an occurrence."""
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute | ast.Subscript):
        return parent.value is node and module.name_of(parent) is not None
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and isinstance(node, ast.Attribute | ast.Name):
        return module.name_of(parent.func) in _ATTRIBUTE_FUNCTIONS and _member_name(parent, module) is not None
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _name_occurrences(node: ast.expr, module: Module, context: str = "") -> Iterator[Occurrence]:
    name = module.name_of(node)
    if name is None:
        return
    category = api_category(name)
    if category in _PLAIN_VALUES and isinstance(node, ast.Name) and not _is_imported(node, module):
        return
    if category is not None:
        use, args = usage(node, module)
        yield make_occurrence(module, node, category, name, context or use, args)
    elif is_kernel_decorator(name) and (decorated := _decorated_name(node, module)) is not None:
        title, details = describe_kernel(node, decorated, module)
        yield make_occurrence(module, node, "triton_kernel", title, "decorator", details)


def _is_imported(node: ast.Name, module: Module) -> bool:
    return any(
        isinstance(binding.value, str) and binding.value.startswith("torch.") for binding in module.names.bindings(node)
    )


def _getattr_occurrences(call: ast.Call, context: str, module: Module) -> Iterator[Occurrence]:
    name = _member_name(call, module)
    category = api_category(name) if name is not None else None
    if name is None or category is None or (context == "hasattr" and category in _DEVICE_INDEPENDENT):
        return
    outer = module.parent(call)
    if isinstance(outer, ast.Attribute) and module.name_of(outer) is not None:
        return  # getattr(torch, "cuda").is_available: the longer name is the occurrence
    yield make_occurrence(module, call, category, name, context, {"base": module.source(call.args[0])})


def _member_name(call: ast.Call, module: Module) -> str | None:
    """What getattr(base, "name") and the like are about, where both are known."""
    if len(call.args) < 2:
        return None
    base, name = module.name_of(call.args[0]), module.text_of(call.args[1])
    return f"{base}.{name}" if base and name else None


def _decorated_name(node: ast.expr, module: Module) -> str | None:
    """The name of the function or class that this, or a call of this, decorates."""
    parent = module.parent(node)
    decorator: ast.AST = parent if isinstance(parent, ast.Call) and parent.func is node else node
    owner = module.parent(decorator)
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and decorator in owner.decorator_list:
        return owner.name
    return None


def usage(node: ast.expr, module: Module) -> tuple[str, dict[str, Any]]:
    """How a name is used, and what an edit of it needs."""
    decorated = _decorated_name(node, module)
    if decorated is not None:
        return "decorator", {"function": decorated}
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return "call", {"arguments": len(parent.args) + len(parent.keywords)}
    if isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign) and parent.value is not node:
        return "set", {"value": module.source(parent.value)[:80]} if parent.value is not None else {}
    if isinstance(parent, ast.Compare):
        return "compare", {}
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        return "alias", {}
    if isinstance(parent, ast.ClassDef):
        return "base", {"class": parent.name}
    return "", {}
