"""Options of scripts that use absl's flags, or hand a function to fire."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.options.call_parsers import Arguments
from backends.launch.own.options.option import Option, help_text, looks_like_path, text_of, value_of
from backends.launch.own.options.source import Unknown, called, literal, source_of
from backends.launch.own.options.typed_fields import defaulted, plain, with_default_type, with_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.launch.own.options.fields import Classes, Field
    from backends.launch.own.options.option import Form, Kind
    from backends.launch.own.options.source import Source

_DEFINED: dict[str, tuple[Kind, Form]] = {
    "DEFINE_string": ("text", "value"), "DEFINE_integer": ("int", "value"), "DEFINE_float": ("float", "value"),
    "DEFINE_bool": ("bool", "both"), "DEFINE_boolean": ("bool", "both"), "DEFINE_enum": ("choice", "value"),
    "DEFINE_enum_class": ("text", "value"), "DEFINE_list": ("text", "value"), "DEFINE_spaceseplist": ("text", "value"),
    "DEFINE_multi_string": ("list", "repeat"), "DEFINE_multi_integer": ("list", "repeat"),
    "DEFINE_multi_float": ("list", "repeat"),
}  # fmt: skip
"""https://abseil.io/docs/python/guides/flags: a list of DEFINE_list is one word, with commas."""


def absl(parts: Iterable[tuple[Source, list[ast.stmt]]]) -> list[Option]:
    """Return the flags that a script and the local modules it uses define."""
    return [
        option
        for source, body in parts
        for node in body
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and called(call) in _DEFINED
        for option in _flag(call, source)
    ]


def _flag(call: ast.Call, source: Source) -> Iterator[Option]:
    """The arguments are the name, the default, the choices of an enumeration, and the help."""
    name = called(call)
    kind, form = _DEFINED[name]
    places = (
        ("name", "default", "enum_values", "help") if name.startswith("DEFINE_enum") else ("name", "default", "help")
    )
    arguments = Arguments(call, source)
    arguments.words = {**dict(zip(places, call.args, strict=False)), **arguments.words}
    flag = arguments.value("name")
    if not isinstance(flag, str) or not flag:
        return
    if kind == "text" and looks_like_path(flag):
        kind = "path"
    choices = arguments.value("enum_values")
    option = Option(
        flag=f"--{flag}", names=(f"--{flag}", f"-{flag}"), kind=kind, form=form, line=call.lineno,
        offs=(f"--no{flag}",) if form == "both" else (), multiple=form == "repeat",
        choices=tuple(map(text_of, choices)) if isinstance(choices, tuple) else (), yes="true", no="false",
        help=help_text(arguments.value("help")),
    )  # fmt: skip
    yield _with_default(option, arguments)


def _with_default(option: Option, arguments: Arguments) -> Option:
    node = arguments.words.get("default")
    try:
        value = literal(node, arguments.source) if node is not None else None
    except Unknown:
        return replace(option, default_source=source_of(node)) if node is not None else option
    if isinstance(value, tuple) and option.kind != "list":  # a list of DEFINE_list
        value = ",".join(map(text_of, value))
    default = value_of(value, option.kind)
    return replace(option, default=False if default is None and option.form == "both" else default)


def fire(source: Source, classes: Classes) -> list[Option]:
    """Return the parameters of the functions that fire.Fire is given; several of them are subcommands. An object of a
    class shows its options only when it is there."""
    calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and called(node) == "Fire")
    return [option for call in calls for option in _components(call, classes)]


def _components(call: ast.Call, classes: Classes) -> Iterator[Option]:
    component = call.args[0] if call.args else None
    if isinstance(component, ast.Name):
        yield from _parameters(component.id, classes)
    elif isinstance(component, ast.Dict):
        commands = {
            key.value: value.id
            for key, value in zip(component.keys, component.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(value, ast.Name)
        }
        yield Option(flag="command", kind="choice", positional=True, required=True, choices=tuple(commands), words=1)
        for command, function in commands.items():
            yield from (replace(option, command=command) for option in _parameters(function, classes))


def _parameters(function: str, classes: Classes) -> Iterator[Option]:
    if classes.function(function) is not None:
        yield from (_parameter(field) for field in classes.own(function).values())


def _parameter(field: Field) -> Option:
    """--x, --x 1, and --nox where it is a switch."""
    option = plain(f"--{field.name}", field, field.described, field.trailing_comment)
    option = replace(option, names=tuple(dict.fromkeys((option.flag, option.flag.replace("_", "-")))))
    typed = with_type(option, field.type) if field.type.name else with_default_type(option, field)
    option = defaulted(replace(typed, yes="True", no="False"), field, {})
    if option.kind != "bool":
        return option
    return replace(option, form="maybe", offs=(f"--no{field.name}",))
