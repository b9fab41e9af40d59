"""How simple_parsing takes the fields of the dataclasses that its parser is given."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.options.source import Unknown, called, literal
from backends.launch.own.options.typed_fields import (
    choices_of,
    defaulted,
    plain,
    texts,
    unique,
    with_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.options.call_parsers import Arguments
    from backends.launch.own.options.fields import Classes, Field
    from backends.launch.own.options.option import Option

_MAX_ATTEMPTS = 50


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`dashes`: the DashVariant that the parser is given; `mode`: its ArgumentGenerationMode; `without_root`: whether
    the first destination is left out of a nested name."""

    dashes: str = ""
    mode: str = ""
    without_root: bool = False


def settings_of(calls: Sequence[ast.Call]) -> Settings:
    """As the first call says that has any of them: they hold for every parser of a process."""
    words = {word.arg: word.value for call in reversed(calls) for word in call.keywords}
    dashes = words.get("add_option_string_dash_variants")
    variant = "UNDERSCORE_AND_DASH" if isinstance(dashes, ast.Constant) and dashes.value is True else ""
    return Settings(
        dashes=called(dashes) if isinstance(dashes, ast.Attribute) else variant,
        mode=_named(words.get("argument_generation_mode")),
        without_root=_named(words.get("nested_mode")) == "WITHOUT_ROOT",
    )


def _named(node: ast.expr | None) -> str:
    return called(node) if node is not None else ""


@dataclass
class Placed:
    """A field with its destination: train.optim of train.optim.lr."""

    field: Field
    root: str
    prefix: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        return (self.root, *self.field.around) if self.root else self.field.around

    def lengthen(self) -> None:
        """Tell flags of one name apart by one more word of the destination, from its end on."""
        count = len(self.prefix.split(".")) if self.prefix.endswith(".") else 1
        self.prefix = ".".join(self.path[-count:]) + "."


def options(placed: Sequence[Placed], classes: Classes, settings: Settings) -> Iterator[Option]:
    _part(placed)
    for placed_field in placed:
        if (option := _option(placed_field, classes, settings)) is not None:
            yield option


def _part(placed: Sequence[Placed]) -> None:
    """Fields of the same name get as much of their destination as tells them apart; the outermost stays as it is."""
    for _ in range(_MAX_ATTEMPTS):
        names: dict[str, list[Placed]] = {}
        for placed_field in placed:
            names.setdefault(placed_field.prefix + placed_field.field.name, []).append(placed_field)
        same = next((group for group in names.values() if len(group) > 1), None)
        if same is None:
            return
        same.sort(key=lambda placed_field: len(placed_field.path))
        for placed_field in same[len(same[0].path) < len(same[1].path) :]:
            placed_field.lengthen()


def _option(placed_field: Placed, classes: Classes, settings: Settings) -> Option | None:
    field, arguments = placed_field.field, placed_field.field.arguments
    if arguments is not None and (arguments.value("cmd") is False or arguments.value("init") is False):
        return None
    flags = _flags(placed_field, settings)
    help_ = arguments.value("help") if arguments is not None else ""
    option = plain(flags[0], field, help_, field.below, field.above, field.trailing_comment, field.described)
    aliases = _aliases(arguments, placed_field.prefix, settings) if arguments is not None else ()
    option = replace(option, names=unique((*flags, *aliases)))
    option = _typed(option, field, arguments, classes, placed_field.prefix)
    if arguments is not None and arguments.value("positional") is True:
        return replace(option, flag=field.name, names=(), positional=True)
    return option


def _flags(placed_field: Placed, settings: Settings) -> tuple[str, ...]:
    name = placed_field.prefix + placed_field.field.name
    path = placed_field.path[1:] if settings.without_root else placed_field.path
    nested = ".".join((*path, placed_field.field.name))
    names = {"NESTED": (nested,), "BOTH": (name, nested)}.get(settings.mode, (name,))
    if settings.dashes == "DASH":
        names = tuple(text.replace("_", "-") for text in names)
    if len(placed_field.field.name) == 1 and not placed_field.prefix:
        return tuple(dash + text for dash in ("--", "-") for text in names)
    return tuple("--" + text for text in _both(names, settings))


def _both(names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    more = [name.replace("_", "-") for name in names] if settings.dashes == "UNDERSCORE_AND_DASH" else []
    return unique((*names, *more))


def _aliases(arguments: Arguments, prefix: str, settings: Settings) -> tuple[str, ...]:
    aliases = []
    for alias in texts(arguments.value("alias")):
        name = alias.lstrip("-")
        dash = alias[: len(alias) - len(name)] or ("-" if len(name) == 1 else "--")
        aliases += [dash + spelling for spelling in _both((prefix + name,), settings)]
    return tuple(aliases)


def _typed(option: Option, field: Field, arguments: Arguments | None, classes: Classes, prefix: str) -> Option:
    type_ = field.type
    choices = _choices(arguments) or choices_of(type_, classes, by_value=False)
    action = arguments.name("action") if arguments is not None else ""
    if action in ("store_true", "store_false"):
        return defaulted(replace(option, kind="bool", form="on" if action == "store_true" else "off"), field, {})
    if type_.is_list:
        inner = choices_of(type_.inner[0], classes, by_value=False) if type_.inner else ()
        option = replace(option, kind="list", form="words", multiple=True, words=type_.words, choices=choices or inner)
    elif choices:
        option = replace(option, kind="choice", choices=choices)
    elif type_.name == "bool":
        option = replace(option, kind="bool", form="value" if type_.optional else "maybe")
    else:
        option = with_type(option, type_)
    option = defaulted(option, field, {name: name for name in classes.members(type_.name) or ()})
    if type_.optional and arguments is None:
        option = replace(option, required=False)
    if type_.name == "bool" and not type_.optional:
        option = replace(option, offs=tuple(_off(name) for name in option.names if name.startswith("--")))
    return option


def _off(flag: str) -> str:
    """--optim.noamp of --optim.amp."""
    head, dot, name = flag[2:].rpartition(".")
    return f"--{head}{dot}no{name}"


def _choices(arguments: Arguments | None) -> tuple[str, ...]:
    """Return the choices of choice("a", "b"), choice({"a": …}), subgroups({"a": …}) and field(choices=…)."""
    if arguments is None:
        return ()
    if called(arguments.node) in ("choice", "subgroups") and arguments.node.args:
        try:
            values = [literal(node, arguments.source) for node in arguments.node.args]
        except Unknown:
            return _keys(arguments.node.args[0])
        return texts(values[0] if len(values) == 1 else tuple(values))
    return texts(arguments.value("choices"))


def _keys(node: ast.expr) -> tuple[str, ...]:
    keys = node.keys if isinstance(node, ast.Dict) else []
    return tuple(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
