"""float64 and channels_last."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import ModuleView, fold_repeats, may_be_tensor_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

FLOAT64 = {"float64": "torch.float64", "double": "torch.double"}
LAYOUTS = {"channels_last": "torch.channels_last", "channels_last_3d": "torch.channels_last_3d"}
FACTORIES = {
    f"torch.{name}" for name in ("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "tensor", "zeros")
}
MAX_PER_RULE = 5


def advise_dtypes(view: ModuleView) -> Iterator[Occurrence]:
    if view.uses_torch:
        yield from fold_repeats(_advise_doubles(view), MAX_PER_RULE)
        yield from fold_repeats(_advise_layouts(view), MAX_PER_RULE)


def _advise_doubles(view: ModuleView) -> Iterator[Occurrence]:
    for node in view.nodes(ast.Attribute):
        name = FLOAT64.get(node.attr)
        if name and view.name_of(node) == name and not (_is_table_entry(view, node) or _is_created_on_cpu(view, node)):
            yield from view.advise(node, "advice.float64", name)
    for call, name in view.module.calls:
        function = call.func
        if (
            isinstance(function, ast.Attribute)
            and function.attr == "double"
            and not call.args
            and may_be_tensor_method(name)
        ):
            yield from view.advise(call, "advice.float64", "torch.Tensor.double")


def _is_table_entry(view: ModuleView, node: ast.Attribute) -> bool:
    """A comparison, a table of types or a choice among them makes no tensor."""
    containers = (ast.Compare, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.IfExp)
    return isinstance(view.module.parent(node), containers)


def _is_created_on_cpu(view: ModuleView, node: ast.Attribute) -> bool:
    """`torch.linspace(0, 1, 9, dtype=torch.float64)` names no device; mostly a table that is cast later."""
    call = next((ancestor for ancestor in view.ancestors(node) if isinstance(ancestor, (ast.Call, ast.stmt))), None)
    if not isinstance(call, ast.Call) or view.name_of(call.func) not in FACTORIES:
        return False
    return all(keyword.arg != "device" for keyword in call.keywords)


def _advise_layouts(view: ModuleView) -> Iterator[Occurrence]:
    for node in view.nodes(ast.Attribute):
        name = LAYOUTS.get(node.attr)
        if name and view.name_of(node) == name and not _is_query(view, node):
            yield from view.advise(node, "advice.channels_last", name)


def _is_query(view: ModuleView, node: ast.Attribute) -> bool:
    """`x.is_contiguous(memory_format=torch.channels_last)` changes nothing, neither does a comparison."""
    for parent in view.ancestors(node):
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Attribute) and parent.func.attr == "is_contiguous"
        if isinstance(parent, (ast.Compare, ast.stmt)):
            return isinstance(parent, ast.Compare)
    return False
