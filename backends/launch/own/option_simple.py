"""How simple_parsing takes the fields of the dataclasses that its parser is given."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.option_source import Unknown, called, literal
from backends.launch.own.option_typed import choices_of, defaulted, plain, texts, typed, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.option import Option
    from backends.launch.own.option_field import Classes, Field
    from backends.launch.own.option_parsers import Arguments

_MOST_ATTEMPTS = 50


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
    given = "UNDERSCORE_AND_DASH" if isinstance(dashes, ast.Constant) and dashes.value is True else ""
    return Settings(
        dashes=called(dashes) if isinstance(dashes, ast.Attribute) else given,
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
        """By one more word of its destination, from its end on."""
        count = len(self.prefix.split(".")) if self.prefix.endswith(".") else 1
        self.prefix = ".".join(self.path[-count:]) + "."


def options(placed: Sequence[Placed], classes: Classes, settings: Settings) -> Iterator[Option]:
    _part(placed)
    for one in placed:
        if (made := _option(one, classes, settings)) is not None:
            yield made


def _part(placed: Sequence[Placed]) -> None:
    """Fields of the same name get as much of their destination as tells them apart; the outermost stays as it is."""
    for _ in range(_MOST_ATTEMPTS):
        names: dict[str, list[Placed]] = {}
        for one in placed:
            names.setdefault(one.prefix + one.field.name, []).append(one)
        same = next((group for group in names.values() if len(group) > 1), None)
        if same is None:
            return
        same.sort(key=lambda one: len(one.path))
        for one in same[len(same[0].path) < len(same[1].path) :]:
            one.lengthen()


def _option(one: Placed, classes: Classes, settings: Settings) -> Option | None:
    field, told = one.field, one.field.arguments
    if told is not None and (told.value("cmd") is False or told.value("init") is False):
        return None
    flags = _flags(one, settings)
    help_ = told.value("help") if told is not None else ""
    made = plain(flags[0], field, help_, field.below, field.above, field.beside, field.described)
    aliases = _aliases(told, one.prefix, settings) if told is not None else ()
    made = replace(made, names=unique((*flags, *aliases)))
    made = _typed(made, field, told, classes, one.prefix)
    if told is not None and told.value("positional") is True:
        return replace(made, flag=field.name, names=(), positional=True)
    return made


def _flags(one: Placed, settings: Settings) -> tuple[str, ...]:
    name = one.prefix + one.field.name
    path = one.path[1:] if settings.without_root else one.path
    nested = ".".join((*path, one.field.name))
    names = {"NESTED": (nested,), "BOTH": (name, nested)}.get(settings.mode, (name,))
    if settings.dashes == "DASH":
        names = tuple(text.replace("_", "-") for text in names)
    if len(one.field.name) == 1 and not one.prefix:
        return tuple(dash + text for dash in ("--", "-") for text in names)
    return tuple("--" + text for text in _both(names, settings))


def _both(names: Sequence[str], settings: Settings) -> tuple[str, ...]:
    more = [name.replace("_", "-") for name in names] if settings.dashes == "UNDERSCORE_AND_DASH" else []
    return unique((*names, *more))


def _aliases(told: Arguments, prefix: str, settings: Settings) -> tuple[str, ...]:
    made = []
    for alias in texts(told.value("alias")):
        name = alias.lstrip("-")
        dash = alias[: len(alias) - len(name)] or ("-" if len(name) == 1 else "--")
        made += [dash + one for one in _both((prefix + name,), settings)]
    return tuple(made)


def _typed(made: Option, field: Field, told: Arguments | None, classes: Classes, prefix: str) -> Option:
    type_ = field.type
    choices = _choices(told) or choices_of(type_, classes, by_value=False)
    action = told.name("action") if told is not None else ""
    if action in ("store_true", "store_false"):
        return defaulted(replace(made, kind="bool", form="on" if action == "store_true" else "off"), field, {})
    if type_.is_list:
        inner = choices_of(type_.inner[0], classes, by_value=False) if type_.inner else ()
        made = replace(made, kind="list", form="words", multiple=True, words=type_.words, choices=choices or inner)
    elif choices:
        made = replace(made, kind="choice", choices=choices)
    elif type_.name == "bool":
        made = replace(made, kind="bool", form="value" if type_.optional else "maybe")
    else:
        made = typed(made, type_)
    made = defaulted(made, field, {name: name for name in classes.members(type_.name) or ()})
    if type_.optional and told is None:
        made = replace(made, required=False)
    if type_.name == "bool" and not type_.optional:
        made = replace(made, offs=tuple(_off(name) for name in made.names if name.startswith("--")))
    return made


def _off(flag: str) -> str:
    """--optim.noamp of --optim.amp."""
    head, dot, name = flag[2:].rpartition(".")
    return f"--{head}{dot}no{name}"


def _choices(told: Arguments | None) -> tuple[str, ...]:
    """Of choice("a", "b"), choice({"a": …}), subgroups({"a": …}) and field(choices=…)."""
    if told is None:
        return ()
    if called(told.node) in ("choice", "subgroups") and told.node.args:
        try:
            values = [literal(node, told.source) for node in told.node.args]
        except Unknown:
            return _keys(told.node.args[0])
        return texts(values[0] if len(values) == 1 else tuple(values))
    return texts(told.value("choices"))


def _keys(node: ast.expr) -> tuple[str, ...]:
    keys = node.keys if isinstance(node, ast.Dict) else []
    return tuple(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
