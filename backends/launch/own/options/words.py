"""Values of a script's options as the words of a command line, and back: a form and a line show the same thing."""

from __future__ import annotations

import re
from ast import literal_eval as literal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backends.launch.own.options.option import Option, Value

# What argparse takes for a negative number, not for a flag.
_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")
_TRUE = ("true", "1", "yes", "y", "t", "on")


def to_words(options: Sequence[Option], values: Mapping[str, Value]) -> tuple[str, ...]:
    """What differs from the defaults, in the parser's own syntax. `values`: by flag, by 'command flag' for those of a
    subcommand; an option that is not in them keeps its default."""
    command = _command(options, values)
    top = [option for option in options if not option.command]
    below = [option for option in options if option.command and option.command == command]
    lists = _positionals(top, values), _flags(top, values)
    # A parser's own options stand before its subcommand; elsewhere positionals come first, so that no list of
    # words swallows them.
    words = (*lists[1], *lists[0]) if command else (*lists[0], *lists[1])
    return (*words, *_positionals(below, values), *_flags(below, values))


def key_of(option: Option) -> str:
    """The key of an option's value."""
    return f"{option.command} {option.flag}" if option.command else option.flag


def _command(options: Sequence[Option], values: Mapping[str, Value]) -> str:
    names = {option.command for option in options if option.command}
    chosen = (values.get(option.flag) for option in options if option.positional and option.kind == "choice")
    return next((value for value in chosen if isinstance(value, str) and value in names), "")


def _positionals(options: Iterable[Option], values: Mapping[str, Value]) -> list[str]:
    """In their order, up to the first that is left out: the next word would take its place."""
    words: list[str] = []
    for option in options:
        if option.positional:
            value = values.get(key_of(option), option.default)
            texts = list(value) if isinstance(value, tuple) else [str(value)] if value not in (None, "") else []
            if not texts:
                break
            words += texts
    while words and all(not _differs(option, values) for option in options if option.positional):
        words.clear()
    return ["--", *words] if any(word.startswith("-") and not _NUMBER.match(word) for word in words) else words


def _flags(options: Iterable[Option], values: Mapping[str, Value]) -> list[str]:
    chosen = [option for option in options if not option.positional and _differs(option, values)]
    return [word for option in chosen for word in _written(option, values[key_of(option)])]


def _differs(option: Option, values: Mapping[str, Value]) -> bool:
    value = values.get(key_of(option))
    if value is None or (value == "" and option.default is None) or (value == () and not option.default):
        return False
    return not _is_same(option, value)


def _is_same(option: Option, value: Value) -> bool:
    default = option.default
    if option.default_source or default is None:
        return False
    if option.kind in ("int", "float") and isinstance(value, str) and isinstance(default, str):
        try:
            return float(value) == float(default)
        except ValueError:
            pass
    return value == default


def _written(option: Option, value: Value) -> list[str]:
    flag = option.flag
    if option.form in ("on", "off", "both"):
        return _switched(option, _as_bool(value))
    if option.form == "count":
        return [flag] * min(int(value), 100) if isinstance(value, str) and value.isdecimal() else []
    if isinstance(value, tuple):
        if option.form == "repeat":
            return [word for text in value for word in _pair(flag, text)]
        return [flag, *value]
    if option.form == "maybe" and isinstance(value, bool) and option.kind != "bool":
        return [flag] if value else []
    if isinstance(value, bool) or option.kind == "bool":
        value = option.yes if _as_bool(value) else option.no
    if option.form == "equals":
        return [f"{flag}={_python(option, value)}"]
    return _pair(flag, value)


def _switched(option: Option, on: bool) -> list[str]:
    if option.form == "both":
        return [option.flag if on else option.off]
    return [option.flag] if on == (option.form == "on") else []


def _pair(flag: str, word: str) -> list[str]:
    return [f"{flag}={word}"] if word.startswith("-") and not _NUMBER.match(word) else [flag, word]


