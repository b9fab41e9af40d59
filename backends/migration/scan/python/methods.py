"""Methods and keywords that put something on a GPU."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from backends.migration.scan.files.names import ENVIRONMENT
from backends.migration.scan.python.positions import Span
from backends.migration.scan.python.seen import seen, span_in
from backends.migration.scan.python.uses import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

_INDEX = re.compile(
    r"(?i)_*(?:(?:local|global|node|world|gpu|device|dp|tp|pp|ddp|cur|current|my|this|process|proc|dist|shard)_?)?rank"
    r"|(?:local|cuda|gpu|device|dev|cur|my)_?(?:id|idx|index|no|num)|gpu|gpu_?\d+|devid|gpuid|local_process_index"
)
_LISTS = re.compile(r"(?i)(?:gpus?|devices?|device_?ids?|gpu_?ids?)")
_ASKED = re.compile(r"(?:^|[._])(?:get_)?(?:local_|global_)?rank$")
_PROFILED = frozenset(
    """cuda_time_total self_cuda_time_total cuda_time_total_str self_cuda_time_total_str cuda_memory_usage
    self_cuda_memory_usage""".split()  # noqa: SIM905 - cuda_time is many a project's own
)


def method_places(module: Module) -> Iterator[Place]:
    for call, function in module.calls:
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "cuda" and function is None:
                yield _cuda(call, call.func, module)
            elif call.func.attr in ("to", "to_empty") and function is None and call.args:
                yield from _moved(call, call.args[0], "0", module)
        elif isinstance(call.func, ast.Call) and function is None:
            yield from _got(call, call.func, module)
        if function == "torch.device" and call.args:
            yield from _moved(call, call.args[0], "0", module)
        if call.keywords:
            yield from _keywords(call, function, module)
    for node in module.nodes(ast.Attribute):
        if node.attr == "is_cuda" and isinstance(node.ctx, ast.Load) and module.name_of(node) is None:
            if not _own_attribute(node, module):
                yield seen(module, node, "is_cuda", ".is_cuda", args={"at": _behind(node.value, module)})
        elif node.attr in _PROFILED and isinstance(node.ctx, ast.Load):
            yield seen(module, node, "profiler_cuda", f".{node.attr}", args={"at": _behind(node.value, module)})


def _got(call: ast.Call, getter: ast.Call, module: Module) -> Iterator[Place]:
    """getattr(x, "cuda")()"""
    if module.name_of(getter.func) == "getattr" and len(getter.args) > 1 and module.text_of(getter.args[1]) == "cuda":
        yield seen(module, call, "cuda_method", ".cuda()", "getattr")


def _behind(node: ast.expr, module: Module) -> list[int]:
    """Line and column where the receiver ends and ".cuda" begins."""
    span = module.span(node)
    return [span.end, span.end_column]


def _cuda(call: ast.Call, function: ast.Attribute, module: Module) -> Place:
    args: dict[str, Any] = {"at": _behind(function.value, module)}
    if call.args:
        args["device"] = module.source(call.args[0])[:80]
    for keyword in call.keywords:
        args[keyword.arg or "**"] = module.source(keyword.value)[:80]
    own = _own_class(function.value, module)
    if own:
        args["own"] = own
    return seen(module, call, "cuda_method", ".cuda()", "", args)


def _own_class(receiver: ast.expr, module: Module) -> str:
    """The class of the project that defines this `cuda`; "?" where it may be one of those that do."""
    own = module.own_cuda
    if not own:
        return ""
    made = _made_by(receiver, module)
    if made is None:
        return "?"
    return made if made in own else ""


def _made_by(receiver: ast.expr, module: Module) -> str | None:
    """The name of the class that the receiver was made by, where that is plain."""
    if isinstance(receiver, ast.Call):
        return called(receiver, module).rpartition(".")[2] or None
    if not isinstance(receiver, ast.Name):
        return None
    scope = module.index.scopes[receiver]
    if scope.first == receiver.id and isinstance(scope.outer and scope.outer.node, ast.ClassDef):
        return getattr(scope.outer.node, "name", None) if scope.outer else None
    made = {
        called(binding.value, module).rpartition(".")[2]
        for binding in module.names.bindings(receiver)
        if isinstance(binding.value, ast.Call)
    }
    return made.pop() if len(made) == 1 else None


def _own_attribute(node: ast.Attribute, module: Module) -> bool:
    """self.is_cuda of a class that sets it itself."""
    if not isinstance(node.value, ast.Name):
        return False
    scope = module.index.scopes[node.value]
    owner = scope.owner if scope.first == node.value.id else None
    return owner is not None and node.attr in {*owner.attributes, *owner.bindings}


def _keywords(call: ast.Call, function: str | None, module: Module) -> Iterator[Place]:
    for keyword in call.keywords:
        if keyword.arg == "device_ids" and not _is_none(keyword.value):
            args = {"value": module.source(keyword.value)[:80], "function": called(call, module)}
            yield seen(module, keyword, "ddp_device_ids", "device_ids=", args=args)
        elif keyword.arg in ("device", "map_location"):
            yield from _moved(call, keyword.value, keyword.arg, module)
        elif ENVIRONMENT.match(keyword.arg or ""):
            yield _variable(module, keyword)
        elif (category := _switched(keyword, function)) is not None:
            args = {"value": module.source(keyword.value)[:80]}
            yield seen(module, keyword, category, f"{keyword.arg}=", args=args)


def _switched(keyword: ast.keyword, function: str | None) -> str | None:
    """The category of a keyword that switches something of CUDA on or off."""
    if keyword.arg == "use_cuda" and function is not None and function.startswith("torch.autograd.profiler"):
        return "profiler_cuda"
    if keyword.arg == "use_flash_attention_2" and not _is_false(keyword.value):
        return "attn_impl"
    return None


def _variable(module: Module, keyword: ast.keyword) -> Place:
    """dict(os.environ, CUDA_VISIBLE_DEVICES="0")"""
    name = keyword.arg or ""
    whole = span_in(module, keyword)
    span = Span(whole.line, whole.column, whole.line, whole.column + len(name))
    args = {"operation": "set", "value": module.source(keyword.value)[:80]}
    return seen(module, keyword, "cuda_env", name, "env", args, span=span)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _moved(call: ast.Call, value: ast.expr, which: str, module: Module) -> Iterator[Place]:
    """A device that is a number: .to(rank), device=0."""
    index = _index(value, module)
    if index is None:
        return
    name = called(call, module)
    written = module.source(value)[:80]
    span = _from_method(call, module) if name in (".to", ".to_empty") else span_in(module, value)
    what = f"{name}({written})" if which == "0" else f"{which}={written}"
    context = f"argument:{name}:{which}"
    args = {"index": written, "value": list(span_in(module, value))}
    yield seen(module, value, "device_int", what, context, args, span=span)


def _from_method(call: ast.Call, module: Module) -> Span:
    """Of ".to(rank)" without what it is called on."""
    whole = span_in(module, call)
    if not isinstance(call.func, ast.Attribute):
        return whole
    line, column = _behind(call.func.value, module)
    return Span(line, column, whole.end, whole.end_column)


def _index(value: ast.expr, module: Module) -> str | None:
    if isinstance(value, ast.Constant):
        return str(value.value) if type(value.value) is int else None
    if isinstance(value, ast.Name | ast.Attribute):
        name = value.id if isinstance(value, ast.Name) else value.attr
        return name if _INDEX.fullmatch(name) else None
    if isinstance(value, ast.BinOp):
        return _index(value.left, module) if isinstance(value.op, ast.Mod | ast.Add | ast.Sub) else None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name | ast.Attribute):
        name = value.value.id if isinstance(value.value, ast.Name) else value.value.attr
        return name if _LISTS.fullmatch(name) else None
    return _called_index(value, module) if isinstance(value, ast.Call) else None


def _called_index(value: ast.Call, module: Module) -> str | None:
    name = called(value, module)
    if name == "int" and value.args:
        inside = module.source(value.args[0])
        return inside if "RANK" in inside or _index(value.args[0], module) else None
    return name if _ASKED.search(name) else None
