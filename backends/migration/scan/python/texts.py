"""Devices, back ends, variables and names of the GPU stack that stand in texts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from backends.migration.scan.files.names import ENVIRONMENT
from backends.migration.scan.python.categories import category_of
from backends.migration.scan.python.literals import Template, template
from backends.migration.scan.python.quiet import is_quiet
from backends.migration.scan.python.seen import seen
from backends.migration.scan.python.uses import Use, use_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

_WORTH = re.compile(r"(?i)cuda|nccl|gpu|nvidia|flash|cublas|cudnn|nvte|cu1\d|CUDAExec|tensorrt")
_DEVICE = re.compile(r"cuda(?::(?:[\w{}%().*\[\]+-]*))?")
_BACKEND = re.compile(r"(?i:nccl)|(?:\w+:\w+,)*\w+:nccl(?:,\w+:\w+)*")
_DOTTED = re.compile(r"torch\.[A-Za-z_][\w.]*\w")
_ATTENTION = re.compile(r"(?:kernels-community/)?flash_attention_[23]|flash_attn_[23]|kernels-community/\S*flash\S*")
_INDEX = re.compile(r"(?:--[\w-]+[= ])?https?://\S*?(?:/cu\d{2,3}(?![\w.])|/cu\{\}|pypi\.(?:ngc\.)?nvidia\.com)\S*")
_PROFILED = re.compile(r"self_cuda_time|(?:self_)?cuda_(?:time_total|memory_usage)")
_PROVIDER = re.compile(r"(?:CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider")
_GPU_KEYWORDS = frozenset(("accelerator", "device", "device_type", "map_location"))


def text_places(module: Module) -> Iterator[Place]:
    for node in _texts(module):
        found = template(node)
        if found is None or not _WORTH.search(found.value):
            continue
        category = text_category(found.value)
        if category is None and found.value != "gpu":
            continue
        use = use_of(node, module)
        if use.named or is_quiet(node, module.index):
            continue
        if category is None:
            category = "device_str" if _is_device_of(use) else None
        if category is not None:
            yield _place(module, node, found, category, use)


def _texts(module: Module) -> Iterator[ast.expr]:
    """Every text once, put together as far as the source does it."""
    for kind in (ast.Constant, ast.JoinedStr, ast.BinOp):
        for node in module.nodes(kind):
            if kind is ast.Constant and not isinstance(getattr(node, "value", None), str):
                continue
            if _worth_reading(node) and not _is_part(node, module):
                whole = _whole(node, module)
                yield whole
                if whole is not node and isinstance(node, ast.Constant):
                    yield node  # "cuda".upper() is no device, but made of one


def _worth_reading(node: ast.AST) -> bool:
    """Most texts are done with here."""
    if isinstance(node, ast.Constant):
        return _WORTH.search(str(node.value)) is not None or "%" in str(node.value) or "{" in str(node.value)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))


def _is_part(node: ast.AST, module: Module) -> bool:
    """A part of an f-string, or of a sum of texts that is read as a whole."""
    parent = module.parent(node)
    if isinstance(parent, ast.JoinedStr):
        return True
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        return True
    return isinstance(node, ast.JoinedStr) and isinstance(parent, ast.FormattedValue)


def _whole(node: ast.AST, module: Module) -> ast.expr:
    """With the % or .format() that fills it in."""
    assert isinstance(node, ast.expr)
    parent = module.parent(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.left is node:
        return parent
    if isinstance(parent, ast.Attribute) and parent.attr in ("format", "lower", "upper", "strip"):
        call = module.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent:
            return call
    return node


def text_category(value: str) -> str | None:
    """Of a text as it is once it is put together, {} for what is only known when it runs."""
    if _DEVICE.fullmatch(value) and "nccl" not in value:
        return "device_str"
    if _BACKEND.fullmatch(value):
        return "nccl_str"
    if ENVIRONMENT.match(value):
        return "cuda_env"
    if _DOTTED.fullmatch(value):
        return category_of(value)
    if _ATTENTION.fullmatch(value):
        return "attn_impl"
    if _INDEX.fullmatch(value):
        return "pip_index"
    if _PROFILED.fullmatch(value):
        return "profiler_cuda"
    return "lib_onnxruntime" if _PROVIDER.fullmatch(value) else None


def _is_device_of(use: Use) -> bool:
    """ "gpu" is a device only where a device is asked for."""
    return use.context.startswith("argument:") and use.context.rpartition(":")[2] in _GPU_KEYWORDS


_OPERATIONS = {"getenv": "get", "putenv": "set", "setenv": "set", "unsetenv": "delete", "delenv": "delete"}


def _environment(module: Module, node: ast.expr, use: Use) -> dict[str, str]:
    """What is done with a variable of the environment, and what it is set to."""
    function = use.context.removeprefix("argument:").rpartition(":")[0].rpartition(".")[2]
    operation = use.args.get("operation") or _OPERATIONS.get(function, use.args.get("operator", ""))
    subscript = module.parent(node)
    statement = module.parent(subscript) if subscript is not None else None
    if operation == "set" and isinstance(statement, ast.Assign):
        return {"operation": operation, "value": module.source(statement.value)[:80]}
    return {"operation": operation}


def _place(module: Module, node: ast.expr, found: Template, category: str, use: Use) -> Place:
    args: dict[str, Any] = dict(use.args)
    if found.form != "plain":
        args["form"] = found.form
    if found.holes:
        args["index"] = module.source(found.holes[0])[:80]
    context = use.context
    if category == "cuda_env":
        context, args = "env", {**args, **_environment(module, node, use)}
    return seen(module, node, category, found.value, context, args)
