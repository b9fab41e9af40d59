"""How tyro takes the fields of a dataclass and the parameters of a function."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.option_parsers import Arguments
from backends.launch.own.option_typed import by_default, choices_of, defaulted, plain, texts, typed, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.launch.own.option import Option
    from backends.launch.own.option_field import Classes, Field
    from backends.launch.own.option_types import Type

_HIDDEN = ("Fixed", "Suppress", "SuppressFixed")
_DICTS = ("dict", "Dict", "Mapping", "MutableMapping")


def option(field: Field, classes: Classes, underscores: bool, config: Sequence[str]) -> Option | None:
    """`underscores`: whether the flags are shown with them; the other way is understood as well. `config`: markers of
    the call."""
    marks = (*field.type.marks, *field.marks, *config)
    told = next((Arguments(call, field.source) for call in field.type.told), None)
    if any(mark in _HIDDEN for mark in field.type.marks) or _is_hidden(field):
        return None
    name = (told.value("name") if told else None) or field.name
    around = () if "OmitArgPrefixes" in marks else field.around
    flag = _spelled("--" + ".".join((*around, str(name))), underscores)
    help_ = told.value("help") if told else ""
    made = plain(flag, field, help_, field.described, field.below, field.beside, field.above)
    aliases = texts(told.value("aliases")) if told else ()
    made = replace(made, names=unique((flag, _spelled(flag, not underscores), *aliases)), yes="True", no="False")
    made = _typed(made, field, classes, marks)
    if "Positional" in marks or field.positional:
        return replace(made, flag=flag[2:], names=(), positional=True)
    return _switch(made, marks, underscores)


def _is_hidden(field: Field) -> bool:
    return field.arguments is not None and field.arguments.value("init") is False


def _spelled(flag: str, underscores: bool) -> str:
    return flag[:2] + (flag[2:].replace("-", "_") if underscores else flag[2:].replace("_", "-"))


def _typed(made: Option, field: Field, classes: Classes, marks: Sequence[str]) -> Option:
    type_ = field.type
    choices = choices_of(type_, classes, by_value=False)
    if type_.name == "bool" and type_.optional:
        choices = ("True", "False")
    if type_.is_list or type_.name in _DICTS:
        inner = _inner(type_, classes) if type_.is_list and type_.inner else ()
        is_appended = "UseAppendAction" in marks
        made = replace(
            made, kind="list", form="repeat" if is_appended else "words", multiple=True, words=type_.words,
            choices=inner,
        )  # fmt: skip
    elif choices:
        none = ("None",) if type_.optional and "None" not in choices else ()
        made = replace(made, kind="choice", choices=(*choices, *none))
    elif type_.name or type_.either:
        made = typed(made, type_)
    else:
        made = by_default(made, field)
    return defaulted(made, field, {name: name for name in classes.members(type_.name) or ()})


def _inner(type_: Type, classes: Classes) -> tuple[str, ...]:
    """What the words of a list are taken from, where they are all of one type."""
    if any(one.name not in (type_.inner[0].name, "...") for one in type_.inner):
        return ()
    first = type_.inner[0]
    return ("True", "False") if first.name == "bool" else choices_of(first, classes, by_value=False)


def _switch(made: Option, marks: Sequence[str], underscores: bool) -> Option:
    """--x and --no-x, of a bool that has a default."""
    if made.kind != "bool" or made.required or "FlagConversionOff" in marks:
        return made
    offs = unique([_spelled(_off(name), kind) for name in made.names if name.startswith("--") for kind in
                   (underscores, not underscores)])  # fmt: skip
    if "FlagCreatePairsOff" not in marks:
        return replace(made, form="both", offs=offs)
    if made.default is True:
        return replace(made, form="off", flag=offs[0], names=offs)
    return replace(made, form="on")


def _off(flag: str) -> str:
    head, dot, name = flag[2:].rpartition(".")
    return f"--{head}{dot}no-{name}"
