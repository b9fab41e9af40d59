"""Fields of dataclasses and parameters of functions, of a script and of what it imports, before a parser takes them."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.options import type_hints
from backends.launch.own.options.call_parsers import Arguments
from backends.launch.own.options.source import (
    Unknown,
    called,
    comments,
    literal,
    source_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.launch.own.options.source import Source
    from backends.launch.own.options.type_hints import Type

_FIELD = re.compile(r"(?i)(field|arg)$|^(choice|flag|subgroups)$")
_FIELD_WORDS = {"default", "default_factory", "metadata"}
# Bases without fields of their own, also of the libraries.
_PLAIN_BASES = (
    "object", "ABC", "Generic", "Protocol", "BaseModel", "NamedTuple", "TypedDict", "Serializable",
    "FrozenSerializable", "SimpleSerializable", "PrintableConfig",
)  # fmt: skip
_DECORATED = ("dataclass", "define", "frozen", "mutable", "attrs", "s")
_HEADING = re.compile(r"(?i)(args|arguments|parameters|params|attributes):?$")
_DESCRIBED = re.compile(r"(\s*)\*{0,2}(\w+)\s*(?:\([^()]*\))?\s*:\s+(.*)$")
_PARAM = re.compile(r"\s*:(?:param|ivar)\s+(?:\w+\s+)?(\w+):\s*(.*)$")
_DEEPEST = 8
_MAX_FIELDS = 4000
"""Fields and classes that are looked at, however many name each other."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """`value`: what it is bound to, None where nothing; `around`: the fields that hold its class; `default`: what the
    class around it sets for it, "" where that cannot be seen; `above`, `trailing_comment`, `below`, `described`: what
    the source says of it; `marks`: those of the classes around it."""

    name: str
    type: Type
    source: Source
    line: int
    value: ast.expr | None = None
    default: ast.expr | str | None = None
    around: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    above: str = ""
    trailing_comment: str = ""
    below: str = ""
    described: str = ""
    positional: bool = False

    @property
    def arguments(self) -> Arguments | None:
        """Return the arguments of field(…) and its like."""
        if isinstance(self.value, ast.Call) and is_field(self.value):
            return Arguments(self.value, self.source)
        return None


def is_field(node: ast.Call) -> bool:
    return bool(_FIELD.search(called(node)) or any(word.arg in _FIELD_WORDS for word in node.keywords))


@dataclass
class Classes:
    """`library_classes`: classes of a library, whose fields cannot be read here; `unread`: lines of fields that hold
    one of several classes."""

    sources: Sequence[Source]
    library_classes: list[str] = dataclasses.field(default_factory=list)
    unread: list[int] = dataclasses.field(default_factory=list)
    _field_count: int = 0

    def find(self, name: str) -> tuple[Source, ast.ClassDef] | None:
        return next(((source, source.classes[name]) for source in self.sources if name in source.classes), None)

    def function(self, name: str) -> tuple[Source, ast.FunctionDef | ast.AsyncFunctionDef] | None:
        functions = ((source, source.functions[name]) for source in self.sources if name in source.functions)
        return next(functions, None)

    def is_struct(self, name: str) -> bool:
        """Whether a field of this class stands for the fields of it."""
        definition = self.find(name)
        if definition is None or self.members(name) is not None:
            return False
        node = definition[1]
        return _is_decorated(node) or any(called(base) in ("BaseModel", "NamedTuple") for base in node.bases)

    def members(self, name: str) -> dict[str, str] | None:
        """Return the members of an enumeration with their values as text, "" where a value is no literal."""
        definition = self.find(name)
        if definition is None or not any(
            "Enum" in called(base) or called(base) == "Flag" for base in definition[1].bases
        ):
            return None
        source, node = definition
        members = (
            statement
            for statement in node.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        )
        return {member.targets[0].id: _text(member.value, source) for member in members}  # type: ignore[attr-defined]

    def expand(self, name: str) -> list[Field]:
        """The fields of a class, or the parameters of a function, with those of the classes that they hold."""
        return list(self._expand(self._own(name, 0), (), (), 0))

    def expand_all(self, fields: Mapping[str, Field]) -> list[Field]:
        return list(self._expand(fields, (), (), 0))

    def own(self, name: str) -> dict[str, Field]:
        return self._own(name, 0)

    def _expand(
        self, fields: Mapping[str, Field], around: tuple[str, ...], marks: tuple[str, ...], depth: int
    ) -> Iterator[Field]:
        """As the libraries show them: plain fields first, then those that hold a class."""
        if depth > _DEEPEST:
            return
        held: list[Field] = []
        for field in fields.values():
            self._field_count += 1
            if self._field_count > _MAX_FIELDS:
                return
            if any(self.is_struct(part.name) for part in field.type.either) or (
                self.is_struct(field.type.name) and field.type.optional
            ):
                self.unread.append(field.line)
                if field.arguments is not None and called(field.arguments.node) == "subgroups":
                    yield replace(field, around=around, marks=marks)
            elif self.is_struct(field.type.name):
                held.append(field)
            else:
                yield replace(field, around=around, marks=marks)
        for field in held:
            inner = _with_call_defaults(self._own(field.type.name, 0), _instance(field), field)
            yield from self._expand(inner, (*around, field.name), (*marks, *field.type.marks), depth + 1)

    def _own(self, name: str, depth: int) -> dict[str, Field]:
        """Return the fields of a class and its bases: an inherited field stands where the base has it."""
        self._field_count += 1
        if depth > _DEEPEST or self._field_count > _MAX_FIELDS:
            return {}
        if (function := self.function(name)) is not None and depth == 0:
            return parameters(*function)
        if (definition := self.find(name)) is None:
            if name and name not in _PLAIN_BASES and name not in self.library_classes:
                self.library_classes.append(name)
            return {}
        source, node = definition
        fields: dict[str, Field] = {}
        for base in reversed(node.bases):
            fields.update(self._own(called(base.value if isinstance(base, ast.Subscript) else base), depth + 1))
        begin = next(
            (
                statement
                for statement in node.body
                if isinstance(statement, ast.FunctionDef) and statement.name == "__init__"
            ),
            None,
        )
        if begin is not None and not _is_decorated(node):
            return {name: parameter for name, parameter in parameters(source, begin).items() if name != "self"}
        if _is_decorated(node) or not all(self.find(called(base)) for base in node.bases) or not node.bases:
            fields.update(_annotated(source, node))
        return fields


def _is_decorated(node: ast.ClassDef) -> bool:
    return any(called(decorator) in _DECORATED for decorator in node.decorator_list)


def _text(node: ast.expr, source: Source) -> str:
    try:
        value = literal(node, source)
    except Unknown:
        return ""
    return str(value) if isinstance(value, (str, int, float)) else ""


def _annotated(source: Source, node: ast.ClassDef) -> dict[str, Field]:
    comment_by_line, lines, described = comments(source), _lines(source.text), descriptions(node)
    fields: dict[str, Field] = {}
    for index, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        type_ = type_hints.parse_hint(statement.annotation, source)
        if type_.name in ("ClassVar", "InitVar", "KW_ONLY"):
            continue
        fields[statement.target.id] = Field(
            name=statement.target.id,
            type=type_,
            source=source,
            line=statement.lineno,
            value=statement.value,
            above=_above(lines, statement.lineno),
            trailing_comment=comment_by_line.get(statement.end_lineno or 0, ""),
            below=_below(node.body, index),
            described=described.get(statement.target.id, ""),
        )
    return fields


def parameters(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Field]:
    comment_by_line, lines, described = comments(source), _lines(source.text), descriptions(node)
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    values = (*defaults, *node.args.defaults, *node.args.kw_defaults)
    return {
        parameter.arg: Field(
            name=parameter.arg,
            type=type_hints.parse_hint(parameter.annotation, source),
            source=source,
            line=parameter.lineno,
            value=value,
            above=_above(lines, parameter.lineno),
            trailing_comment=comment_by_line.get(parameter.lineno, "") if parameter.lineno > node.lineno else "",
            described=described.get(parameter.arg, ""),
            positional=parameter in node.args.posonlyargs,
        )
        for parameter, value in zip((*positional, *node.args.kwonlyargs), values, strict=False)
    }


@functools.lru_cache(maxsize=4)
def _lines(text: str) -> Sequence[str]:
    return text.splitlines()


def _above(lines: Sequence[str], line: int) -> str:
    """The lines of comment right above."""
    lines_above: list[str] = []
    for text in reversed(lines[max(0, line - 9) : line - 1]):
        if not text.lstrip().startswith("#"):
            break
        lines_above.insert(0, text.strip().lstrip("#").strip())
    return " ".join(lines_above)


def _below(body: list[ast.stmt], index: int) -> str:
    after = body[index + 1] if index + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return after.value.value
    return ""


def descriptions(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """What a docstring says of each argument: below a heading such as Args, or as :param name:."""
    by_name: dict[str, str] = {}
    inside, indent, name = False, -1, ""
    for text in inspect.cleandoc(ast.get_docstring(node) or "").splitlines()[:_MAX_FIELDS]:
        if match := _PARAM.match(text):
            by_name[match[1]] = match[2]
        elif _HEADING.match(text.strip()):
            inside, indent, name = True, -1, ""
        elif inside and text.strip():
            depth = len(text) - len(text.lstrip())
            match = _DESCRIBED.match(text + " ")
            indent = depth if indent < 0 else indent
            if match and depth == indent:
                name = match[2]
                by_name[name] = match[3].strip()
            elif name and depth > indent:
                by_name[name] += " " + text.strip()
            else:
                inside = False
    return by_name


def _instance(one: Field) -> ast.expr | None:
    """The instance that a field of a class begins with."""
    if one.default is not None and not isinstance(one.default, str):
        return one.default
    node = one.value
    if (arguments := one.arguments) is not None:
        node = arguments.words.get("default")
        if node is None and (factory := arguments.words.get("default_factory")) is not None:
            node = factory.body if isinstance(factory, ast.Lambda) else None
            if node is None and called(factory) != one.type.name:
                node = factory
        if node is None and arguments.node.keywords and called(arguments.node) == "mutable_field":
            node = arguments.node
    return node


def _with_call_defaults(fields: dict[str, Field], node: ast.expr | None, of: Field) -> dict[str, Field]:
    return with_defaults(fields, node, (of.type.name, "mutable_field"))


def with_defaults(fields: dict[str, Field], node: ast.expr | None, names: Sequence[str]) -> dict[str, Field]:
    """With the values of a call of their class; where an instance comes from elsewhere, they are that expression's."""
    if node is None:
        return fields
    if isinstance(node, ast.Call) and called(node) in names and isinstance(node.func, (ast.Name, ast.Attribute)):
        places = [] if called(node) == "mutable_field" else list(zip(fields, node.args, strict=False))
        words = {**dict(places), **{word.arg: word.value for word in node.keywords if word.arg is not None}}
        return {name: replace(field, default=words.get(name, field.default)) for name, field in fields.items()}
    text = source_of(node)
    return {name: replace(field, default=f"{text}.{name}"[:200]) for name, field in fields.items()}
