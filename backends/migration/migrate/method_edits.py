"""Edits of tensor and module methods: .cuda(), .is_cuda, and devices given by a number."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import TYPE_CHECKING

from backends.migration.migrate import name_edits
from backends.migration.migrate.draft import DEVICE_TYPE, Draft

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.prelude import PreludeNames
    from backends.migration.migrate.syntax_tree import SyntaxTree

_NUMBER = re.compile(
    r"(?:^|_)(?:rank|gpus?|gpu_?id|dev_?id|device_?(?:id|index)|idx|index|id|ordinal|i|n)\d*$", re.IGNORECASE
)
_NUMBERS = re.compile(r"(?:gpu|device|rank)_?(?:id|rank)?s?$", re.IGNORECASE)
_CALLS = (
    "int",
    "get_rank",
    "get_local_rank",
    "get_node_local_rank",
    "current_device",
    "get_device",
    "len",
    "min",
    "max",
)
_ARGUMENTS = ("device", "map_location")


def is_device_number(node: ast.expr) -> bool:
    """Tell by its name whether an expression is a device number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    if isinstance(node, ast.Call):
        return _last_word(node.func) in _CALLS
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Add | ast.Sub) and is_device_number(node.left)
    if isinstance(node, ast.Subscript):
        return bool(_NUMBERS.search(_last_word(node.value)))
    return bool(_NUMBER.search(_last_word(node)))


