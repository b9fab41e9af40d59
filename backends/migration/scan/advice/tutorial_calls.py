"""Calls that tutorials show and that no release has: each was looked for in the wheels.

torch_npu 2.13.0, mindstudio-probe 26.2.0, msprof-analyze 26.2.0 and mindspore 2.10.0; tests/contract looks again.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.advice.tutorial_commands import VARIABLE, find_mistaken_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView

MENTIONS_TOOLS = re.compile(
    r"ApiProfiler|MSPROBE_PATH|msprobe|msprof-analyze|torch_npu|jit_level|comm_fusion|tuple_to_array|TupleToArray|JitConfig"
)
LAST_NAMES = {"ApiProfiler", "Profiler", "ExperimentalConfig", "get_npu_device"}
JIT = {"mindspore.jit", "mindspore.common.api.jit", "mindspore.common.jit", "mindspore.graph.api.jit"}
SET_CONTEXT = {"mindspore.set_context", "mindspore.context.set_context"}
JIT_CONFIGS = {"mindspore.JitConfig", "mindspore.common.JitConfig", "mindspore.common.jit_config.JitConfig"}
FUSED = {"allreduce", "allgather", "reducescatter"}


def advise_tutorial_calls(view: ModuleView) -> Iterator[Occurrence]:
    if MENTIONS_TOOLS.search(view.module.text):
        yield from _advise_names(view)
        yield from _advise_command_texts(view)
        for call, name in view.module.calls:
            yield from _advise_mindspore(view, call, name)
        for node in view.nodes(ast.Constant):
            if node.value == "comm_fusion":
                yield from _advise_fusion_entry(view, node)


def nonexistent_rule(name: str) -> str:
    """The rule of a name that does not exist; empty for one that does."""
    package, _, last = name.rpartition(".")
    if last == "ApiProfiler" and package.startswith("msprobe"):
        return "tutorial.api_profiler"
    if package in ("torch_npu.profiler", "torch_npu.profiler.profiler"):
        return {"Profiler": "tutorial.npu_profiler", "ExperimentalConfig": "tutorial.experimental_config"}.get(last, "")
    if last == "get_npu_device" and package in ("torch_npu", "torch_npu.contrib", "torch_npu.contrib.transfer_to_npu"):
        return "tutorial.get_npu_device"
    return ""


def _advise_names(view: ModuleView) -> Iterator[Occurrence]:
    for imported in view.nodes(ast.ImportFrom):
        for alias in imported.names:
            yield from _advise_nonexistent(view, alias, f"{imported.module}.{alias.name}")
    for attribute in view.nodes(ast.Attribute):
        if attribute.attr in LAST_NAMES:
            yield from _advise_nonexistent(view, attribute, view.name_of(attribute))
    for call, name in view.module.calls:
        yield from _advise_nonexistent(view, call.func, name)


def _advise_nonexistent(view: ModuleView, node: ast.AST, name: str | None) -> Iterator[Occurrence]:
    if name and (rule := nonexistent_rule(name)):
        yield from view.advise(node, rule, name)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _advise_command_texts(view: ModuleView) -> Iterator[Occurrence]:
    """Command lines in strings, and in lists of words for subprocess."""
    for node in view.nodes(ast.Constant):
        if isinstance(node.value, str) and not view.module.is_message(node):
            yield from _advise_command_text(view, node, node.value)
            parent = view.module.parent(node)
            if isinstance(parent, ast.List) and parent.elts[0] is node:
                yield from _advise_command_text(view, parent, " ".join(_word(element) for element in parent.elts))


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "..."


def _advise_command_text(view: ModuleView, node: ast.expr, text: str) -> Iterator[Occurrence]:
    if text == VARIABLE:
        yield from view.advise(node, "tutorial.msprobe_path", VARIABLE)
    elif "msprobe" in text or "msprof-analyze" in text or VARIABLE in text:
        for mistake in find_mistaken_calls(text):
            yield from view.advise(node, mistake.rule, mistake.name)


def _advise_mindspore(view: ModuleView, call: ast.Call, name: str | None) -> Iterator[Occurrence]:
    if name in JIT:
        for keyword in call.keywords:
            if keyword.arg == "jit_level" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "O2":
                yield from view.advise(keyword, "tutorial.jit_level", "mindspore.jit")
    elif name in JIT_CONFIGS or name in SET_CONTEXT:
        yield from _advise_jit_config(view, call)
    elif _is_fusion(call):
        yield from _advise_fusion(view, call)
    elif _is_tuple_to_array(view, call, name) and _holds_gradients(view, call.args[0]):
        yield from view.advise(call, "tutorial.tuple_to_array", "mindspore.ops.tuple_to_array")


def _advise_jit_config(view: ModuleView, call: ast.Call) -> Iterator[Occurrence]:
    """JitConfig(jit_level="O2"), JitConfig("O2") and set_context(jit_config={"jit_level": "O2"})."""
    for keyword in call.keywords:
        if keyword.arg == "jit_level" and _is_level_2(keyword.value):
            yield from view.advise(keyword, "tutorial.jit_config_level", "mindspore.JitConfig")
        elif keyword.arg == "jit_config" and isinstance(keyword.value, ast.Dict):
            pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
            if any(
                isinstance(key, ast.Constant) and key.value == "jit_level" and _is_level_2(value)
                for key, value in pairs
            ):
                yield from view.advise(keyword, "tutorial.jit_config_level", "mindspore.set_context")
    if call.args and _is_level_2(call.args[0]):
        yield from view.advise(call.args[0], "tutorial.jit_config_level", "mindspore.JitConfig")


def _is_level_2(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "O2"


def _holds_gradients(view: ModuleView, node: ast.expr) -> bool:
    """Whether its name, or that of the function that computed it (`g = grad_fn(x)`), speaks of gradients."""
    bindings = view.module.names.bindings(node) if isinstance(node, ast.Name) else []
    calls = [expression.value for expression in bindings if isinstance(expression.value, ast.Call)]
    return any(
        "grad" in view.module.source(expression).lower() for expression in (node, *(call.func for call in calls))
    )


def _is_fusion(call: ast.Call) -> bool:
    return _last_name(call.func) == "comm_fusion" or any(keyword.arg == "comm_fusion" for keyword in call.keywords)


def _advise_fusion(view: ModuleView, call: ast.Call) -> Iterator[Occurrence]:
    """{"allreduce": 8}: each value has to be a dictionary of "mode" and "config"."""
    values = [keyword.value for keyword in call.keywords if keyword.arg in ("comm_fusion", "config")]
    for value in (*values, *call.args[:1]):
        yield from _advise_fusion_table(view, value)


def _advise_fusion_entry(view: ModuleView, key: ast.Constant) -> Iterator[Occurrence]:
    """{"comm_fusion": {"allreduce": 8}}"""
    options = view.module.parent(key)
    if isinstance(options, ast.Dict) and key in options.keys:
        yield from _advise_fusion_table(view, options.values[options.keys.index(key)])


def _advise_fusion_table(view: ModuleView, value: ast.expr) -> Iterator[Occurrence]:
    tables = (
        [binding.value for binding in view.module.names.bindings(value)] if isinstance(value, ast.Name) else [value]
    )
    if any(isinstance(table, ast.Dict) and any(map(_is_flat, table.keys, table.values)) for table in tables):
        yield from view.advise(value, "tutorial.comm_fusion", "mindspore.set_auto_parallel_context")


def _is_flat(key: ast.expr | None, value: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value in FUSED and isinstance(value, ast.Constant)


def _is_tuple_to_array(view: ModuleView, call: ast.Call, name: str | None) -> bool:
    if isinstance(call.func, ast.Call):
        name = view.name_of(call.func.func)
    return (
        bool(call.args)
        and (name or "").startswith("mindspore")
        and (name or "").endswith((".tuple_to_array", ".TupleToArray"))
    )
