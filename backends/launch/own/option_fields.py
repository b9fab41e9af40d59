"""Options that come from fields: dataclasses given to a parser, and the globals of a nanoGPT-like script."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from backends.launch.own.option import Option, help_text, kind_of, looks_like_path, text_of, value_of
from backends.launch.own.option_parsers import Arguments, defaulted
from backends.launch.own.option_source import Unknown, bound, called, comments, literal, source_of, statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.option import Kind
    from backends.launch.own.option_source import Source

Parser: TypeAlias = Literal["huggingface", "simple", "tyro"]
_CONFIGURATOR = re.compile(r"configurator\.py")
_KINDS: dict[str, Kind] = {"int": "int", "float": "float", "bool": "bool", "str": "text", "Path": "path"}


@dataclass
class Fields:
    """`known`: dataclasses and functions by name, of the script and of what it imports; `beside`: those that a library
    holds, whose options cannot be read here."""

    sources: Sequence[Source]
    options: list[Option] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    def read(self) -> None:
        for node in ast.walk(self.sources[0].tree):
            if isinstance(node, ast.Call) and (parser := _parser_of(node)):
                for name in _named(node.args[:1]):
                    self._of(name, parser)

    def _of(self, name: str, parser: Parser, prefix: str = "", depth: int = 0) -> None:
        for source in self.sources:
            if name in source.classes:
                return self._of_class(source, source.classes[name], parser, prefix, depth)
            if name in source.functions and parser == "tyro":
                return self._of_function(source, source.functions[name])
        if name not in ("object", "ABC", "Generic", "Protocol") and name not in self.beside:
            self.beside.append(name)
        return None

    def _of_class(self, source: Source, node: ast.ClassDef, parser: Parser, prefix: str, depth: int) -> None:
        if depth > 8:
            return
        for base in node.bases:
            self._of(called(base), parser, prefix, depth + 1)
        said = comments(source)
        for place, one in enumerate(node.body):
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                self._field(source, one, parser, prefix, depth, _said(node.body, place, said))

    def _field(self, source: Source, node: ast.AnnAssign, parser: Parser, prefix: str, depth: int, said: str) -> None:
        assert isinstance(node.target, ast.Name)
        inner = _names_in(node.annotation)
        if "ClassVar" in inner or "InitVar" in inner:
            return
        nested = next((name for name in inner for one in self.sources if _is_dataclass(one, name)), "")
        if nested:
            self._of(nested, parser, f"{prefix}{node.target.id}." if parser == "tyro" else prefix, depth + 1)
            return
        name = (prefix + node.target.id).replace("_", "-") if parser == "tyro" else node.target.id
        self._add(_typed(f"--{name}", node.annotation, node.value, parser, source, said, node.lineno))

    def _of_function(self, source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        given = [*node.args.posonlyargs, *node.args.args]
        defaults: list[ast.expr | None] = [None] * (len(given) - len(node.args.defaults))
        pairs = zip(
            (*given, *node.args.kwonlyargs), (*defaults, *node.args.defaults, *node.args.kw_defaults), strict=False
        )
        for one, default in pairs:
            flag = "--" + one.arg.replace("_", "-")
            self._add(_typed(flag, one.annotation, default, "tyro", source, "", one.lineno))

    def _add(self, option: Option) -> None:
        """A field that a class takes over from its base stands where the base has it, as the class has it."""
        for place, other in enumerate(self.options):
            if other.flag == option.flag:
                self.options[place] = option
                return
        self.options.append(option)


def _parser_of(node: ast.Call) -> Parser | None:
    name = called(node)
    of = called(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    if not node.args:
        return None
    if name == "HfArgumentParser" or (name.endswith("Parser") and isinstance(node.args[0], ast.Tuple)):
        return "huggingface"
    if name == "add_arguments" or (name == "parse" and of == "simple_parsing"):
        return "simple" if isinstance(node.args[0], ast.Name) else None
    return "tyro" if name == "cli" and of == "tyro" else None


def _named(nodes: Sequence[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.Tuple, ast.List)):
            yield from _named(node.elts)
        elif name := called(node):
            yield name


def _is_dataclass(source: Source, name: str) -> bool:
    node = source.classes.get(name)
    return node is not None and any(called(one) == "dataclass" for one in node.decorator_list)


def _said(body: list[ast.stmt], place: int, said: dict[int, str]) -> str:
    """The text under a field, else the comment beside it."""
    after = body[place + 1] if place + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return after.value.value
    return said.get(body[place].end_lineno or 0, "")


def _names_in(node: ast.expr | None) -> list[str]:
    """Every name of an annotation, also of one that is written as text."""
    if node is None:
        return []
    names: list[str] = []
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            names.append(one.id)
        elif isinstance(one, ast.Attribute):
            names.append(one.attr)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            names += re.findall(r"[A-Za-z_]\w*", one.value[:500])
    return names


def _typed(
    flag: str, annotation: ast.expr | None, value: ast.expr | None, parser: Parser, source: Source, said: str, line: int
) -> Option:
    names = _names_in(annotation)
    choices = _literal_choices(annotation, source) or _enum_choices(names, parser, source)
    option = Option(flag=flag, names=(flag,), line=line, help=help_text(said), choices=choices, yes="true", no="false")
    if any(name.lower() in ("list", "tuple", "sequence") for name in names[:2]):
        option = replace(option, kind="list", form="words", multiple=True)
    elif choices:
        option = replace(option, kind="choice")
    else:
        kind: Kind = next((_KINDS[name] for name in names if name in _KINDS), "text")
        option = replace(option, kind="path" if kind == "text" and looks_like_path(flag) else kind)
    option = _with_value(option, value, source)
    if option.kind == "bool" and parser == "tyro":
        name = flag[2:].rpartition(".")
        option = replace(option, form="both", off=f"--{name[0]}{name[1]}no-{name[2]}")
    return option


def _with_value(option: Option, value: ast.expr | None, source: Source) -> Option:
    if value is None:
        return replace(option, required=True)
    if not isinstance(value, ast.Call) or called(value) not in ("field", "choice", "flag", "mutable_field"):
        return _default(option, value, source)
    arguments = Arguments(value, source)
    if called(value) == "choice" and (names := arguments.strings()):
        option = replace(option, kind="choice", choices=names)
    if isinstance(meta := arguments.words.get("metadata"), ast.Dict):
        option = replace(option, help=_meta_help(meta, source) or option.help)
    option = replace(option, help=help_text(arguments.value("help")) or option.help)
    if "default" in arguments.words:
        return defaulted(option, arguments)
    if "default_factory" in arguments.words:
        return _factory(option, arguments.words["default_factory"], source)
    return option if called(value) == "flag" else replace(option, required=True)


def _factory(option: Option, node: ast.expr, source: Source) -> Option:
    if isinstance(node, ast.Lambda):
        return _default(option, node.body, source)
    if called(node) in ("list", "tuple"):
        return replace(option, default=())
    return replace(option, default_source=source_of(node) + "()")


def _default(option: Option, node: ast.expr, source: Source) -> Option:
    try:
        return replace(option, default=value_of(literal(node, source), option.kind))
    except Unknown:
        member = node.attr if isinstance(node, ast.Attribute) and option.choices else ""
        if member in option.choices:
            return replace(option, default=member)
        return replace(option, default_source=source_of(node))


def _meta_help(node: ast.Dict, source: Source) -> str:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "help":
            try:
                return help_text(literal(value, source))
            except Unknown:
                return ""
    return ""


def _literal_choices(node: ast.expr | None, source: Source) -> tuple[str, ...]:
    for one in ast.walk(node) if node is not None else ():
        if isinstance(one, ast.Subscript) and called(one.value) == "Literal":
            try:
                values = literal(one.slice, source)
            except Unknown:
                return ()
            return tuple(map(text_of, values if isinstance(values, tuple) else (values,)))
    return ()


def _enum_choices(names: list[str], parser: Parser, source: Source) -> tuple[str, ...]:
    """Hugging Face takes an enumeration's values, the others the names of its members."""
    for name in names:
        node = source.classes.get(name)
        if node is None or not any("Enum" in called(base) for base in node.bases):
            continue
        members = [pair for one in node.body for pair in bound(one).items()]
        if parser != "huggingface":
            return tuple(member for member, _ in members)
        return tuple(text_of(value.value) for _, value in members if isinstance(value, ast.Constant))
    return ()


