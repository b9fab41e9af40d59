"""Texts that are put together in the source: f-strings, %, .format, + and join."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Lookup: TypeAlias = "Callable[[ast.AST], str | None]"

TemplateForm: TypeAlias = Literal["plain", "fstring", "percent", "format", "concatenated"]

HOLE = "{}"
_PERCENT = re.compile(r"%(?:\(\w*\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?([a-zA-Z%])")
_FIELD = re.compile(r"\{(\w*)(?:[.\[!:][^{}]*)?\}")
_SHAPES: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "strip": str.strip}
_PARTS = 64  # of one text put together with +; a longer one is no device name


class Template(NamedTuple):
    """`value`: the text, with {} for what is only known when it runs; `holes`: the expressions of those."""

    value: str
    holes: tuple[ast.expr, ...] = ()
    form: TemplateForm = "plain"


def text_template(node: ast.AST, lookup: Lookup | None = None) -> Template | None:
    """None for an expression that is no text. `lookup` may know the text of a name."""
    if isinstance(node, ast.Constant):
        return Template(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return _fstring_template(node, lookup)
    if isinstance(node, ast.BinOp):
        return _sum_template(node, lookup) if isinstance(node.op, ast.Add) else _percent_template(node, lookup)
    if isinstance(node, ast.Call):
        return _call_template(node, lookup)
    text = lookup(node) if lookup is not None and isinstance(node, ast.Name) else None
    return None if text is None else Template(text)


def _fstring_template(node: ast.JoinedStr, lookup: Lookup | None) -> Template:
    parts = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            inner = text_template(value.value, lookup) if value.format_spec is None and value.conversion == -1 else None
            parts.append(inner or Template(HOLE, (value.value,)))
        else:
            parts.append(text_template(value) or Template(HOLE))
    return _concatenate(parts, "fstring")


def _concatenate(parts: list[Template], form: TemplateForm) -> Template:
    holes = tuple(hole for part in parts for hole in part.holes)
    return Template("".join(part.value for part in parts), holes, form)


def _sum_template(node: ast.BinOp, lookup: Lookup | None) -> Template | None:
    """Texts and what is not known between them; None where no part is a text."""
    operands: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        operands.append(left.right)
        left = left.left
        if len(operands) > _PARTS:
            return None
    templates = [text_template(operand, lookup) for operand in (left, *reversed(operands))]
    if not any(templates):
        return None
    pairs = zip(templates, (left, *reversed(operands)), strict=True)
    return _concatenate([part or Template(HOLE, (operand,)) for part, operand in pairs], "concatenated")


def _percent_template(node: ast.BinOp, lookup: Lookup | None) -> Template | None:
    pattern = text_template(node.left, lookup) if isinstance(node.op, ast.Mod) else None
    if pattern is None:
        return None
    right = node.right
    arguments = list(right.elts) if isinstance(right, ast.Tuple) else [right]
    holes: list[ast.expr] = []

    def fill(field: re.Match[str]) -> str:
        if field[1] == "%":
            return "%"
        argument = arguments.pop(0) if arguments else None
        text = _formatted_text(argument, lookup)
        if text is None and argument is not None:
            holes.append(argument)
        return HOLE if text is None else text

    return Template(_PERCENT.sub(fill, pattern.value), (*pattern.holes, *holes), "percent")


def _formatted_text(node: ast.expr | None, lookup: Lookup | None) -> str | None:
    """The text that a constant becomes when it is formatted."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return str(node.value)
    text = text_template(node, lookup) if node is not None else None
    return text.value if text is not None and not text.holes else None


def _call_template(node: ast.Call, lookup: Lookup | None) -> Template | None:
    function = node.func
    if not isinstance(function, ast.Attribute):
        return None
    if function.attr == "format":
        return _format_template(node, text_template(function.value, lookup), lookup)
    if function.attr == "join" and len(node.args) == 1:
        return _join_template(text_template(function.value, lookup), node.args[0], lookup)
    shape = _SHAPES.get(function.attr) if not node.args else None
    text = text_template(function.value, lookup) if shape is not None else None
    return text._replace(value=shape(text.value)) if shape is not None and text is not None else None


def _format_template(node: ast.Call, pattern: Template | None, lookup: Lookup | None) -> Template | None:
    if pattern is None or pattern.holes:
        return None
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    holes: list[ast.expr] = []
    index = 0

    def fill(field: re.Match[str]) -> str:
        nonlocal index
        name = field[1] or str(index)
        index += not field[1]
        argument = named.get(name)
        if name.isdecimal() and len(name) < 4 and int(name) < len(node.args):
            argument = node.args[int(name)]
        text = _formatted_text(argument, lookup)
        if text is None and argument is not None:
            holes.append(argument)
        return HOLE if text is None else text

    return Template(_FIELD.sub(fill, pattern.value), tuple(holes), "format")


def _join_template(between: Template | None, parts: ast.expr, lookup: Lookup | None) -> Template | None:
    if between is None or between.holes or not isinstance(parts, ast.List | ast.Tuple):
        return None
    templates = [text_template(part, lookup) or Template(HOLE, (part,)) for part in parts.elts[:_PARTS]]
    return Template(
        between.value.join(part.value for part in templates),
        tuple(hole for part in templates for hole in part.holes),
        "concatenated",
    )
