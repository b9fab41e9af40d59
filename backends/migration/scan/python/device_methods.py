"""Methods and keywords that put something on a GPU."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from backends.migration.scan.files.gpu_names import ENVIRONMENT
from backends.migration.scan.python.occurrences import make_occurrence, visible_span
from backends.migration.scan.python.positions import Span
from backends.migration.scan.python.text_uses import called_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

_INDEX = re.compile(
    r"(?i)_*(?:(?:local|global|node|world|gpu|device|dp|tp|pp|ddp|cur|current|my|this|process|proc|dist|shard)_?)?rank"
    r"|(?:local|cuda|gpu|device|dev|cur|my)_?(?:id|idx|index|no|num)|gpu|gpu_?\d+|devid|gpuid|local_process_index"
)
_LISTS = re.compile(r"(?i)(?:gpus?|devices?|device_?ids?|gpu_?ids?)")
_RANK_CALL = re.compile(r"(?:^|[._])(?:get_)?(?:local_|global_)?rank$")
_XFORMERS = frozenset(
    ("enable_xformers_memory_efficient_attention", "set_use_memory_efficient_attention_xformers")
)  # fmt: skip
"""Methods of diffusers."""
_PROFILER_COLUMNS = frozenset(
    """cuda_time_total self_cuda_time_total cuda_time_total_str self_cuda_time_total_str cuda_memory_usage
    self_cuda_memory_usage""".split()  # noqa: SIM905 - cuda_time is many a project's own
)


def scan_device_methods(module: Module) -> Iterator[Occurrence]:
    for call, function in module.calls:
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "cuda" and function is None:
                yield _cuda_call(call, call.func, module)
            elif call.func.attr in _XFORMERS and function is None:
                yield make_occurrence(module, call, "lib_xformers", f".{call.func.attr}()")
            elif call.func.attr in ("to", "to_empty") and function is None and call.args:
                yield from _device_index(call, call.args[0], "0", module)
        elif isinstance(call.func, ast.Call) and function is None:
            yield from _getattr_call(call, call.func, module)
        if function == "torch.device" and call.args:
            yield from _device_index(call, call.args[0], "0", module)
        if call.keywords:
            yield from _scan_keywords(call, function, module)
    for node in module.nodes(ast.Attribute):
        if node.attr == "is_cuda" and isinstance(node.ctx, ast.Load) and module.name_of(node) is None:
            if not _own_attribute(node, module):
                yield make_occurrence(
                    module, node, "is_cuda", ".is_cuda", args={"at": _receiver_end(node.value, module)}
                )
        elif node.attr in _PROFILER_COLUMNS and isinstance(node.ctx, ast.Load):
            yield make_occurrence(
                module, node, "profiler_cuda", f".{node.attr}", args={"at": _receiver_end(node.value, module)}
            )


def _getattr_call(call: ast.Call, getter: ast.Call, module: Module) -> Iterator[Occurrence]:
    """getattr(x, "cuda")()"""
    if module.name_of(getter.func) == "getattr" and len(getter.args) > 1 and module.text_of(getter.args[1]) == "cuda":
        yield make_occurrence(module, call, "cuda_method", ".cuda()", "getattr")


def _receiver_end(node: ast.expr, module: Module) -> list[int]:
    """Line and column where the receiver ends and ".cuda" begins."""
    span = module.span(node)
    return [span.end, span.end_column]


def _cuda_call(call: ast.Call, function: ast.Attribute, module: Module) -> Occurrence:
    args: dict[str, Any] = {"at": _receiver_end(function.value, module)}
    if call.args:
        args["device"] = module.source(call.args[0])[:80]
    for keyword in call.keywords:
        args[keyword.arg or "**"] = module.source(keyword.value)[:80]
    own = _own_class(function.value, module)
    if own:
        args["own"] = own
    return make_occurrence(module, call, "cuda_method", ".cuda()", "", args)


def _own_class(receiver: ast.expr, module: Module) -> str:
    """The class of the project that defines this `cuda`; "?" where it may be one of those that do."""
    own = module.own_cuda
    if not own:
        return ""
    class_name = _class_of(receiver, module)
    if class_name is None:
        return "?"
    return class_name if class_name in own else ""


def _class_of(receiver: ast.expr, module: Module) -> str | None:
    """Return the class that the receiver is an instance of, where that is plain."""
    if isinstance(receiver, ast.Call):
        return called_name(receiver, module).rpartition(".")[2] or None
    if not isinstance(receiver, ast.Name):
        return None
    scope = module.index.scopes[receiver]
    if scope.first == receiver.id and isinstance(scope.outer and scope.outer.node, ast.ClassDef):
        return getattr(scope.outer.node, "name", None) if scope.outer else None
    class_names = {
        called_name(binding.value, module).rpartition(".")[2]
        for binding in module.names.bindings(receiver)
        if isinstance(binding.value, ast.Call)
    }
    return class_names.pop() if len(class_names) == 1 else None


def _own_attribute(node: ast.Attribute, module: Module) -> bool:
    """self.is_cuda of a class that sets it itself."""
    if not isinstance(node.value, ast.Name):
        return False
    scope = module.index.scopes[node.value]
    owner = scope.owner if scope.first == node.value.id else None
    return owner is not None and node.attr in {*owner.attributes, *owner.bindings}


def _scan_keywords(call: ast.Call, function: str | None, module: Module) -> Iterator[Occurrence]:
    for keyword in call.keywords:
        if keyword.arg == "device_ids" and not _is_none(keyword.value):
            args = {"value": module.source(keyword.value)[:80], "function": called_name(call, module)}
            yield make_occurrence(module, keyword, "ddp_device_ids", "device_ids=", args=args)
        elif keyword.arg in ("device", "map_location"):
            yield from _device_index(call, keyword.value, keyword.arg, module)
        elif ENVIRONMENT.match(keyword.arg or ""):
            yield _environment_keyword(module, keyword)
        elif (category := _switch_category(keyword, function)) is not None:
            args = {"value": module.source(keyword.value)[:80]}
            yield make_occurrence(module, keyword, category, f"{keyword.arg}=", args=args)


def _switch_category(keyword: ast.keyword, function: str | None) -> str | None:
    """The category of a keyword that switches something of CUDA on or off."""
    if keyword.arg == "use_cuda" and function is not None and function.startswith("torch.autograd.profiler"):
        return "profiler_cuda"
    if keyword.arg == "use_flash_attention_2" and not _is_false(keyword.value):
        return "attn_impl"
    if keyword.arg in ("load_in_4bit", "load_in_8bit") and not _is_false(keyword.value):
        return "lib_bitsandbytes"
    return None


def _environment_keyword(module: Module, keyword: ast.keyword) -> Occurrence:
    """dict(os.environ, CUDA_VISIBLE_DEVICES="0")"""
    name = keyword.arg or ""
    whole = visible_span(module, keyword)
    span = Span(whole.line, whole.column, whole.line, whole.column + len(name))
    args = {"operation": "set", "value": module.source(keyword.value)[:80]}
    return make_occurrence(module, keyword, "cuda_env", name, "env", args, span=span)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _device_index(call: ast.Call, value: ast.expr, argument: str, module: Module) -> Iterator[Occurrence]:
    """A device that is a number: .to(rank), device=0."""
    index = _index_name(value, module)
    if index is None:
        return
    name = called_name(call, module)
    index_source = module.source(value)[:80]
    span = _method_span(call, module) if name in (".to", ".to_empty") else visible_span(module, value)
    name_of_use = f"{name}({index_source})" if argument == "0" else f"{argument}={index_source}"
    context = f"argument:{name}:{argument}"
    args = {"index": index_source, "value": list(visible_span(module, value))}
    yield make_occurrence(module, value, "device_int", name_of_use, context, args, span=span)


def _method_span(call: ast.Call, module: Module) -> Span:
    """Return the span of ".to(rank)" without its receiver."""
    whole = visible_span(module, call)
    if not isinstance(call.func, ast.Attribute):
        return whole
    line, column = _receiver_end(call.func.value, module)
    return Span(line, column, whole.end, whole.end_column)


def _index_name(value: ast.expr, module: Module) -> str | None:
    if isinstance(value, ast.Constant):
        return str(value.value) if type(value.value) is int else None
    if isinstance(value, ast.Name | ast.Attribute):
        name = value.id if isinstance(value, ast.Name) else value.attr
        return name if _INDEX.fullmatch(name) else None
    if isinstance(value, ast.BinOp):
        return _index_name(value.left, module) if isinstance(value.op, ast.Mod | ast.Add | ast.Sub) else None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name | ast.Attribute):
        name = value.value.id if isinstance(value.value, ast.Name) else value.value.attr
        return name if _LISTS.fullmatch(name) else None
    return _index_call(value, module) if isinstance(value, ast.Call) else None


def _index_call(value: ast.Call, module: Module) -> str | None:
    name = called_name(value, module)
    if name == "int" and value.args:
        inside = module.source(value.args[0])
        return inside if "RANK" in inside or _index_name(value.args[0], module) else None
    return name if _RANK_CALL.search(name) else None