def configured(source: Source) -> list[Option]:
    """nanoGPT's way: globals above exec(open('configurator.py').read()); a file of them, then --key=value."""
    top = list(statements(source.tree.body))
    at = next((node.lineno for node in top if isinstance(node, ast.Expr) and _is_configurator(node.value)), None)
    if at is None:
        return []
    said = comments(source)
    file = Option(flag="config", kind="path", positional=True, line=at, words=1)
    found = {
        name: _global(name, value, source, said) for node in top if node.lineno < at for name, value in _plain(node)
    }
    return [file, *(option for option in found.values() if option is not None)]


def _is_configurator(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "exec" and bool(_CONFIGURATOR.search(source_of(node)))


def _plain(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    return [(name, value) for name, value in bound(node).items() if not name.startswith("_")]


def _global(name: str, node: ast.expr, source: Source, said: dict[int, str]) -> Option | None:
    option = Option(flag=f"--{name}", names=(f"--{name}",), form="equals", line=node.lineno,
                    help=help_text(said.get(node.end_lineno or 0, "")))  # fmt: skip
    try:
        value = literal(node, source)
    except Unknown:
        if isinstance(node, (ast.ListComp, ast.DictComp, ast.Call, ast.Dict, ast.List, ast.Subscript)):
            return None
        return replace(option, default_source=source_of(node))
    if not isinstance(value, (bool, int, float, str)):
        return None
    kind = kind_of(value)
    kind = "path" if kind == "text" and looks_like_path(name) else kind
    return replace(option, kind=kind, default=value_of(value, kind))
