"""What msprobe does not see: measured with msprobe 26.2.0 on torch 2.13, level mix."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import Seen, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

AUTOGRAD = {"torch.autograd.Function", "torch.autograd.function.Function"}
CASTS = {"half", "float", "bfloat16"}
TYPES = {"torch.float16", "torch.half", "torch.bfloat16", "torch.float32", "torch.float"}


def places(seen: Seen) -> Iterator[Place]:
    if not seen.uses_torch:
        return
    yield from folded(_compiled(seen), 3)
    yield from folded(_functions(seen), 5)
    yield from folded(_in_place(seen), 1)
    yield from folded(_forwards(seen), 3)
    yield from folded(_casts(seen), 1)


def _compiled(seen: Seen) -> Iterator[Place]:
    for call, name in seen.module.calls:
        if name == "torch.compile":
            yield from seen.place(call, "advice.unseen_compile", name)
    for decorator in seen.decorators:
        if seen.name_of(decorator) == "torch.compile":
            yield from seen.place(decorator, "advice.unseen_compile", "torch.compile")


def _functions(seen: Seen) -> Iterator[Place]:
    for node in seen.each(ast.ClassDef):
        base = next((one for one in node.bases if seen.name_of(one) in AUTOGRAD), None)
        if base is not None:
            yield from seen.place(base, "advice.unseen_function", node.name)


def _in_place(seen: Seen) -> Iterator[Place]:
    """nn.ReLU(inplace=True): the gradient rows of the module and of the one before it are missing."""
    for call, name in seen.module.calls:
        if name is not None and name.startswith("torch.nn.") and any(map(_is_in_place, call.keywords)):
            yield from seen.place(call, "advice.unseen_inplace", name)


def _is_in_place(keyword: ast.keyword) -> bool:
    return keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def _forwards(seen: Seen) -> Iterator[Place]:
    """`self.layer.forward(x)` goes past the hooks of the module; `super().forward(x)` is inside them already."""
    for call, _ in seen.module.calls:
        asked = call.func
        if isinstance(asked, ast.Attribute) and asked.attr == "forward" and call.args and _is_part(seen, asked.value):
            yield from seen.place(call, "advice.unseen_forward", seen.module.source(asked)[:80])


def _is_part(seen: Seen, node: ast.expr) -> bool:
    """`self.layer` in a class of modules; elsewhere it may be no module at all."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"):
        return False
    owner = next((one for one in seen.above(node) if isinstance(one, ast.ClassDef)), None)
    return owner is not None and any((seen.name_of(base) or "").startswith("torch.nn.") for base in owner.bases)


def _casts(seen: Seen) -> Iterator[Place]:
    for call, _ in seen.module.calls:
        asked = call.func
        if isinstance(asked, ast.Attribute) and _is_cast(seen, call, asked.attr):
            function = seen.function(call)
            if function is not None and function.name == "forward":
                yield from seen.place(call, "advice.unseen_cast", f".{asked.attr}()")


def _is_cast(seen: Seen, call: ast.Call, method: str) -> bool:
    if method in CASTS:
        return not call.args and not call.keywords
    return method in ("to", "type") and len(call.args) == 1 and seen.name_of(call.args[0]) in TYPES
