"""Fields of dataclasses and parameters of functions, of a script and of what it imports, before a parser takes them."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.launch.own import option_types
from backends.launch.own.option_parsers import Arguments
from backends.launch.own.option_source import Unknown, called, comments, literal, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.launch.own.option_source import Source
    from backends.launch.own.option_types import Type

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
_MOST = 4000
"""Fields and classes that are looked at, however many name each other."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """`value`: what it is bound to, None where nothing; `around`: the fields that hold its class; `default`: what the
    class around it was given for it, "" where that cannot be seen; `above`, `beside`, `below`, `described`: what the
    source says of it, `marks` those of the classes around it."""

    name: str
    type: Type
    source: Source
    line: int
    value: ast.expr | None = None
    default: ast.expr | str | None = None
    around: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    above: str = ""
    beside: str = ""
    below: str = ""
    described: str = ""
    positional: bool = False

    @property
    def arguments(self) -> Arguments | None:
        """Of field(…) and its like."""
        if isinstance(self.value, ast.Call) and is_field(self.value):
            return Arguments(self.value, self.source)
        return None


def is_field(node: ast.Call) -> bool:
    return bool(_FIELD.search(called(node)) or any(word.arg in _FIELD_WORDS for word in node.keywords))


@dataclass
class Classes:
    """`beside`: classes of a library, whose fields cannot be read here; `unread`: lines of fields that hold one of
    several classes."""

    sources: Sequence[Source]
    beside: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    _taken: int = 0

    def find(self, name: str) -> tuple[Source, ast.ClassDef] | None:
        return next(((source, source.classes[name]) for source in self.sources if name in source.classes), None)

    def function(self, name: str) -> tuple[Source, ast.FunctionDef | ast.AsyncFunctionDef] | None:
        found = ((source, source.functions[name]) for source in self.sources if name in source.functions)
        return next(found, None)

    def is_struct(self, name: str) -> bool:
        """Whether a field of this class stands for the fields of it."""
        found = self.find(name)
        if found is None or self.members(name) is not None:
            return False
        node = found[1]
        return _is_decorated(node) or any(called(base) in ("BaseModel", "NamedTuple") for base in node.bases)

    def members(self, name: str) -> dict[str, str] | None:
        """Of an enumeration, with the value that each has as text, "" where that is no literal."""
        found = self.find(name)
        if found is None or not any("Enum" in called(base) or called(base) == "Flag" for base in found[1].bases):
            return None
        source, node = found
        members = (one for one in node.body if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name))
        return {one.targets[0].id: _text(one.value, source) for one in members}  # type: ignore[attr-defined]

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
        for one in fields.values():
            self._taken += 1
            if self._taken > _MOST:
                return
            if any(self.is_struct(part.name) for part in one.type.either) or (
                self.is_struct(one.type.name) and one.type.optional
            ):
                self.unread.append(one.line)
                if one.arguments is not None and called(one.arguments.node) == "subgroups":
                    yield replace(one, around=around, marks=marks)
            elif self.is_struct(one.type.name):
                held.append(one)
            else:
                yield replace(one, around=around, marks=marks)
        for one in held:
            inner = _given(self._own(one.type.name, 0), _instance(one), one)
            yield from self._expand(inner, (*around, one.name), (*marks, *one.type.marks), depth + 1)

    def _own(self, name: str, depth: int) -> dict[str, Field]:
        """Of a class with its bases: a field that it takes over from a base stands where the base has it."""
        self._taken += 1
        if depth > _DEEPEST or self._taken > _MOST:
            return {}
        if (function := self.function(name)) is not None and depth == 0:
            return parameters(*function)
        if (found := self.find(name)) is None:
            if name and name not in _PLAIN_BASES and name not in self.beside:
                self.beside.append(name)
            return {}
        source, node = found
        made: dict[str, Field] = {}
        for base in reversed(node.bases):
            made.update(self._own(called(base.value if isinstance(base, ast.Subscript) else base), depth + 1))
        begin = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        if begin is not None and not _is_decorated(node):
            return {name: one for name, one in parameters(source, begin).items() if name != "self"}
        if _is_decorated(node) or not all(self.find(called(base)) for base in node.bases) or not node.bases:
            made.update(_annotated(source, node))
        return made


def _is_decorated(node: ast.ClassDef) -> bool:
    return any(called(one) in _DECORATED for one in node.decorator_list)


def _text(node: ast.expr, source: Source) -> str:
    try:
        value = literal(node, source)
    except Unknown:
        return ""
    return str(value) if isinstance(value, (str, int, float)) else ""


def _annotated(source: Source, node: ast.ClassDef) -> dict[str, Field]:
    said, lines, described = comments(source), _lines(source.text), descriptions(node)
    made: dict[str, Field] = {}
    for place, one in enumerate(node.body):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        type_ = option_types.read(one.annotation, source)
        if type_.name in ("ClassVar", "InitVar", "KW_ONLY"):
            continue
        made[one.target.id] = Field(
            name=one.target.id, type=type_, source=source, line=one.lineno, value=one.value,
            above=_above(lines, one.lineno), beside=said.get(one.end_lineno or 0, ""), below=_below(node.body, place),
            described=described.get(one.target.id, ""),
        )  # fmt: skip
    return made


def parameters(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Field]:
    said, lines, described = comments(source), _lines(source.text), descriptions(node)
    given = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(given) - len(node.args.defaults))
    values = (*defaults, *node.args.defaults, *node.args.kw_defaults)
    return {
        one.arg: Field(
            name=one.arg, type=option_types.read(one.annotation, source), source=source, line=one.lineno, value=value,
            above=_above(lines, one.lineno), beside=said.get(one.lineno, "") if one.lineno > node.lineno else "",
            described=described.get(one.arg, ""), positional=one in node.args.posonlyargs,
        )
        for one, value in zip((*given, *node.args.kwonlyargs), values, strict=False)
    }  # fmt: skip


@functools.lru_cache(maxsize=4)
def _lines(text: str) -> Sequence[str]:
    return text.splitlines()


def _above(lines: Sequence[str], line: int) -> str:
    """The lines of comment right above."""
    found: list[str] = []
    for text in reversed(lines[max(0, line - 9) : line - 1]):
        if not text.lstrip().startswith("#"):
            break
        found.insert(0, text.strip().lstrip("#").strip())
    return " ".join(found)


def _below(body: list[ast.stmt], place: int) -> str:
    after = body[place + 1] if place + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return after.value.value
    return ""


def descriptions(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """What a docstring says of each argument: below a heading such as Args, or as :param name:."""
    found: dict[str, str] = {}
    inside, indent, name = False, -1, ""
    for text in inspect.cleandoc(ast.get_docstring(node) or "").splitlines()[:_MOST]:
        if match := _PARAM.match(text):
            found[match[1]] = match[2]
        elif _HEADING.match(text.strip()):
            inside, indent, name = True, -1, ""
        elif inside and text.strip():
            depth = len(text) - len(text.lstrip())
            match = _DESCRIBED.match(text + " ")
            indent = depth if indent < 0 else indent
            if match and depth == indent:
                name = match[2]
                found[name] = match[3].strip()
            elif name and depth > indent:
                found[name] += " " + text.strip()
            else:
                inside = False
    return found


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


def _given(fields: dict[str, Field], node: ast.expr | None, of: Field) -> dict[str, Field]:
    return given(fields, node, (of.type.name, "mutable_field"))


def given(fields: dict[str, Field], node: ast.expr | None, names: Sequence[str]) -> dict[str, Field]:
    """With the values of a call of their class; where an instance comes from elsewhere, they are that expression's."""
    if node is None:
        return fields
    if isinstance(node, ast.Call) and called(node) in names and isinstance(node.func, (ast.Name, ast.Attribute)):
        places = [] if called(node) == "mutable_field" else list(zip(fields, node.args, strict=False))
        words = {**dict(places), **{word.arg: word.value for word in node.keywords if word.arg is not None}}
        return {name: replace(one, default=words.get(name, one.default)) for name, one in fields.items()}
    text = source_of(node)
    return {name: replace(one, default=f"{text}.{name}"[:200]) for name, one in fields.items()}
