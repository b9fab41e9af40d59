"""What conditions and texts of a source are on a host with an NPU and without CUDA."""

from __future__ import annotations

import ast
import re

_AVAILABLE = ("torch.cuda.is_available", "cuda.is_available")
_OF_NPU = ("npu.is_available", "is_npu_available", "is_torch_npu_available")
_IS_THERE = re.compile(r"""hasattr\(torch, ['"]npu['"]\)|(?:importlib\.)?(?:util\.)?find_spec\(['"]torch_npu['"]\)"""
                       r"""|getattr\(torch, ['"]npu['"], None\)""")  # fmt: skip
"""What is true, or not None, where torch_npu is there."""
_OPTIONS = re.compile(r"(.*_)?(args?|opts?|options?|cfg|conf|config|hparams|hps|params?|flags|settings|ns|namespace)",
                      re.IGNORECASE)  # fmt: skip
"""Names of what holds options: their texts are the user's choice, whatever the host has."""
_DEVICE_NAME = re.compile(r"(.*_)?(device|dev)", re.IGNORECASE)
_MAX_DEPTH = 3


def truth(test: ast.expr, tree: ast.Module, depth: int = 0) -> bool | None:
    """Return what a condition is on such a host; None where that is open."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, tree, depth)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [truth(value, tree, depth) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ast.Compare):
        return _compared(test, tree, depth)
    if _IS_THERE.fullmatch(ast.unparse(test)):
        return True
    if isinstance(test, ast.Name):
        value = _assigned_once(test.id, tree) if depth < _MAX_DEPTH else None
        return None if value is None else truth(value, tree, depth + 1)
    name = ast.unparse(test.func) if isinstance(test, ast.Call) else ast.unparse(test)
    if name == "TYPE_CHECKING" or name.endswith((*_AVAILABLE, ".is_cuda")):
        return False
    return True if name.endswith(_OF_NPU) else None


def _compared(test: ast.Compare, tree: ast.Module, depth: int) -> bool | None:
    """Return what `device.type == "cuda"`, `"cuda" in str(device)` and the like are."""
    if len(test.ops) != 1:
        return None
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, ast.Is | ast.IsNot) and ast.unparse(right) == "None":
        return isinstance(operator, ast.IsNot) if _IS_THERE.fullmatch(ast.unparse(left)) else None
    text, other = (left, right) if isinstance(left, ast.Constant) else (right, left)
    is_in = isinstance(operator, ast.In | ast.NotIn)
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str) or (is_in and text is right):
        return None
    is_same = _is_same(text.value, other, tree, depth)
    if isinstance(operator, ast.Eq | ast.In):
        return is_same
    return not is_same if isinstance(operator, ast.NotEq | ast.NotIn) and is_same is not None else None


def _is_same(text: str, other: ast.expr, tree: ast.Module, depth: int) -> bool | None:
    """Tell whether another side is, or contains, a text: known of the type of a device, which is none of CUDA's, and
    of a text that the source itself decides."""
    value = _text(other, tree, depth)
    if value is not None:
        return True if value == text else None if text in value else False
    if text.partition(":")[0] == "cuda" and _is_device_text(other, tree, depth):
        return False
    is_backend = isinstance(other, ast.Call) and ast.unparse(other.func).endswith("get_backend")
    return False if text == "nccl" and is_backend else None


def _text(value: ast.expr, tree: ast.Module, depth: int) -> str | None:
    """Return the text that an expression is on such a host, where the source alone decides that."""
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else None
    if isinstance(value, ast.IfExp):
        holds = truth(value.test, tree, depth)
        return None if holds is None else _text(value.body if holds else value.orelse, tree, depth)
    if isinstance(value, ast.Name) and depth < _MAX_DEPTH:
        assigned = _assigned_once(value.id, tree)
        return None if assigned is None else _text(assigned, tree, depth + 1)
    return None


def _is_device_text(value: ast.expr, tree: ast.Module, depth: int) -> bool:
    """Tell whether an expression is the type or the name of a device: not so an option, nor any other text."""
    if isinstance(value, ast.Attribute) and value.attr == "type":
        return not _is_option(value.value)
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "str" and len(value.args) == 1:
        return _is_device(value.args[0], tree, depth)
    if isinstance(value, ast.Name) and depth < _MAX_DEPTH:
        assigned = _assigned_once(value.id, tree)
        return assigned is not None and _is_device_text(assigned, tree, depth + 1)
    return False


def _is_device(value: ast.expr, tree: ast.Module, depth: int) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] == "device"
    if isinstance(value, ast.Attribute):
        return value.attr == "device" and not _is_option(value.value)
    if not isinstance(value, ast.Name) or depth >= _MAX_DEPTH:
        return False
    if value.id in _stored_names(tree):
        assigned = _assigned_once(value.id, tree)
        return assigned is not None and _is_device(assigned, tree, depth + 1)
    return bool(_DEVICE_NAME.fullmatch(value.id))


def _is_option(owner: ast.expr) -> bool:
    name = ast.unparse(owner).rpartition(".")[2]
    return bool(_OPTIONS.fullmatch(name)) or "parse_args(" in name


def _assigned_once(name: str, tree: ast.Module) -> ast.expr | None:
    """Return the value of a variable that is assigned once."""
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    others = sum(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(tree))
    return values[0] if len(values) == _stored_names(tree).count(name) + others == 1 else None


def _stored_names(tree: ast.Module) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
