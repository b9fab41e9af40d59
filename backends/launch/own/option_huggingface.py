"""How transformers' HfArgumentParser takes a field, as its hf_argparser.py has it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backends.launch.own.option_source import Unknown, literal
from backends.launch.own.option_typed import choices_of, defaulted, plain, texts, typed, unique

if TYPE_CHECKING:
    from backends.launch.own.option import Option
    from backends.launch.own.option_field import Classes, Field
    from backends.launch.own.option_types import Type


def option(field: Field, classes: Classes) -> Option | None:
    told = _told(field)
    if told.get("init") is False:
        return None
    flag, type_ = f"--{field.name}", _one_of(field.type)
    made = plain(flag, field, told.get("help", ""), field.below, field.beside)
    made = replace(made, names=unique((flag, flag.replace("_", "-"), *texts(told.get("aliases")))))
    members = classes.members(type_.name) or {}
    if type_.name == "bool":
        return _bool(made, field, type_)
    if choices := choices_of(type_, classes, by_value=True):
        return _with_choices(made, field, choices, members)
    made = typed(made, type_)
    if type_.name in ("list", "List") or told.get("nargs") in ("*", "+"):
        made = replace(made, kind="list", form="words", multiple=True)
    made = defaulted(made, field, {})
    if choices := texts(told.get("choices")):
        made = replace(made, choices=choices, kind=made.kind if made.kind == "list" else "choice")
    return made


def _with_choices(made: Option, field: Field, choices: tuple[str, ...], members: dict[str, str]) -> Option:
    """A default that a factory makes counts for nothing here: the option is required then."""
    arguments = field.arguments
    made = replace(made, kind="choice", choices=choices)
    if arguments is not None and "default" not in arguments.words:
        return replace(made, required=True)
    return defaulted(made, field, members)


def _bool(made: Option, field: Field, type_: Type) -> Option:
    """--x, --x true, and --no_x where it is on by default; without a default it is off, not required."""
    made = defaulted(replace(made, kind="bool"), field, {})
    if type_.optional:
        if made.default is None:
            return made
    elif made.required:
        made = replace(made, required=False, default=False)
    offs = (f"--no_{field.name}", f"--no-{field.name.replace('_', '-')}") if made.default is True else ()
    return replace(made, form="maybe", offs=offs)


def _one_of(type_: Type) -> Type:
    """Of a union with str, the other one."""
    others = [one for one in type_.either if one.name != "str"]
    return others[0] if len(others) == 1 else type_


def _told(field: Field) -> dict[str, Any]:
    """The metadata of a field, and what HfArg makes metadata of."""
    arguments = field.arguments
    if arguments is None:
        return {}
    said: dict[str, Any] = {
        name: arguments.value(name) for name in ("help", "aliases", "init") if name in arguments.words
    }
    meta = arguments.words.get("metadata")
    for key, value in zip(meta.keys, meta.values, strict=True) if isinstance(meta, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            try:
                said[key.value] = literal(value, arguments.source)
            except Unknown:
                continue
    return said
