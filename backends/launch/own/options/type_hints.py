"""What the annotation of a field says, as far as a parser looks at it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.options.source import Unknown, called, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.options.source import Source

LISTS = ("list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Set", "set", "FrozenSet", "Collection")
_DEEPEST = 20
_LONGEST = 500
_MAX_PARTS = 1000


@dataclass(frozen=True, kw_only=True)
class Type:
    """`name`: the last part of it, "" of a union; `either`: the parts of a union other than None; `choices`: of a
    Literal; `marks`, `calls`: names and calls of an Annotated, and what tyro.conf wraps a type in."""

    name: str = ""
    inner: tuple[Type, ...] = ()
    either: tuple[Type, ...] = ()
    choices: tuple[str, ...] = ()
    optional: bool = False
    marks: tuple[str, ...] = ()
    calls: tuple[ast.Call, ...] = ()

    @property
    def is_list(self) -> bool:
        return self.name in LISTS

    @property
    def words(self) -> int:
        """How many words a tuple of a fixed length takes, 0 for any number."""
        is_fixed = self.name in ("tuple", "Tuple") and all(part.name != "..." for part in self.inner)
        return len(self.inner) if is_fixed else 0


def parse_hint(node: ast.expr | None, source: Source, depth: int = 0, parts: Iterator[int] | None = None) -> Type:
    """Never raises; what it does not know is a type without a name."""
    parts = iter(range(_MAX_PARTS)) if parts is None else parts
    if node is None or depth > _DEEPEST or next(parts, None) is None:
        return Type()
    if isinstance(node, ast.Constant):
        return _constant(node, source, depth, parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([parse_hint(operand, source, depth + 1, parts) for operand in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(node, source, depth, parts)
    if isinstance(node, ast.Name) and node.id in source.constants and node.id not in source.classes:
        return parse_hint(source.constants[node.id], source, depth + 1, parts)
    return Type(name=called(node)) if isinstance(node, (ast.Name, ast.Attribute)) else Type()


def _constant(node: ast.Constant, source: Source, depth: int, parts: Iterator[int]) -> Type:
    if node.value is None or node.value is ...:
        return Type(name="None" if node.value is None else "...")
    if not isinstance(node.value, str) or len(node.value) > _LONGEST:
        return Type()
    try:
        return parse_hint(ast.parse(node.value.strip(), mode="eval").body, source, depth + 1, parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Type()


def _subscript(node: ast.Subscript, source: Source, depth: int, parts: Iterator[int]) -> Type:
    head = called(node.value)
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "Literal":
        return Type(name="Literal", choices=_literals(node.slice, source))
    if head == "Annotated" and arguments:
        return _marked(parse_hint(arguments[0], source, depth + 1, parts), arguments[1:])
    inner = tuple(parse_hint(argument, source, depth + 1, parts) for argument in arguments[:64])
    if head == "Optional":
        return _union([*inner, Type(name="None")])
    if head == "Union":
        return _union(inner)
    if inner and (head == "Final" or "conf" in _owner(node.value)):
        return replace(inner[0], marks=(*inner[0].marks, head))
    return Type(name=head, inner=inner)


def _owner(node: ast.expr) -> str:
    """tyro.conf of tyro.conf.Fixed; the name itself where it has no owner."""
    return called(node.value) if isinstance(node, ast.Attribute) else ""


def _marked(hint: Type, more: Sequence[ast.expr]) -> Type:
    calls = tuple(node for node in more if isinstance(node, ast.Call))
    marks = tuple(called(node) for node in more if not isinstance(node, ast.Call))
    return replace(hint, marks=(*hint.marks, *marks), calls=(*hint.calls, *calls))


def _union(parts: Sequence[Type]) -> Type:
    flat = [member for part in parts for member in (part.either or (part,))]
    optional = any(part.name == "None" or part.optional for part in parts)
    some = tuple(member for member in flat if member.name != "None")
    if len(some) == 1:
        return replace(some[0], optional=some[0].optional or optional)
    return Type(either=some, optional=optional)


def _literals(node: ast.expr, source: Source) -> tuple[str, ...]:
    try:
        values = literal(node, source)
    except Unknown:
        return ()
    return tuple(map(str, values if isinstance(values, tuple) else (values,)))
