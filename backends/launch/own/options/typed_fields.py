"""What the parsers of dataclasses have in common: kind, choices and default of a field."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.options.option import (
    Option,
    help_text,
    kind_of,
    looks_like_path,
    text_of,
    value_of,
)
from backends.launch.own.options.source import (
    Unknown,
    called,
    literal,
    source_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backends.launch.own.options.call_parsers import Arguments
    from backends.launch.own.options.fields import Classes, Field
    from backends.launch.own.options.option import Kind
    from backends.launch.own.options.source import Source
    from backends.launch.own.options.type_hints import Type

_KINDS: dict[str, Kind] = {
    "int": "int", "float": "float", "bool": "bool", "str": "text", "Path": "path", "PurePath": "path",
}  # fmt: skip
_WITH_A_DEFAULT = ("field", "flag")


def plain(flag: str, field: Field, *help_texts: str) -> Option:
    """The first help that is not empty."""
    text = next(filter(None, map(help_text, help_texts)), "")
    return Option(flag=flag, names=(flag,), line=field.line, help=text, yes="true", no="false")


def with_type(option: Option, type_: Type) -> Option:
    """With the kind of a type that is neither a list nor has choices."""
    kind: Kind = next(
        (_KINDS[candidate.name] for candidate in (type_, *type_.either) if candidate.name in _KINDS), "text"
    )
    if type_.either and {member.name for member in type_.either} & {"str", "Path"}:
        kind = "text"  # either of them: whatever is written is one of these
    elif {member.name for member in type_.either} == {"int", "float"}:
        kind = "float"
    return replace(option, kind="path" if kind == "text" and looks_like_path(option.flag) else kind)


def choices_of(type_: Type, classes: Classes, by_value: bool) -> tuple[str, ...]:
    """Return the choices of a Literal, or of an enumeration by the names or values of its members."""
    members = classes.members(type_.name)
    if members is not None:
        return tuple(filter(None, members.values())) if by_value else tuple(members)
    return type_.choices


def defaulted(option: Option, field: Field, members: Mapping[str, str]) -> Option:
    """With the default of a field; without one it is required. `members`: how an enumeration's are written."""
    if field.default is not None:
        if isinstance(field.default, str):
            return replace(option, default_source=field.default)
        return _default(option, field.default, field.source, members)
    if (arguments := field.arguments) is not None:
        return _with_arguments(option, arguments, members)
    if field.value is None:
        return replace(option, required=True)
    return _default(option, field.value, field.source, members)


def _with_arguments(option: Option, arguments: Arguments, members: Mapping[str, str]) -> Option:
    """What field(…) and its like are told."""
    words, node, name = arguments.words, arguments.node, called(arguments.node)
    if "default" in words:
        return _default(option, words["default"], arguments.source, members)
    if "default_factory" in words:
        return _factory(option, words["default_factory"], arguments.source, members)
    if name == "list_field":
        return _default(option, ast.Tuple(elts=node.args, ctx=ast.Load()), arguments.source, members)
    if node.args and name.endswith(_WITH_A_DEFAULT):
        return _default(option, node.args[0], arguments.source, members)
    return replace(option, required=True)


def _factory(option: Option, node: ast.expr, source: Source, members: Mapping[str, str]) -> Option:
    if isinstance(node, ast.Lambda):
        return _default(option, node.body, source, members)
    if called(node) in ("list", "tuple", "set", "dict") and option.kind == "list":
        return replace(option, default=())
    return replace(option, default_source=source_of(node) + "()")


def _default(option: Option, node: ast.expr, source: Source, members: Mapping[str, str]) -> Option:
    try:
        value = literal(node, source)
    except Unknown:
        member = node.value if isinstance(node, ast.Attribute) and node.attr in ("value", "name") else node
        name = member.attr if isinstance(member, ast.Attribute) else ""
        return replace(option, default=members[name]) if members.get(name) else _by_source(option, node)
    if isinstance(value, tuple) and option.kind != "list":
        return _by_source(option, node)
    return replace(option, default=value_of(value, option.kind))


def _by_source(option: Option, node: ast.expr) -> Option:
    return replace(option, default_source=source_of(node))


def with_default_type(option: Option, field: Field) -> Option:
    """Return the option; without an annotation its kind is that of the default."""
    try:
        return replace(option, kind=kind_of(literal(field.value, field.source)) if field.value is not None else "text")
    except Unknown:
        return option


def texts(value: object) -> tuple[str, ...]:
    """One text, or several."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(text_of, value)) if isinstance(value, (tuple, dict)) else ()


def unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
