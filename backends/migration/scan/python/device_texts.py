"""Devices, backends, environment variables and names of the GPU stack in string literals."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from backends.migration.scan.files.gpu_names import BITSANDBYTES_OPTIMIZER, ENVIRONMENT
from backends.migration.scan.python.categories import api_category
from backends.migration.scan.python.message_texts import is_message_text
from backends.migration.scan.python.occurrences import make_occurrence
from backends.migration.scan.python.text_templates import Template, text_template
from backends.migration.scan.python.text_uses import TextUse, text_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

_MENTIONS = re.compile(r"(?i)cuda|nccl|gpu|nvidia|flash|cublas|cudnn|nvte|cu1\d|CUDAExec|tensorrt|_8bit|_32bit|_bnb")
_DEVICE = re.compile(r"cuda(?::(?:[\w{}%().*\[\]+-]*))?")
_BACKEND = re.compile(r"(?i:nccl)|(?:\w+:\w+,)*\w+:nccl(?:,\w+:\w+)*")
_DOTTED = re.compile(r"torch\.[A-Za-z_][\w.]*\w")
_ATTENTION = re.compile(r"(?:kernels-community/)?flash_attention_[23]|flash_attn_[23]|kernels-community/\S*flash\S*")
_INDEX = re.compile(r"(?:--[\w-]+[= ])?https?://\S*?(?:/cu\d{2,3}(?![\w.])|/cu\{\}|pypi\.(?:ngc\.)?nvidia\.com)\S*")
_PROFILED = re.compile(r"self_cuda_time|(?:self_)?cuda_(?:time_total|memory_usage)")
_PROVIDER = re.compile(r"(?:CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider")
_GPU_KEYWORDS = frozenset(("accelerator", "device", "device_type", "map_location"))


def scan_texts(module: Module) -> Iterator[Occurrence]:
    for node in _whole_texts(module):
        text = text_template(node)
        if text is None or not _MENTIONS.search(text.value):
            continue
        category = text_category(text.value)
        if category is None and text.value != "gpu":
            continue
        use = text_use(node, module)
        if use.is_name or is_message_text(node, module.index):
            continue
        if category is None:
            category = "device_str" if _expects_device(use) else None
        if category is not None:
            yield _text_occurrence(module, node, text, category, use)


def _whole_texts(module: Module) -> Iterator[ast.expr]:
    """Every text once, put together as far as the source does it."""
    for kind in (ast.Constant, ast.JoinedStr, ast.BinOp):
        for node in module.nodes(kind):
            if kind is ast.Constant and not isinstance(getattr(node, "value", None), str):
                continue
            if _may_name_device(node) and not _is_part_of_text(node, module):
                whole = _filled_in(node, module)
                yield whole
                if whole is not node and isinstance(node, ast.Constant):
                    yield node  # "cuda".upper() is no device, but made of one


def _may_name_device(node: ast.AST) -> bool:
    """Most texts are done with here."""
    if isinstance(node, ast.Constant):
        return _MENTIONS.search(str(node.value)) is not None or "%" in str(node.value) or "{" in str(node.value)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))


def _is_part_of_text(node: ast.AST, module: Module) -> bool:
    """A part of an f-string, or of a sum of texts that is read as a whole."""
    parent = module.parent(node)
    if isinstance(parent, ast.JoinedStr):
        return True
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        return True
    return isinstance(node, ast.JoinedStr) and isinstance(parent, ast.FormattedValue)


def _filled_in(node: ast.AST, module: Module) -> ast.expr:
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
    """Return the category of a complete text, with {} for what is only known at run time."""
    if _DEVICE.fullmatch(value) and "nccl" not in value:
        return "device_str"
    if _BACKEND.fullmatch(value):
        return "nccl_str"
    if ENVIRONMENT.match(value):
        return "cuda_env"
    if _DOTTED.fullmatch(value):
        return api_category(value)
    if _ATTENTION.fullmatch(value):
        return "attn_impl"
    if _INDEX.fullmatch(value):
        return "pip_index"
    if _PROFILED.fullmatch(value):
        return "profiler_cuda"
    if BITSANDBYTES_OPTIMIZER.fullmatch(value):
        return "lib_bitsandbytes"
    return "lib_onnxruntime" if _PROVIDER.fullmatch(value) else None


def _expects_device(use: TextUse) -> bool:
    """ "gpu" is a device only where a device is asked for."""
    return use.context.startswith("argument:") and use.context.rpartition(":")[2] in _GPU_KEYWORDS


_OPERATIONS = {"getenv": "get", "putenv": "set", "setenv": "set", "unsetenv": "delete", "delenv": "delete"}


def _environment_args(module: Module, node: ast.expr, use: TextUse) -> dict[str, str]:
    """What is done with a variable of the environment, and what it is set to."""
    function = use.context.removeprefix("argument:").rpartition(":")[0].rpartition(".")[2]
    operation = use.args.get("operation") or _OPERATIONS.get(function, use.args.get("operator", ""))
    subscript = module.parent(node)
    statement = module.parent(subscript) if subscript is not None else None
    if operation == "set" and isinstance(statement, ast.Assign):
        return {"operation": operation, "value": module.source(statement.value)[:80]}
    return {"operation": operation}


def _text_occurrence(module: Module, node: ast.expr, text: Template, category: str, use: TextUse) -> Occurrence:
    args: dict[str, Any] = dict(use.args)
    if text.form != "plain":
        args["form"] = text.form
    if text.holes:
        args["index"] = module.source(text.holes[0])[:80]
    context = use.context
    if category == "cuda_env":
        context, args = "env", {**args, **_environment_args(module, node, use)}
    return make_occurrence(module, node, category, text.value, context, args)
