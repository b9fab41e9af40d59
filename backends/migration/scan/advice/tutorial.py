"""Calls that tutorials show and that no release has: each was looked for in the wheels.

torch_npu 2.13.0, mindstudio-probe 26.2.0, msprof-analyze 26.2.0 and mindspore 2.10.0; tests/contract looks again.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.advice.commands import VARIABLE, wrongs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

ABOUT = re.compile(
    r"ApiProfiler|MSPROBE_PATH|msprobe|msprof-analyze|torch_npu|jit_level|comm_fusion|tuple_to_array|TupleToArray"
)
LAST_NAMES = {"ApiProfiler", "Profiler", "ExperimentalConfig", "get_npu_device"}
JIT = {"mindspore.jit", "mindspore.common.api.jit", "mindspore.common.jit", "mindspore.graph.api.jit"}
FUSED = {"allreduce", "allgather", "reducescatter"}


def places(seen: Seen) -> Iterator[Place]:
    if ABOUT.search(seen.module.text):
        yield from _names(seen)
        yield from _lines(seen)
        for call, name in seen.module.calls:
            yield from _mindspore(seen, call, name)
        for node in seen.each(ast.Constant):
            if node.value == "comm_fusion":
                yield from _entry(seen, node)


def dead(name: str) -> str:
    """The rule of a name that does not exist; empty for one that does."""
    package, _, last = name.rpartition(".")
    if last == "ApiProfiler" and package.startswith("msprobe"):
        return "tutorial.api_profiler"
    if package in ("torch_npu.profiler", "torch_npu.profiler.profiler"):
        return {"Profiler": "tutorial.npu_profiler", "ExperimentalConfig": "tutorial.experimental_config"}.get(last, "")
    if last == "get_npu_device" and package in ("torch_npu", "torch_npu.contrib", "torch_npu.contrib.transfer_to_npu"):
        return "tutorial.get_npu_device"
    return ""


def _names(seen: Seen) -> Iterator[Place]:
    for imported in seen.each(ast.ImportFrom):
        for alias in imported.names:
            yield from _dead(seen, alias, f"{imported.module}.{alias.name}")
    for attribute in seen.each(ast.Attribute):
        if attribute.attr in LAST_NAMES:
            yield from _dead(seen, attribute, seen.name_of(attribute))
    for call, name in seen.module.calls:
        yield from _dead(seen, call.func, name)


def _dead(seen: Seen, node: ast.AST, name: str | None) -> Iterator[Place]:
    if name and (rule := dead(name)):
        yield from seen.place(node, rule, name)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _lines(seen: Seen) -> Iterator[Place]:
    """Command lines in strings, and in lists of words for subprocess."""
    for node in seen.each(ast.Constant):
        if isinstance(node.value, str) and not seen.module.quiet(node):
            yield from _line(seen, node, node.value)
            listed = seen.module.parent(node)
            if isinstance(listed, ast.List) and listed.elts[0] is node:
                yield from _line(seen, listed, " ".join(_word(one) for one in listed.elts))


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "..."


def _line(seen: Seen, node: ast.expr, text: str) -> Iterator[Place]:
    if text == VARIABLE:
        yield from seen.place(node, "tutorial.msprobe_path", VARIABLE)
    elif "msprobe" in text or "msprof-analyze" in text or VARIABLE in text:
        for wrong in wrongs(text):
            yield from seen.place(node, wrong.rule, wrong.name)


def _mindspore(seen: Seen, call: ast.Call, name: str | None) -> Iterator[Place]:
    if name in JIT:
        for keyword in call.keywords:
            if keyword.arg == "jit_level" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "O2":
                yield from seen.place(keyword, "tutorial.jit_level", "mindspore.jit")
    elif _is_fusion(call):
        yield from _fusion(seen, call)
    elif _is_tuple_to_array(seen, call, name) and _holds_gradients(seen, call.args[0]):
        yield from seen.place(call, "tutorial.tuple_to_array", "mindspore.ops.tuple_to_array")


def _holds_gradients(seen: Seen, node: ast.expr) -> bool:
    """By its name, or by that of what it was computed with: `g = grad_fn(x)`."""
    bound = seen.module.names.bindings(node) if isinstance(node, ast.Name) else []
    made = [one.value for one in bound if isinstance(one.value, ast.Call)]
    return any("grad" in seen.module.source(one).lower() for one in (node, *(call.func for call in made)))


def _is_fusion(call: ast.Call) -> bool:
    return _last(call.func) == "comm_fusion" or any(keyword.arg == "comm_fusion" for keyword in call.keywords)


def _fusion(seen: Seen, call: ast.Call) -> Iterator[Place]:
    """{"allreduce": 8}: each value has to be a dictionary of "mode" and "config"."""
    given = [keyword.value for keyword in call.keywords if keyword.arg in ("comm_fusion", "config")]
    for value in (*given, *call.args[:1]):
        yield from _table(seen, value)


def _entry(seen: Seen, key: ast.Constant) -> Iterator[Place]:
    """{"comm_fusion": {"allreduce": 8}}"""
    options = seen.module.parent(key)
    if isinstance(options, ast.Dict) and key in options.keys:
        yield from _table(seen, options.values[options.keys.index(key)])


def _table(seen: Seen, value: ast.expr) -> Iterator[Place]:
    tables = [one.value for one in seen.module.names.bindings(value)] if isinstance(value, ast.Name) else [value]
    if any(isinstance(table, ast.Dict) and any(map(_is_flat, table.keys, table.values)) for table in tables):
        yield from seen.place(value, "tutorial.comm_fusion", "mindspore.set_auto_parallel_context")


def _is_flat(key: ast.expr | None, value: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value in FUSED and isinstance(value, ast.Constant)


def _is_tuple_to_array(seen: Seen, call: ast.Call, name: str | None) -> bool:
    if isinstance(call.func, ast.Call):
        name = seen.name_of(call.func.func)
    return (
        bool(call.args)
        and (name or "").startswith("mindspore")
        and (name or "").endswith((".tuple_to_array", ".TupleToArray"))
    )
