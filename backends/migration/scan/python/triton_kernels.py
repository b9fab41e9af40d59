"""Triton kernels, each with the functions of triton.language that it calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.facts.triton import LANGUAGE, is_triton_type, triton_support, triton_type_support

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.python.module import Module


CAST = f"{LANGUAGE}cast"


def describe_kernel(decorator: ast.expr, function: str, module: Module) -> tuple[str, dict[str, str]]:
    """Return the name of a finding on a kernel, and what it says of the kernel: by kind of support the functions of
    triton.language that it calls, each with its first line, and the element types that it gives them where these are
    not taken: "zeros(uint32):12". The name has those that decide: "count (sort:12)"."""
    kernel = next((node for node in module.ancestors(decorator) if isinstance(node, ast.FunctionDef)), None)
    called: dict[str, dict[str, int]] = {}
    calls = [node for node in ast.walk(kernel) if isinstance(node, ast.Call)] if kernel is not None else []
    for call in calls:
        name = module.name_of(call.func) or ""
        if name.startswith(LANGUAGE):
            called.setdefault(triton_support(name), {}).setdefault(name.removeprefix(LANGUAGE), call.lineno)
        for dtype in _types_given(call, module):
            operator = name if name.startswith(LANGUAGE) else CAST
            support = triton_type_support(operator, dtype)
            if support != "taken":
                text = f"{operator.removeprefix(LANGUAGE)}({dtype.removeprefix(LANGUAGE)})"
                called.setdefault(support, {}).setdefault(text, call.lineno)
    args = {kind: _listed(lines) for kind, lines in called.items()}
    decisive = next((args[kind] for kind in ("refused", "unknown", "limited") if kind in args), "")
    return f"{function} ({decisive})" if decisive else function, {"function": function} | args


def _types_given(call: ast.Call, module: Module) -> Iterator[str]:
    """Yield the element types among the arguments of a function of triton.language, or of x.to(…), a cast."""
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    if not is_method and not (module.name_of(call.func) or "").startswith(LANGUAGE):
        return
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        name = module.name_of(argument)
        if name is not None and is_triton_type(name):
            yield name


def _listed(lines: dict[str, int]) -> str:
    return ", ".join(f"{name}:{line}" for name, line in sorted(lines.items(), key=lambda item: item[1]))
