"""What the annotation of a field says, as far as a parser looks at it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.option_source import Unknown, called, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.option_source import Source

LISTS = ("list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Set", "set", "FrozenSet", "Collection")
_DEEPEST = 20
_LONGEST = 500
_MOST_PARTS = 1000


@dataclass(frozen=True, kw_only=True)
class Type:
    """`name`: the last part of it, "" of a union; `either`: the parts of a union other than None; `choices`: of a
    Literal; `marks`, `told`: names and calls of an Annotated, and what tyro.conf wraps a type in."""

    name: str = ""
    inner: tuple[Type, ...] = ()
    either: tuple[Type, ...] = ()
    choices: tuple[str, ...] = ()
    optional: bool = False
    marks: tuple[str, ...] = ()
    told: tuple[ast.Call, ...] = ()

    @property
    def is_list(self) -> bool:
        return self.name in LISTS

    @property
    def words(self) -> int:
        """How many words a tuple of a fixed length takes, 0 for any number."""
        is_fixed = self.name in ("tuple", "Tuple") and all(one.name != "..." for one in self.inner)
        return len(self.inner) if is_fixed else 0


def read(node: ast.expr | None, source: Source, depth: int = 0, parts: Iterator[int] | None = None) -> Type:
    """Never raises; what it does not know is a type without a name."""
    parts = iter(range(_MOST_PARTS)) if parts is None else parts
    if node is None or depth > _DEEPEST or next(parts, None) is None:
        return Type()
    if isinstance(node, ast.Constant):
        return _constant(node, source, depth, parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([read(one, source, depth + 1, parts) for one in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(node, source, depth, parts)
    if isinstance(node, ast.Name) and node.id in source.constants and node.id not in source.classes:
        return read(source.constants[node.id], source, depth + 1, parts)
    return Type(name=called(node)) if isinstance(node, (ast.Name, ast.Attribute)) else Type()


def _constant(node: ast.Constant, source: Source, depth: int, parts: Iterator[int]) -> Type:
    if node.value is None or node.value is ...:
        return Type(name="None" if node.value is None else "...")
    if not isinstance(node.value, str) or len(node.value) > _LONGEST:
        return Type()
    try:
        return read(ast.parse(node.value.strip(), mode="eval").body, source, depth + 1, parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Type()


def _subscript(node: ast.Subscript, source: Source, depth: int, parts: Iterator[int]) -> Type:
    head = called(node.value)
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "Literal":
        return Type(name="Literal", choices=_literals(node.slice, source))
    if head == "Annotated" and given:
        return _marked(read(given[0], source, depth + 1, parts), given[1:])
    inner = tuple(read(one, source, depth + 1, parts) for one in given[:64])
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


def _marked(made: Type, more: Sequence[ast.expr]) -> Type:
    told = tuple(one for one in more if isinstance(one, ast.Call))
    marks = tuple(called(one) for one in more if not isinstance(one, ast.Call))
    return replace(made, marks=(*made.marks, *marks), told=(*made.told, *told))


def _union(parts: Sequence[Type]) -> Type:
    flat = [one for part in parts for one in (part.either or (part,))]
    optional = any(part.name == "None" or part.optional for part in parts)
    some = tuple(one for one in flat if one.name != "None")
    if len(some) == 1:
        return replace(some[0], optional=some[0].optional or optional)
    return Type(either=some, optional=optional)


def _literals(node: ast.expr, source: Source) -> tuple[str, ...]:
    try:
        values = literal(node, source)
    except Unknown:
        return ()
    return tuple(map(str, values if isinstance(values, tuple) else (values,)))
