"""What msprobe does not see: measured with msprobe 26.2.0 on torch 2.13, level mix."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import ModuleView, fold_repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

AUTOGRAD = {"torch.autograd.Function", "torch.autograd.function.Function"}
CASTS = {"half", "float", "bfloat16"}
TYPES = {"torch.float16", "torch.half", "torch.bfloat16", "torch.float32", "torch.float"}


def advise_msprobe_blind_spots(view: ModuleView) -> Iterator[Occurrence]:
    if not view.uses_torch:
        return
    yield from fold_repeats(_advise_compiled(view), 3)
    yield from fold_repeats(_advise_functions(view), 5)
    yield from fold_repeats(_advise_in_place(view), 1)
    yield from fold_repeats(_advise_forwards(view), 3)
    yield from fold_repeats(_advise_casts(view), 1)


def _advise_compiled(view: ModuleView) -> Iterator[Occurrence]:
    for call, name in view.module.calls:
        if name == "torch.compile":
            yield from view.advise(call, "advice.unseen_compile", name)
    for decorator in view.decorators:
        if view.name_of(decorator) == "torch.compile":
            yield from view.advise(decorator, "advice.unseen_compile", "torch.compile")


def _advise_functions(view: ModuleView) -> Iterator[Occurrence]:
    for node in view.nodes(ast.ClassDef):
        base = next((base_class for base_class in node.bases if view.name_of(base_class) in AUTOGRAD), None)
        if base is not None:
            yield from view.advise(base, "advice.unseen_function", node.name)


def _advise_in_place(view: ModuleView) -> Iterator[Occurrence]:
    """nn.ReLU(inplace=True): the gradient rows of the module and of the one before it are missing."""
    for call, name in view.module.calls:
        if name is not None and name.startswith("torch.nn.") and any(map(_is_in_place, call.keywords)):
            yield from view.advise(call, "advice.unseen_inplace", name)


def _is_in_place(keyword: ast.keyword) -> bool:
    return keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def _advise_forwards(view: ModuleView) -> Iterator[Occurrence]:
    """`self.layer.forward(x)` goes past the hooks of the module; `super().forward(x)` is inside them already."""
    for call, _ in view.module.calls:
        function = call.func
        if (
            isinstance(function, ast.Attribute)
            and function.attr == "forward"
            and call.args
            and _is_submodule(view, function.value)
        ):
            yield from view.advise(call, "advice.unseen_forward", view.module.source(function)[:80])


def _is_submodule(view: ModuleView, node: ast.expr) -> bool:
    """`self.layer` in a class of modules; elsewhere it may be no module at all."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"):
        return False
    owner = next((ancestor for ancestor in view.ancestors(node) if isinstance(ancestor, ast.ClassDef)), None)
    return owner is not None and any((view.name_of(base) or "").startswith("torch.nn.") for base in owner.bases)


def _advise_casts(view: ModuleView) -> Iterator[Occurrence]:
    for call, _ in view.module.calls:
        method = call.func
        if isinstance(method, ast.Attribute) and _is_cast(view, call, method.attr):
            function = view.enclosing_function(call)
            if function is not None and function.name == "forward":
                yield from view.advise(call, "advice.unseen_cast", f".{method.attr}()")


def _is_cast(view: ModuleView, call: ast.Call, method: str) -> bool:
    if method in CASTS:
        return not call.args and not call.keywords
    return method in ("to", "type") and len(call.args) == 1 and view.name_of(call.args[0]) in TYPES
