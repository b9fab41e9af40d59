"""Options that come from dataclasses and functions given to a parser of Hugging Face, simple_parsing or tyro."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.launch.own.options import huggingface, simple_parsing, type_hints, tyro
from backends.launch.own.options.call_parsers import Arguments
from backends.launch.own.options.fields import Classes, with_defaults
from backends.launch.own.options.option import Option
from backends.launch.own.options.simple_parsing import Placed
from backends.launch.own.options.source import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backends.launch.own.options.fields import Field
    from backends.launch.own.options.source import Source

_TYRO = ("tyro.cli", "tyro.extras.subcommand_cli_from_dict", "tyro.extras.overridable_config_cli")
_SIMPLE = ("simple_parsing.parse", "simple_parsing.parse_known_args")


@dataclass
class Fields:
    """`library_classes`: classes of a library, whose options cannot be read here; `unread`: lines of fields that
    stand for one class of several."""

    sources: Sequence[Source]
    options: list[Option] = field(default_factory=list)
    library_classes: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)

    def read(self, parts: Iterable[tuple[Source, Sequence[ast.stmt]]]) -> None:
        self._classes = Classes(self.sources)
        for source, body in parts:
            origins = _origins(source)
            calls = [child for node in body for child in ast.walk(node) if isinstance(child, ast.Call)]
            self._simple(source, calls, origins)
            for call in calls:
                name = _origin(call.func, origins)
                if name in _TYRO:
                    self._tyro(source, call, name)
                elif name not in _SIMPLE:
                    self._huggingface(source, call)
        self.library_classes, self.unread = self._classes.library_classes, self._classes.unread

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
            for class_name in _named(first):
                fields = (replace(field, around=()) for field in self._classes.own(class_name).values())
                options = (huggingface.option(each, self._classes) for each in fields)
                self.options += filter(None, options)

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
        settings = simple_parsing.settings_of(calls)
        self.options += simple_parsing.options(placed, self._classes, settings)

    def _placed(self, node: ast.expr, dest: str, prefix: str) -> list[Placed]:
        return [Placed(field, dest, prefix) for name in _named(node) for field in self._classes.expand(name)]

    def _tyro(self, source: Source, call: ast.Call, name: str) -> None:
        if not call.args:
            return
        words = Arguments(call, source)
        if isinstance(first := call.args[0], ast.Dict):
            self._tyro_commands(_commands(first), call, words)
            return
        type_ = type_hints.parse_hint(first, source)
        if len(type_.either) > 1:
            commands = [(_command_name(member.name), member.name) for member in type_.either]
            self._tyro_commands(commands, call, words)
            return
        fields = with_defaults(self._classes.own(type_.name), words.words.get("default"), (type_.name,))
        self.options += self._tyro_options(self._classes.expand_all(fields), words, type_.marks)

    def _tyro_options(self, fields: Iterable[Field], words: Arguments, marks: Sequence[str]) -> Iterator[Option]:
        config_node = words.words.get("config")
        config = [called(mark) for mark in config_node.elts] if isinstance(config_node, (ast.Tuple, ast.List)) else []
        underscores = words.value("use_underscores") is True
        for placed in fields:
            option = tyro.option(placed, self._classes, underscores, (*marks, *config))
            if option is not None:
                yield option

    def _tyro_commands(self, commands: Sequence[tuple[str, str]], call: ast.Call, words: Arguments) -> None:
        names = tuple(name for name, _ in commands)
        self.options.append(Option(
            flag="command", kind="choice", positional=True, required="default" not in words.words, choices=names,
            line=call.lineno, words=1,
        ))  # fmt: skip
        for name, of in commands:
            options = self._tyro_options(self._classes.expand(of), words, ())
            self.options += [replace(option, command=name) for option in options]


def _named(node: ast.expr) -> Iterator[str]:
    if isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            yield from _named(element)
    elif name := called(node):
        yield name


def _text(nodes: Sequence[ast.expr]) -> str:
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return str(next(values, ""))


def _commands(node: ast.Dict) -> list[tuple[str, str]]:
    """Return the commands of {"train": train, "eval": evaluate}."""
    pairs = zip(node.keys, node.values, strict=True)
    return [(key.value, called(value)) for key, value in pairs
            if isinstance(key, ast.Constant) and isinstance(key.value, str)]  # fmt: skip


def _command_name(name: str) -> str:
    """eval-model of EvalModel."""
    names = [
        ("-" if index and letter.isupper() and not name[index - 1].isupper() else "") + letter.lower()
        for index, letter in enumerate(name)
    ]
    return "".join(names).replace("_", "-")


def _origins(source: Source) -> dict[str, str]:
    """What the names of imports stand for: sp is simple_parsing, parse is simple_parsing.parse."""
    prefixes: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            prefixes |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            prefixes |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return prefixes


def _origin(node: ast.expr, origins: dict[str, str]) -> str:
    """The whole name of what is called."""
    if isinstance(node, ast.Attribute):
        return f"{_origin(node.value, origins)}.{node.attr}"
    return origins.get(node.id, node.id) if isinstance(node, ast.Name) else ""
