"""float64 and channels_last."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import Seen, folded, is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

FLOAT64 = {"float64": "torch.float64", "double": "torch.double"}
LAYOUTS = {"channels_last": "torch.channels_last", "channels_last_3d": "torch.channels_last_3d"}
FACTORIES = {
    f"torch.{name}" for name in ("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "tensor", "zeros")
}
MOST = 5


def places(seen: Seen) -> Iterator[Place]:
    if seen.uses_torch:
        yield from folded(_doubles(seen), MOST)
        yield from folded(_layouts(seen), MOST)


def _doubles(seen: Seen) -> Iterator[Place]:
    for node in seen.each(ast.Attribute):
        name = FLOAT64.get(node.attr)
        if name and seen.name_of(node) == name and not (_is_looked_up(seen, node) or _is_made_on_the_cpu(seen, node)):
            yield from seen.place(node, "advice.float64", name)
    for call, name in seen.module.calls:
        made = call.func
        if isinstance(made, ast.Attribute) and made.attr == "double" and not call.args and is_open(name):
            yield from seen.place(call, "advice.float64", "torch.Tensor.double")


def _is_looked_up(seen: Seen, node: ast.Attribute) -> bool:
    """A comparison, a table of types or a choice among them makes no tensor."""
    around = (ast.Compare, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.IfExp)
    return isinstance(seen.module.parent(node), around)


def _is_made_on_the_cpu(seen: Seen, node: ast.Attribute) -> bool:
    """`torch.linspace(0, 1, 9, dtype=torch.float64)` names no device; mostly a table that is cast later."""
    call = next((one for one in seen.above(node) if isinstance(one, (ast.Call, ast.stmt))), None)
    if not isinstance(call, ast.Call) or seen.name_of(call.func) not in FACTORIES:
        return False
    return all(keyword.arg != "device" for keyword in call.keywords)


def _layouts(seen: Seen) -> Iterator[Place]:
    for node in seen.each(ast.Attribute):
        name = LAYOUTS.get(node.attr)
        if name and seen.name_of(node) == name and not _is_asked(seen, node):
            yield from seen.place(node, "advice.channels_last", name)


def _is_asked(seen: Seen, node: ast.Attribute) -> bool:
    """`x.is_contiguous(memory_format=torch.channels_last)` changes nothing, neither does a comparison."""
    for parent in seen.above(node):
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Attribute) and parent.func.attr == "is_contiguous"
        if isinstance(parent, (ast.Compare, ast.stmt)):
            return isinstance(parent, ast.Compare)
    return False
