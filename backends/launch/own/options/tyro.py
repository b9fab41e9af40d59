"""How tyro takes the fields of a dataclass and the parameters of a function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.options.call_parsers import Arguments
from backends.launch.own.options.typed_fields import (
    choices_of,
    defaulted,
    plain,
    texts,
    unique,
    with_default_type,
    with_type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.launch.own.options.fields import Classes, Field
    from backends.launch.own.options.option import Option
    from backends.launch.own.options.type_hints import Type

_HIDDEN = ("Fixed", "Suppress", "SuppressFixed")
_DICTS = ("dict", "Dict", "Mapping", "MutableMapping")


def option(field: Field, classes: Classes, underscores: bool, config: Sequence[str]) -> Option | None:
    """`underscores`: whether the flags are shown with them; the other way is understood as well. `config`: markers of
    the call."""
    marks = (*field.type.marks, *field.marks, *config)
    arguments = next((Arguments(call, field.source) for call in field.type.calls), None)
    if any(mark in _HIDDEN for mark in field.type.marks) or _is_hidden(field):
        return None
    name = (arguments.value("name") if arguments else None) or field.name
    around = () if "OmitArgPrefixes" in marks else field.around
    flag = _flag_text("--" + ".".join((*around, str(name))), underscores)
    help_ = arguments.value("help") if arguments else ""
    result = plain(flag, field, help_, field.described, field.below, field.trailing_comment, field.above)
    aliases = texts(arguments.value("aliases")) if arguments else ()
    result = replace(result, names=unique((flag, _flag_text(flag, not underscores), *aliases)), yes="True", no="False")
    result = _typed(result, field, classes, marks)
    if "Positional" in marks or field.positional:
        return replace(result, flag=flag[2:], names=(), positional=True)
    return _switch(result, marks, underscores)


def _is_hidden(field: Field) -> bool:
    return field.arguments is not None and field.arguments.value("init") is False


def _flag_text(flag: str, underscores: bool) -> str:
    return flag[:2] + (flag[2:].replace("-", "_") if underscores else flag[2:].replace("_", "-"))


def _typed(option: Option, field: Field, classes: Classes, marks: Sequence[str]) -> Option:
    type_ = field.type
    choices = choices_of(type_, classes, by_value=False)
    if type_.name == "bool" and type_.optional:
        choices = ("True", "False")
    if type_.is_list or type_.name in _DICTS:
        inner = _inner(type_, classes) if type_.is_list and type_.inner else ()
        is_appended = "UseAppendAction" in marks
        option = replace(
            option, kind="list", form="repeat" if is_appended else "words", multiple=True, words=type_.words,
            choices=inner,
        )  # fmt: skip
    elif choices:
        none = ("None",) if type_.optional and "None" not in choices else ()
        option = replace(option, kind="choice", choices=(*choices, *none))
    elif type_.name or type_.either:
        option = with_type(option, type_)
    else:
        option = with_default_type(option, field)
    return defaulted(option, field, {name: name for name in classes.members(type_.name) or ()})


def _inner(type_: Type, classes: Classes) -> tuple[str, ...]:
    """What the words of a list are taken from, where they are all of one type."""
    if any(part.name not in (type_.inner[0].name, "...") for part in type_.inner):
        return ()
    first = type_.inner[0]
    return ("True", "False") if first.name == "bool" else choices_of(first, classes, by_value=False)


def _switch(option: Option, marks: Sequence[str], underscores: bool) -> Option:
    """--x and --no-x, of a bool that has a default."""
    if option.kind != "bool" or option.required or "FlagConversionOff" in marks:
        return option
    offs = unique([_flag_text(_off(name), kind) for name in option.names if name.startswith("--") for kind in
                   (underscores, not underscores)])  # fmt: skip
    if "FlagCreatePairsOff" not in marks:
        return replace(option, form="both", offs=offs)
    if option.default is True:
        return replace(option, form="off", flag=offs[0], names=offs)
    return replace(option, form="on")


def _off(flag: str) -> str:
    head, dot, name = flag[2:].rpartition(".")
    return f"--{head}{dot}no-{name}"