def _python(option: Option, value: str) -> str:
    """nanoGPT's configurator reads a literal and refuses one of another type: 1 is no float, 123 no text."""
    if option.kind == "float" and re.fullmatch(r"[-+]?\d+", value):
        return value + ".0"
    if option.kind in ("text", "path"):
        try:
            return value if isinstance(literal(value), str) else repr(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return value
    return value


def _as_bool(value: Value) -> bool:
    return value if isinstance(value, bool) else str(value).lower() in _TRUE


def parse_words(options: Sequence[Option], words: Sequence[str]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """What a line's words set, and the words that no option takes, in their order. Never raises."""
    return _Line(options).read(list(words))


class _Line:
    def __init__(self, options: Sequence[Option]) -> None:
        self._options = options
        self._values: dict[str, Value] = {}
        self._rest: list[str] = []
        self._enter("")

    def _enter(self, command: str) -> None:
        """The flags and positionals of the parser itself, or of a subcommand."""
        options = [option for option in self._options if option.command == command]
        self._flags = {
            name: option for option in options for name in (*option.names, option.flag) if not option.positional
        }
        self._offs = {name: option for option in options for name in option.offs}
        self._places = [option for option in options if option.positional]

    def read(self, words: list[str]) -> tuple[dict[str, Value], tuple[str, ...]]:
        self._words = words
        while self._words:
            word = self._words.pop(0)
            if word == "--":
                while self._words:
                    self._positional(self._words.pop(0), self._words)
            elif _is_flag(word):
                self._flag(word)
            else:
                self._positional(word, self._words)
        return self._values, tuple(self._rest)

    def _positional(self, word: str, words: list[str]) -> None:
        if not self._places:
            self._rest.append(word)
            return
        option = self._places.pop(0)
        if option.kind == "list":
            list_words = [word]
            while (
                words
                and not _is_flag(words[0])
                and len(list_words) < (option.words or len(words) + len(list_words) + 1)
            ):
                list_words.append(words.pop(0))
            self._values[key_of(option)] = tuple(list_words)
            return
        self._values[key_of(option)] = word
        if option.kind == "choice" and any(other.command == word for other in self._options):
            self._enter(word)

    def _flag(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if not equals and word in self._offs:
            self._values[key_of(self._offs[word])] = False
        elif (option := self._flags.get(name)) is None:
            self._short(word)
        elif option.form in ("on", "off", "both"):
            self._switch(option, word, bool(equals))
        elif option.form == "count":
            self._count(option)
        else:
            self._valued(option, word, value if equals else None)

    def _short(self, word: str) -> None:
        """-j4 is -j 4. What nobody knows goes to the rest, with the word that follows: it is most likely its value."""
        option = self._flags.get(word[:2])
        if option is not None and not word.startswith("--") and option.form in ("value", "repeat", "maybe"):
            self._valued(option, word, word[2:])
            return
        self._rest.append(word)
        if "=" not in word and self._words and not _is_flag(self._words[0]):
            self._rest.append(self._words.pop(0))

    def _switch(self, option: Option, word: str, has_value: bool) -> None:
        if has_value:
            self._rest.append(word)
        else:
            self._values[key_of(option)] = option.form != "off"

    def _count(self, option: Option) -> None:
        so_far = self._values.get(key_of(option), option.default or "0")
        number = int(so_far) if isinstance(so_far, str) and so_far.isdecimal() else 0
        self._values[key_of(option)] = str(number + 1)

    def _valued(self, option: Option, word: str, value: str | None) -> None:
        if option.form == "words" and value is None:
            words: list[str] = []
            while self._words and not _is_flag(self._words[0]) and len(words) < (option.words or 10**6):
                words.append(self._words.pop(0))
            self._values[key_of(option)] = tuple(words)
            return
        if value is None and self._words and not _is_flag(self._words[0]):
            value = self._words.pop(0)
        if value is None:
            if option.form == "maybe":
                self._values[key_of(option)] = True
            else:
                self._rest.append(word)
            return
        self._keep(option, value)

    def _keep(self, option: Option, value: str) -> None:
        if option.kind == "list":
            so_far = self._values.get(key_of(option), ())
            repeated = so_far if option.form == "repeat" and isinstance(so_far, tuple) else ()
            self._values[key_of(option)] = (*repeated, value)
        elif option.kind == "bool":
            self._values[key_of(option)] = value != "" if option.no == "" else _as_bool(value)
        else:
            self._values[key_of(option)] = _unquoted(value) if option.form == "equals" else value


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"'):
        try:
            inner = literal(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return value
        return inner if isinstance(inner, str) else value
    return value


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not _NUMBER.match(word)
