"""How transformers' HfArgumentParser takes a field, as its hf_argparser.py has it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backends.launch.own.options.source import Unknown, literal
from backends.launch.own.options.typed_fields import (
    choices_of,
    defaulted,
    plain,
    texts,
    unique,
    with_type,
)

if TYPE_CHECKING:
    from backends.launch.own.options.fields import Classes, Field
    from backends.launch.own.options.option import Option
    from backends.launch.own.options.type_hints import Type


def option(field: Field, classes: Classes) -> Option | None:
    metadata = _metadata_of(field)
    if metadata.get("init") is False:
        return None
    flag, type_ = f"--{field.name}", _without_str(field.type)
    result = plain(flag, field, metadata.get("help", ""), field.below, field.trailing_comment)
    result = replace(result, names=unique((flag, flag.replace("_", "-"), *texts(metadata.get("aliases")))))
    members = classes.members(type_.name) or {}
    if type_.name == "bool":
        return _bool(result, field, type_)
    if choices := choices_of(type_, classes, by_value=True):
        return _with_choices(result, field, choices, members)
    result = with_type(result, type_)
    if type_.name in ("list", "List") or metadata.get("nargs") in ("*", "+"):
        result = replace(result, kind="list", form="words", multiple=True)
    result = defaulted(result, field, {})
    if choices := texts(metadata.get("choices")):
        result = replace(result, choices=choices, kind=result.kind if result.kind == "list" else "choice")
    return result


def _with_choices(option: Option, field: Field, choices: tuple[str, ...], members: dict[str, str]) -> Option:
    """A default that a factory makes counts for nothing here: the option is required then."""
    arguments = field.arguments
    option = replace(option, kind="choice", choices=choices)
    if arguments is not None and "default" not in arguments.words:
        return replace(option, required=True)
    return defaulted(option, field, members)


def _bool(option: Option, field: Field, type_: Type) -> Option:
    """--x, --x true, and --no_x where it is on by default; without a default it is off, not required."""
    option = defaulted(replace(option, kind="bool"), field, {})
    if type_.optional:
        if option.default is None:
            return option
    elif option.required:
        option = replace(option, required=False, default=False)
    offs = (f"--no_{field.name}", f"--no-{field.name.replace('_', '-')}") if option.default is True else ()
    return replace(option, form="maybe", offs=offs)


def _without_str(type_: Type) -> Type:
    """Return the other member of a union with str, else the type itself."""
    others = [member for member in type_.either if member.name != "str"]
    return others[0] if len(others) == 1 else type_


def _metadata_of(field: Field) -> dict[str, Any]:
    """The metadata of a field, and what HfArg makes metadata of."""
    arguments = field.arguments
    if arguments is None:
        return {}
    metadata: dict[str, Any] = {
        name: arguments.value(name) for name in ("help", "aliases", "init") if name in arguments.words
    }
    meta = arguments.words.get("metadata")
    for key, value in zip(meta.keys, meta.values, strict=True) if isinstance(meta, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            try:
                metadata[key.value] = literal(value, arguments.source)
            except Unknown:
                continue
    return metadata
