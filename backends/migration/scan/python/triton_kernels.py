"""Triton kernels, each with the functions of triton.language that it calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.facts.triton import LANGUAGE, triton_support

if TYPE_CHECKING:
    from backends.migration.scan.python.module import Module


def describe_kernel(decorator: ast.expr, function: str, module: Module) -> tuple[str, dict[str, str]]:
    """Return the name of a finding on a kernel, and what it says of the kernel: by kind of support the functions of
    triton.language that it calls, each with its first line. The name has those that decide: "count (sort:12)"."""
    kernel = next((node for node in module.ancestors(decorator) if isinstance(node, ast.FunctionDef)), None)
    called: dict[str, dict[str, int]] = {}
    for node in ast.walk(kernel) if kernel is not None else ():
        name = module.name_of(node.func) if isinstance(node, ast.Call) else None
        if name is not None and name.startswith(LANGUAGE):
            of_kind = called.setdefault(triton_support(name), {})
            of_kind.setdefault(name.removeprefix(LANGUAGE), getattr(node, "lineno", 0))
    args = {kind: _listed(lines) for kind, lines in called.items()}
    decisive = next((args[kind] for kind in ("refused", "unknown", "limited") if kind in args), "")
    return f"{function} ({decisive})" if decisive else function, {"function": function} | args


def _listed(lines: dict[str, int]) -> str:
    return ", ".join(f"{name}:{line}" for name, line in sorted(lines.items(), key=lambda item: item[1]))
