"""Edits of what is asked of tensors and modules: .cuda(), .is_cuda, and devices given by a number."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import TYPE_CHECKING

from backends.migration.migrate import names
from backends.migration.migrate.draft import DEVICE_TYPE, Draft

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.prelude import Prelude
    from backends.migration.migrate.tree import Tree

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


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a device's number, by what it is called."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    if isinstance(node, ast.Call):
        return _last_word(node.func) in _CALLS
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Add | ast.Sub) and is_number(node.left)
    if isinstance(node, ast.Subscript):
        return bool(_NUMBERS.search(_last_word(node.value)))
    return bool(_NUMBER.search(_last_word(node)))


def _last_word(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def device_of(tree: Tree, node: ast.expr, prelude: Prelude) -> list[Draft]:
    """A device's number as a device; None in it stays the current one."""
    begin, end = tree.span(node)
    kind, raw = prelude.device_type, tree.text(node)
    if isinstance(node, ast.Constant):
        return [Draft(begin=begin, end=end, text=f'f"{{{kind}}}:{raw}"', needs=DEVICE_TYPE)]
    head = Draft(begin=begin, end=begin, text=f"{prelude.torch}.device({kind}, ", needs=DEVICE_TYPE)
    return [head, Draft(begin=end, end=end, text=")")]


def cuda_method(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """`x.cuda()` as `x.to(…)`. Classes that have a `cuda` of their own keep it; where the receiver may be one of them,
    the edit is only offered."""
    own = found.args.get("own", "")
    if own not in ("", "?"):
        return []
    calls = [one for one in tree.inside(found, ast.Call) if getattr(one.func, "attr", "") == "cuda"]
    if not calls:
        around = tree.around(found, ast.Call)
        calls = [around] if around and getattr(around.func, "attr", "") == "cuda" else []
    edits: list[Draft] = []
    for call in calls[:1] if found.column != found.end_column or found.line != found.end else calls:
        edited = _to(tree, call, prelude)
        if edited is None:
            return None
        edits.extend(edited)
    is_offered = own == "?" and "non_blocking" not in found.args
    return [dataclasses.replace(one, offered=is_offered) for one in edits] or None


def _to(tree: Tree, call: ast.Call, prelude: Prelude) -> list[Draft] | None:
    function = call.func
    assert isinstance(function, ast.Attribute)
    end = tree.span(function)[1]
    receiver = function.value
    is_super = isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super"
    if is_super or tree.source.text[end - 4 : end] != "cuda" or len(call.args) > 2:
        return None
    if not names.is_as_written(tree, call):
        return None
    rest = _arguments(tree, call, prelude)
    return None if rest is None else [Draft(begin=end - 4, end=end, text="to"), *rest]


def _arguments(tree: Tree, call: ast.Call, prelude: Prelude) -> list[Draft] | None:
    if any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
        return None
    later = [_word(tree, call.args[1])] if len(call.args) == 2 else []
    given = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "device"), None)
    if given is None:
        return names.first_argument(tree, call, prelude.device_type, DEVICE_TYPE)
    if isinstance(given, ast.Constant) and given.value is None:
        begin, end = tree.span(given)
        return [Draft(begin=begin, end=end, text=prelude.device_type, needs=DEVICE_TYPE), *later]
    if isinstance(given, ast.Constant) and isinstance(given.value, bool):
        return None
    return [*(device_of(tree, given, prelude) if is_number(given) else []), *later]


def _word(tree: Tree, argument: ast.expr) -> Draft:
    begin = tree.span(argument)[0]
    return Draft(begin=begin, end=begin, text="non_blocking=")


def is_cuda(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """`x.is_cuda` as a comparison of its device's type."""
    asked = [one for one in tree.inside(found, ast.Attribute) if one.attr == "is_cuda"]
    if not asked or _is_stored(tree):
        return None
    edits = []
    for node in asked[:1] if found.column != found.end_column or found.line != found.end else asked:
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


def _is_stored(tree: Tree) -> bool:
    """Whether something of the file's own is called is_cuda."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr == "is_cuda" and not isinstance(one.ctx, ast.Load))
        or (isinstance(one, ast.FunctionDef) and one.name == "is_cuda")
        for one in ast.walk(tree.module)
    )


def device_number(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """`.to(rank)`, `device=rank` and the like."""
    edits: list[Draft] = []
    calls = tree.inside(found, ast.Call) or [one for one in (tree.around(found, ast.Call),) if one]
    for call in calls:
        given = [one.value for one in call.keywords if one.arg in _ARGUMENTS]
        if getattr(call.func, "attr", "") in ("to", "to_empty") and call.args:
            given.append(call.args[0])
        for one in given:
            if is_number(one) and names.is_as_written(tree, one):
                edits.extend(device_of(tree, one, prelude))
        if edits:
            break
    return edits or None