def _last_word(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def edit_device_number(tree: SyntaxTree, node: ast.expr, prelude: PreludeNames) -> list[Draft]:
    """Turn a device number into a device; a None at run time still means the current device."""
    begin, end = tree.span(node)
    kind, raw = prelude.device_type, tree.text(node)
    if isinstance(node, ast.Constant):
        return [Draft(begin=begin, end=end, text=f'f"{{{kind}}}:{raw}"', needs=DEVICE_TYPE)]
    head = Draft(begin=begin, end=begin, text=f"{prelude.torch}.device({kind}, ", needs=DEVICE_TYPE)
    return [head, Draft(begin=end, end=end, text=")")]


def edit_cuda_method(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Turn `x.cuda()` into `x.to(…)`. Classes with a `cuda` of their own keep it; where the receiver may be one of
    them, the edit is only offered."""
    own = finding.args.get("own", "")
    if own not in ("", "?"):
        return []
    calls = [call for call in tree.nodes_inside(finding, ast.Call) if getattr(call.func, "attr", "") == "cuda"]
    if not calls:
        around = tree.node_around(finding, ast.Call)
        calls = [around] if around and getattr(around.func, "attr", "") == "cuda" else []
    edits: list[Draft] = []
    for call in calls[:1] if finding.column != finding.end_column or finding.line != finding.end else calls:
        edited = _edit_cuda_call(tree, call, prelude)
        if edited is None:
            return None
        edits.extend(edited)
    is_offered = own == "?" and "non_blocking" not in finding.args
    return [dataclasses.replace(edit, offered=is_offered) for edit in edits] or None


def _edit_cuda_call(tree: SyntaxTree, call: ast.Call, prelude: PreludeNames) -> list[Draft] | None:
    function = call.func
    assert isinstance(function, ast.Attribute)
    end = tree.span(function)[1]
    receiver = function.value
    is_super = isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super"
    if is_super or tree.source.text[end - 4 : end] != "cuda" or len(call.args) > 2:
        return None
    if not name_edits.is_as_written(tree, call):
        return None
    if (function_of_storage := _function_of_storage(tree, call)) is not None:
        return _edit_map_location(tree, function_of_storage, call, prelude)
    rest = _edit_arguments(tree, call, prelude)
    return None if rest is None else [Draft(begin=end - 4, end=end, text="to"), *rest]


def _function_of_storage(tree: SyntaxTree, call: ast.Call) -> ast.Lambda | ast.FunctionDef | None:
    """Return the function of a storage and its location that `map_location` takes, where the call is on the storage:
    the `to` of a storage takes a device by keyword alone."""
    receiver = getattr(call.func, "value", None)
    functions = (node for node in tree.ancestors(call) if isinstance(node, ast.Lambda | ast.FunctionDef))
    function = next(functions, None)
    if function is None or len(function.args.args) != 2 or not isinstance(receiver, ast.Name):
        return None
    is_storage = receiver.id == function.args.args[0].arg
    return function if is_storage and _is_map_location(tree, function, receiver.id) else None


def _is_map_location(tree: SyntaxTree, function: ast.Lambda | ast.FunctionDef, parameter: str) -> bool:
    parent = tree.parent(function)
    if "storage" in parameter or (isinstance(parent, ast.keyword) and parent.arg == "map_location"):
        return True
    name = getattr(function, "name", None) or getattr(next(iter(getattr(parent, "targets", ())), None), "id", None)
    keywords = (node for node in ast.walk(tree.module) if isinstance(node, ast.keyword) and node.arg == "map_location")
    return any(getattr(keyword.value, "id", None) == name for keyword in keywords if name)


def _edit_map_location(
    tree: SyntaxTree, function: ast.Lambda | ast.FunctionDef, call: ast.Call, prelude: PreludeNames
) -> list[Draft] | None:
    """Replace `lambda storage, location: storage.cuda(rank)` by the device: that is where it moves every storage."""
    parent = tree.parent(function)
    if not isinstance(function, ast.Lambda) or function.body is not call or call.keywords or len(call.args) > 1:
        return None
    is_argument = isinstance(parent, ast.keyword) and parent.arg == "map_location"
    uses = {node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)}
    if not is_argument or uses.intersection(argument.arg for argument in function.args.args):
        return None
    begin, end = tree.span(function)
    if not call.args:
        return [Draft(begin=begin, end=end, text=prelude.device_type, needs=DEVICE_TYPE)]
    text = f"{prelude.torch}.device({prelude.device_type}, {tree.text(call.args[0])})"
    is_number = is_device_number(call.args[0])
    return [Draft(begin=begin, end=end, text=text, needs=DEVICE_TYPE)] if is_number else None


def _edit_arguments(tree: SyntaxTree, call: ast.Call, prelude: PreludeNames) -> list[Draft] | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        return None
    extra = [_non_blocking(tree, call.args[1])] if len(call.args) == 2 else []
    device = (
        call.args[0]
        if call.args
        else next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
    )
    if device is None:
        return name_edits.insert_first_argument(tree, call, prelude.device_type, DEVICE_TYPE)
    if isinstance(device, ast.Constant) and device.value is None:
        begin, end = tree.span(device)
        return [Draft(begin=begin, end=end, text=prelude.device_type, needs=DEVICE_TYPE), *extra]
    if isinstance(device, ast.Constant) and isinstance(device.value, bool):
        return None
    return [*(edit_device_number(tree, device, prelude) if is_device_number(device) else []), *extra]


def _non_blocking(tree: SyntaxTree, argument: ast.expr) -> Draft:
    begin = tree.span(argument)[0]
    return Draft(begin=begin, end=begin, text="non_blocking=")


def edit_is_cuda(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Turn `x.is_cuda` into a comparison of its device's type."""
    reads = [node for node in tree.nodes_inside(finding, ast.Attribute) if node.attr == "is_cuda"]
    if not reads or _is_stored(tree):
        return None
    edits = []
    for node in reads[:1] if finding.column != finding.end_column or finding.line != finding.end else reads:
        begin, end = tree.span(node)
        if tree.source.text[end - 7 : end] != "is_cuda":
            return None
        bare = _needs_no_parentheses(tree.parent(node))
        edits.append(Draft(begin=end - 7, end=end, text=f"device.type == {prelude.device_type}", needs=DEVICE_TYPE))
        if not bare:
            edits.append(Draft(begin=begin, end=begin, text="("))
            edits.append(Draft(begin=end, end=end, text=")"))
    return edits


def _needs_no_parentheses(parent: ast.AST) -> bool:
    kinds = (ast.stmt, ast.BoolOp, ast.IfExp, ast.keyword, ast.Call, ast.List, ast.Tuple, ast.Dict, ast.comprehension)
    return isinstance(parent, kinds) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))


def _is_stored(tree: SyntaxTree) -> bool:
    """Tell whether the file defines or assigns an is_cuda of its own."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "is_cuda" and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.FunctionDef) and node.name == "is_cuda")
        for node in ast.walk(tree.module)
    )


def edit_device_arguments(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Edit device numbers in `.to(rank)`, `device=rank` and the like."""
    edits: list[Draft] = []
    calls = tree.nodes_inside(finding, ast.Call) or [call for call in (tree.node_around(finding, ast.Call),) if call]
    for call in calls:
        devices = [keyword.value for keyword in call.keywords if keyword.arg in _ARGUMENTS]
        if getattr(call.func, "attr", "") in ("to", "to_empty") and call.args:
            devices.append(call.args[0])
        for device in devices:
            if is_device_number(device) and name_edits.is_as_written(tree, device):
                edits.extend(edit_device_number(tree, device, prelude))
        if edits:
            break
    return edits or None
