"""Options that argparse and click are told of, call by call, in the order of the source."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from backends.launch.own.options.option import (
    Option,
    help_text,
    kind_of,
    looks_like_path,
    text_of,
    value_of,
)
from backends.launch.own.options.source import (
    Unknown,
    called,
    literal,
    source_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.launch.own.options.option import Form, Kind
    from backends.launch.own.options.source import Source

_KINDS: dict[str, Kind] = {
    "int": "int", "float": "float", "str": "text", "Path": "path", "INT": "int", "FLOAT": "float", "STRING": "text",
    "BOOL": "bool", "File": "path", "FileType": "path", "IntRange": "int", "FloatRange": "float", "bool": "bool",
    "PurePath": "path",
}  # fmt: skip
_PATHS = ("DIR", "PATH", "FILE", "FILENAME")


@dataclass
class Arguments:
    """The keyword arguments of a call, asked one by one."""

    node: ast.Call
    source: Source
    words: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = {word.arg: word.value for word in self.node.keywords if word.arg is not None}

    def value(self, name: str, otherwise: Any = None) -> Any:
        try:
            return literal(self.words[name], self.source) if name in self.words else otherwise
        except Unknown:
            return otherwise

    def name(self, name: str) -> str:
        """Return what an argument names: 'int' for type=int, the text itself for action="store_true"."""
        node = self.words.get(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return called(node) if node is not None else ""

    def strings(self) -> tuple[str, ...] | None:
        """The positional arguments; None where one is no literal text."""
        try:
            values = [literal(node, self.source) for node in self.node.args]
        except Unknown:
            return None
        return tuple(values) if values and all(isinstance(value, str) and value for value in values) else None


def defaulted(option: Option, arguments: Arguments, name: str = "default") -> Option:
    """With the default of a call, or with its source where that is an expression."""
    node = arguments.words.get(name)
    if node is None:
        return option
    try:
        return replace(option, default=value_of(literal(node, arguments.source), option.kind))
    except Unknown:
        return replace(option, default_source=source_of(node))


# argparse


@dataclass
class Argparse:
    """`commands`: the subcommand that a variable's parser belongs to, by scope and name; `unread`: lines of calls that
    name their option by an expression."""

    source: Source
    options: list[Option] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    commands: dict[tuple[int, str], str] = field(default_factory=dict)
    holders: dict[tuple[int, str], int] = field(default_factory=dict)

    def read(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self._scope(node, 0)

    def _scope(self, top: ast.AST, scope: int) -> None:
        waiting: list[tuple[ast.AST, int]] = [(top, scope)]
        while waiting:
            node, scope = waiting.pop()
            inner = id(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else scope
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                self._assigned(node, inner)
            if isinstance(node, ast.Call):
                self._call(node, inner)
            waiting += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]

    def _assigned(self, node: ast.Assign, scope: int) -> None:
        call = node.value
        assert isinstance(call, ast.Call)
        for target in map(_dotted, node.targets):
            self.commands[scope, target] = self._command(call, scope)
            if called(call) == "add_subparsers":
                self.holders[scope, target] = len(self.options)

    def _command(self, node: ast.expr, scope: int) -> str:
        """The subcommand of the parser that an expression gives."""
        if not isinstance(node, ast.Call):
            return self.commands.get((scope, _dotted(node)), "")
        name, of = called(node), node.func.value if isinstance(node.func, ast.Attribute) else None
        if of is None:
            return ""
        if name == "add_parser":
            return (Arguments(node, self.source).strings() or ("",))[0]
        return self._command(of, scope) if name in ("add_argument_group", "add_mutually_exclusive_group") else ""

    def _call(self, node: ast.Call, scope: int) -> None:
        name = called(node)
        if not isinstance(node.func, ast.Attribute):
            return
        if name == "add_argument":
            self._argument(node, self._command(node.func.value, scope))
        elif name == "add_subparsers":
            self._subparsers(node)
        elif name == "add_parser":
            self._parser(node)
        elif name == "set_defaults":
            self._set_defaults(Arguments(node, self.source))

    def _argument(self, node: ast.Call, command: str) -> None:
        arguments = Arguments(node, self.source)
        names = arguments.strings()
        if names is None or any(word.arg is None for word in node.keywords):
            self.unread.append(node.lineno)
        elif arguments.name("action") not in ("help", "version") and not any(map(self._has(command), names)):
            self.options.append(replace(_argument(names, arguments), command=command))

    def _has(self, command: str) -> Any:
        names = {name for option in self.options if option.command == command for name in (*option.names, option.flag)}
        return names.__contains__

    def _subparsers(self, node: ast.Call) -> None:
        arguments = Arguments(node, self.source)
        name = arguments.value("dest") or arguments.value("metavar") or "command"
        required = bool(arguments.value("required", False))
        self.options.append(Option(
            flag=text_of(name), kind="choice", positional=True, required=required, line=node.lineno, words=1,
            help=help_text(arguments.value("help") or arguments.value("title")),
        ))  # fmt: skip

    def _parser(self, node: ast.Call) -> None:
        names = Arguments(node, self.source).strings()
        for index in range(len(self.options) - 1, -1, -1):
            option = self.options[index]
            if option.positional and option.kind == "choice" and option.words == 1 and not option.command:
                self.options[index] = replace(option, choices=(*option.choices, *(names or ("",))[:1]))
                break

    def _set_defaults(self, arguments: Arguments) -> None:
        for index, option in enumerate(self.options):
            if option.name.replace("-", "_") in arguments.words:
                self.options[index] = defaulted(option, arguments, option.name.replace("-", "_"))


def _dotted(node: ast.expr) -> str:
    return f"{_dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else called(node)


def _argument(names: tuple[str, ...], arguments: Arguments) -> Option:
    flags = [name for name in names if name.startswith("-")]
    long = [name for name in flags if name.startswith("--")]
    choices = arguments.value("choices")
    option = Option(
        flag=(long or flags or names)[0], names=tuple(flags), positional=not flags, line=arguments.node.lineno,
        help=help_text(arguments.value("help")),
        choices=tuple(map(text_of, choices)) if isinstance(choices, (tuple, dict)) else (),
        required=bool(arguments.value("required", False)),
    )  # fmt: skip
    return _with_action(option, arguments)


def _with_action(option: Option, arguments: Arguments) -> Option:
    action = arguments.name("action")
    if action in ("store_true", "store_false", "store_const"):
        form: Form = "off" if action == "store_false" else "on"
        return defaulted(replace(option, kind="bool", form=form, default=form == "off"), arguments)
    if action == "BooleanOptionalAction":
        names = [name for name in option.names if name.startswith("--")] or [option.flag]
        return defaulted(
            replace(option, kind="bool", form="both", offs=tuple("--no-" + name[2:] for name in names)), arguments
        )
    if action == "count":
        return defaulted(replace(option, kind="int", form="count"), arguments)
    option = _with_type(option, arguments)
    return defaulted(_with_number(option, arguments, action), arguments)


def _with_type(option: Option, arguments: Arguments) -> Option:
    node = arguments.words.get("type")
    name = called(node) if node is not None else ""
    if option.choices:
        return replace(option, kind="choice")
    if name == "bool" and isinstance(node, ast.Name):  # whatever is not empty is true
        return replace(option, kind="bool", no="")
    if "bool" in name.lower() or (isinstance(node, ast.Lambda) and "true" in source_of(node.body).lower()):
        return replace(option, kind="bool", yes="true", no="false")
    kind: Kind = _KINDS.get(name, "text") if node is not None else "text"
    meta = arguments.value("metavar")
    if kind == "text" and (looks_like_path(option.name) or meta in _PATHS):
        kind = "path"
    return replace(option, kind=kind)


def _with_number(option: Option, arguments: Arguments, action: str) -> Option:
    nargs = arguments.value("nargs")
    if "REMAINDER" in arguments.name("nargs") or nargs == "...":
        nargs = "*"
    if nargs == "?":
        return replace(option, form="maybe", required=option.required)
    if nargs in ("*", "+") or (isinstance(nargs, int) and not isinstance(nargs, bool) and nargs > 0):
        words = nargs if isinstance(nargs, int) else 0
        required = option.required or (option.positional and nargs != "*")
        return replace(option, kind="list", form="words", multiple=True, words=words, required=required)
    if action in ("append", "extend", "append_const"):
        return replace(option, kind="list", form="repeat", multiple=True)
    return replace(option, required=option.required or option.positional)


# click


def click(source: Source) -> list[Option]:
    """Return the options of every decorated function; with several commands, each option names its own."""
    options: list[Option] = []
    commands = [node for node in source.functions.values() if any(map(_is_command, node.decorator_list))]
    groups = [node for node in commands if any(called(decorator) == "group" for decorator in node.decorator_list)]
    functions = source.functions.values()
    decorated = [node for node in functions if any(map(_is_click, node.decorator_list))]
    for node in decorated:
        command = _command_name(node, source) if groups and node not in groups and node in commands else ""
        options += [replace(option, command=command) for option in _decorated(node, source)]
    if groups:
        names = tuple(_command_name(node, source) for node in commands if node not in groups)
        index = sum(option.command == "" for option in options)
        options.sort(key=lambda option: option.command != "")
        chosen = Option(flag="command", kind="choice", positional=True, required=True, choices=names, words=1)
        options.insert(index, replace(chosen, line=groups[0].lineno))
    return options


def _is_command(node: ast.expr) -> bool:
    return called(node) in ("command", "group")


def _is_click(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) in ("option", "argument")


def _command_name(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> str:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _is_command(decorator):
            arguments = Arguments(decorator, source)
            if name := arguments.value("name") or (arguments.strings() or ("",))[0]:
                return text_of(name)
    return node.name.replace("_", "-")


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> Iterator[Option]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _is_click(decorator):
            arguments = Arguments(decorator, source)
            if names := arguments.strings():
                yield _click_argument(names, arguments) if called(decorator) == "argument" else _click(names, arguments)


def _click_argument(names: tuple[str, ...], arguments: Arguments) -> Option:
    option = Option(flag=names[0], positional=True, line=arguments.node.lineno, words=1)
    option = _click_type(option, arguments)
    nargs = arguments.value("nargs", 1)
    if isinstance(nargs, int) and nargs != 1:
        option = replace(option, kind="list", form="words", multiple=True, words=max(0, nargs))
    needed = "default" not in arguments.words and nargs != -1
    return defaulted(replace(option, required=bool(arguments.value("required", needed))), arguments)


def _click(names: tuple[str, ...], arguments: Arguments) -> Option:
    flags = [flag for name in names if name.startswith("-") for flag in name.split("/")[:1]]
    offs = [name.partition("/")[2].strip() for name in names if name.startswith("-") and "/" in name]
    flags = [flag.strip() for flag in flags]
    flag = next((spelling for spelling in flags if spelling.startswith("--")), (flags or list(names))[0])
    option = Option(
        flag=flag, names=tuple(flags), line=arguments.node.lineno, required=bool(arguments.value("required", False)),
        help=help_text(arguments.value("help")),
    )  # fmt: skip
    if offs:
        return defaulted(replace(option, kind="bool", form="both", offs=tuple(offs), default=False), arguments)
    if arguments.value("is_flag"):
        return defaulted(replace(option, kind="bool", form="on", default=False), arguments)
    if arguments.value("count"):
        return defaulted(replace(option, kind="int", form="count"), arguments)
    return defaulted(_click_number(_click_type(option, arguments), arguments), arguments)


def _click_number(option: Option, arguments: Arguments) -> Option:
    nargs = arguments.value("nargs", 1)
    if arguments.value("multiple"):
        return replace(option, kind="list", form="repeat", multiple=True)
    if isinstance(nargs, int) and nargs > 1:
        return replace(option, kind="list", form="words", multiple=True, words=nargs)
    return option


def _click_type(option: Option, arguments: Arguments) -> Option:
    node = arguments.words.get("type")
    if isinstance(node, ast.Call) and called(node) == "Choice":
        choices = Arguments(node, arguments.source)
        return replace(option, kind="choice", choices=_choices(choices))
    if node is not None:
        return replace(option, kind=_KINDS.get(called(node), "text"), yes="true", no="false")
    kind = kind_of(arguments.value("default"))
    if kind in ("text", "list"):
        kind = "path" if looks_like_path(option.name) else "text"
    return replace(option, kind=kind, yes="true", no="false")


def _choices(arguments: Arguments) -> tuple[str, ...]:
    try:
        values = literal(arguments.node.args[0], arguments.source)
    except (Unknown, IndexError):
        return ()
    return tuple(map(text_of, values)) if isinstance(values, (tuple, dict)) else ()
