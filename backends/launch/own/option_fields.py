"""Options that come from dataclasses and functions given to a parser of Hugging Face, simple_parsing or tyro."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.launch.own import option_huggingface, option_simple, option_types, option_tyro
from backends.launch.own.option import Option
from backends.launch.own.option_field import Classes, given
from backends.launch.own.option_parsers import Arguments
from backends.launch.own.option_simple import Placed
from backends.launch.own.option_source import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backends.launch.own.option_field import Field
    from backends.launch.own.option_source import Source

_TYRO = ("tyro.cli", "tyro.extras.subcommand_cli_from_dict", "tyro.extras.overridable_config_cli")
_SIMPLE = ("simple_parsing.parse", "simple_parsing.parse_known_args")


@dataclass
class Fields:
    """`beside`: classes of a library, whose options cannot be read here; `unread`: lines of fields that stand for one
    class of several."""

    sources: Sequence[Source]
    options: list[Option] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)

    def read(self, parts: Iterable[tuple[Source, Sequence[ast.stmt]]]) -> None:
        self._classes = Classes(self.sources)
        for source, body in parts:
            origins = _origins(source)
            calls = [one for node in body for one in ast.walk(node) if isinstance(one, ast.Call)]
            self._simple(source, calls, origins)
            for call in calls:
                name = _origin(call.func, origins)
                if name in _TYRO:
                    self._tyro(source, call, name)
                elif name not in _SIMPLE:
                    self._huggingface(source, call)
        self.beside, self.unread = self._classes.beside, self._classes.unread

    def _huggingface(self, source: Source, call: ast.Call) -> None:
        """Also parsers that are made of it: TrlParser((A, B))."""
        name = called(call)
        first = call.args[0] if call.args else Arguments(call, source).words.get("dataclass_types")
        if isinstance(first, ast.Name) and isinstance(bound := source.constants.get(first.id), (ast.Tuple, ast.List)):
            first = bound
        if first is None or not name.endswith("Parser"):
            return
        several = isinstance(first, (ast.Tuple, ast.List))
        if name == "HfArgumentParser" or several or self._classes.is_struct(called(first)):
            for one in _named(first):
                fields = (replace(made, around=()) for made in self._classes.own(one).values())
                made = (option_huggingface.option(each, self._classes) for each in fields)
                self.options += filter(None, made)

    def _simple(self, source: Source, calls: Sequence[ast.Call], origins: dict[str, str]) -> None:
        if not any(origin.partition(".")[0] == "simple_parsing" for origin in origins.values()):
            return
        placed: list[Placed] = []
        for call in calls:
            words = Arguments(call, source)
            if called(call) == "add_arguments" and call.args:
                dest = words.value("dest") or _text(call.args[1:2])
                placed += self._placed(call.args[0], str(dest), str(words.value("prefix") or ""))
            elif _origin(call.func, origins) in _SIMPLE:
                first = call.args[0] if call.args else words.words.get("config_class")
                if first is not None:
                    placed += self._placed(
                        first, str(words.value("dest") or "config"), str(words.value("prefix") or "")
                    )
        settings = option_simple.settings_of(calls)
        self.options += option_simple.options(placed, self._classes, settings)

    def _placed(self, node: ast.expr, dest: str, prefix: str) -> list[Placed]:
        return [Placed(one, dest, prefix) for name in _named(node) for one in self._classes.expand(name)]

    def _tyro(self, source: Source, call: ast.Call, name: str) -> None:
        if not call.args:
            return
        words = Arguments(call, source)
        if isinstance(first := call.args[0], ast.Dict):
            self._tyro_commands(_commands(first), call, words)
            return
        type_ = option_types.read(first, source)
        if len(type_.either) > 1:
            made = [(_command_name(one.name), one.name) for one in type_.either]
            self._tyro_commands(made, call, words)
            return
        fields = given(self._classes.own(type_.name), words.words.get("default"), (type_.name,))
        self.options += self._tyro_options(self._classes.expand_all(fields), words, type_.marks)

    def _tyro_options(self, fields: Iterable[Field], words: Arguments, marks: Sequence[str]) -> Iterator[Option]:
        given = words.words.get("config")
        config = [called(one) for one in given.elts] if isinstance(given, (ast.Tuple, ast.List)) else []
        underscores = words.value("use_underscores") is True
        for one in fields:
            made = option_tyro.option(one, self._classes, underscores, (*marks, *config))
            if made is not None:
                yield made

    def _tyro_commands(self, commands: Sequence[tuple[str, str]], call: ast.Call, words: Arguments) -> None:
        names = tuple(name for name, _ in commands)
        self.options.append(Option(
            flag="command", kind="choice", positional=True, required="default" not in words.words, choices=names,
            line=call.lineno, words=1,
        ))  # fmt: skip
        for name, of in commands:
            made = self._tyro_options(self._classes.expand(of), words, ())
            self.options += [replace(one, command=name) for one in made]


def _named(node: ast.expr) -> Iterator[str]:
    if isinstance(node, (ast.Tuple, ast.List)):
        for one in node.elts:
            yield from _named(one)
    elif name := called(node):
        yield name


def _text(nodes: Sequence[ast.expr]) -> str:
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return str(next(values, ""))


def _commands(node: ast.Dict) -> list[tuple[str, str]]:
    """Of {"train": train, "eval": evaluate}."""
    pairs = zip(node.keys, node.values, strict=True)
    return [(key.value, called(value)) for key, value in pairs
            if isinstance(key, ast.Constant) and isinstance(key.value, str)]  # fmt: skip


def _command_name(name: str) -> str:
    """eval-model of EvalModel."""
    made = [
        ("-" if place and one.isupper() and not name[place - 1].isupper() else "") + one.lower()
        for place, one in enumerate(name)
    ]
    return "".join(made).replace("_", "-")


def _origins(source: Source) -> dict[str, str]:
    """What the names of imports stand for: sp is simple_parsing, parse is simple_parsing.parse."""
    found: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _origin(node: ast.expr, origins: dict[str, str]) -> str:
    """The whole name of what is called."""
    if isinstance(node, ast.Attribute):
        return f"{_origin(node.value, origins)}.{node.attr}"
    return origins.get(node.id, node.id) if isinstance(node, ast.Name) else ""
