"""Torch APIs for the judge to look up, and operators without a kernel for the NPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.operators import METHODS, OPERATORS
from backends.migration.scan.advice.seen import is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

# These are places of their own, whatever the tables say of them.
NO_APIS = (
    "torch.cuda.",
    "torch.backends.",
    "torch.jit.",
    "torch.utils.cpp_extension.",
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
    "torch.autograd.profiler.emit_nvtx",
)


def places(seen: Seen) -> Iterator[Place]:
    """The first call of each in a file; `count` says how many there are."""
    first: dict[str, ast.expr] = {}
    count: dict[str, int] = {}
    for call, name in seen.module.calls:
        found = name if name and name.startswith("torch.") else _method(seen, call) if is_open(name) else ""
        if found and not found.startswith(NO_APIS) and not seen.module.quiet(call):
            first.setdefault(found, call.func)
            count[found] = count.get(found, 0) + 1
    for name, node in first.items():
        yield seen.exactly(node, "", name, {"count": count[name]})
        if operator := OPERATORS.get(name):
            yield from seen.place(node, "advice.cpu_fallback", name, operator=operator, count=count[name])


def _method(seen: Seen, call: ast.Call) -> str:
    """Methods that nothing but a tensor has."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and seen.uses_torch:
        return f"torch.Tensor.{call.func.attr}"
    return ""
