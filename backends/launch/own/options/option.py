"""One option of a user's script, as its source says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["text", "int", "float", "bool", "choice", "path", "list"]
Form: TypeAlias = Literal["value", "equals", "words", "repeat", "maybe", "on", "off", "both", "count"]
Value: TypeAlias = "str | bool | tuple[str, ...]"

_PATH = re.compile(r"(^|[-_.])(dir|directory|path|file|folder|root|ckpt|checkpoint)s?$")
_DEFAULT = re.compile(r"[\s,;]*[(\[]default(?:s to)?[ :=][^()\[\]]{0,80}(?:\(default\)\w)?[)\]]")


@dataclass(frozen=True, kw_only=True)
class Option:
    """`flag`: what it is written with, of a positional its name; `names`: all of its flags; `offs`: those that
    turn it off. `form` says how it is written:

    value --lr 0.1, equals --lr=0.1, words --sizes 1 2 3, repeat --tag a --tag b, count -v -v,
    maybe --x or --x 1 (its value is True without one);
    on, off, both: flags without a value, which turn it on, off, or either.

    `default`: None where there is none, or where it is an expression: then `default_source` is its text. `yes`, `no`:
    how a bool that takes a value is written. `command`: the subcommand that it belongs to. `kind` list: several words.
    """

    flag: str
    names: tuple[str, ...] = ()
    offs: tuple[str, ...] = ()
    kind: Kind = "text"
    form: Form = "value"
    default: Value | None = None
    default_source: str = ""
    choices: tuple[str, ...] = ()
    help: str = ""
    required: bool = False
    positional: bool = False
    multiple: bool = False
    line: int = 0
    command: str = ""
    yes: str = "True"
    no: str = "False"
    words: int = 0
    """How many words it takes, 0 for any number."""
    path: str = ""
    """The file that says so, where it is not the script itself."""

    @property
    def name(self) -> str:
        return self.flag.lstrip("-")

    @property
    def off(self) -> str:
        return self.offs[0] if self.offs else ""


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else repr(value) if not isinstance(value, type(None)) else ""


def value_of(value: Any, kind: Kind) -> Value | None:
    """A literal as the value of an option; None for None and for what is no plain value."""
    if value is None or isinstance(value, (dict, bytes, complex)) or value is ...:
        return None
    if kind == "bool":
        return bool(value)
    if isinstance(value, tuple):
        return tuple(map(text_of, value)) if kind == "list" else None
    return (text_of(value),) if kind == "list" else text_of(value)


def kind_of(value: Any) -> Kind:
    """What a literal default says about its option."""
    kinds: dict[type, Kind] = {bool: "bool", int: "int", float: "float", tuple: "list"}
    return kinds.get(type(value), "text")


def looks_like_path(name: str) -> bool:
    return bool(_PATH.search(name.lower()))


def help_text(text: Any) -> str:
    """One line, without the default, which is shown beside it."""
    if not isinstance(text, str):
        return ""
    return " ".join(_DEFAULT.sub("", text).replace("%%", "%").split())[:500]
