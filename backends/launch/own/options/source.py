"""A script's source as far as its options need it: literals, constants of the module, local modules it imports."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LONGEST = 1 << 21
"""Bytes of a source that is read."""
_DEEPEST = 40
_MAX_PARTS = 4096
_LONGEST_TEXT = 1 << 16


class Unknown(Exception):
    """What an expression gives is known only when it runs."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """`constants`: the last expression that a name of the module was bound to."""

    path: Path
    text: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)


def load_source(path: Path) -> Source:
    """Raises StudioError with the reason: not there, too large, no Python."""
    try:
        with files.open_regular(path) as file:
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise from_os(error, path) from error
    if len(data) > LONGEST:
        raise StudioError("options.large", path=str(path), most=LONGEST >> 20)
    try:
        return _source(path, data)
    except SyntaxError as error:
        raise StudioError("options.syntax", path=str(path), line=error.lineno or 0, reason=error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise StudioError(
            "options.syntax", path=str(path), line=0, reason=str(error) or type(error).__name__
        ) from error


def _source(path: Path, data: bytes) -> Source:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    source = Source(path=path, text=data.decode(encoding, "replace"), tree=tree)
    for node in statements(tree.body):
        if isinstance(node, ast.ClassDef):
            source.classes[node.name] = node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            source.functions[node.name] = node
        else:
            source.constants.update(bound(node))
    return source


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, also inside if, try, with and loops; not inside functions and classes."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from statements(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            yield from statements(handler.body)


def bound(node: ast.stmt) -> dict[str, ast.expr]:
    """Names that a statement binds to one expression."""
    if isinstance(node, ast.Assign):
        return {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return {node.target.id: node.value}
    return {}


def called(node: ast.expr) -> str:
    """The last part of a dotted name: 'Path' for pathlib.Path; '' for anything else."""
    if isinstance(node, ast.Call):
        return called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def source_of(node: ast.expr) -> str:
    try:
        return ast.unparse(node)[:200]
    except (RecursionError, ValueError):
        return "…"


def literal(node: ast.expr, source: Source, depth: int = 0, parts: Iterator[int] | None = None) -> Any:
    """The value of an expression that needs no running: constants, arithmetic, names of the module, tuples of these.
    Raises Unknown, also where a few names that name each other would make millions of parts."""
    parts = iter(range(_MAX_PARTS)) if parts is None else parts
    if depth > _DEEPEST or next(parts, None) is None:
        raise Unknown
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in source.constants:
        return literal(source.constants[node.id], source, depth + 1, parts)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return tuple(literal(element, source, depth + 1, parts) for element in node.elts)
    if isinstance(node, ast.Dict):
        return {literal(key, source, depth + 1, parts): None for key in node.keys if key is not None}
    if isinstance(node, ast.Call):
        return _call(node, source, depth, parts)
    return _computed(node, source, depth, parts)


def _computed(node: ast.expr, source: Source, depth: int, parts: Iterator[int]) -> Any:
    try:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = literal(node.operand, source, depth + 1, parts)
            return -value if isinstance(node.op, ast.USub) else +value
        if isinstance(node, ast.BinOp):
            left, right = (literal(operand, source, depth + 1, parts) for operand in (node.left, node.right))
            return _arithmetic(node, left, right)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise Unknown from error
    raise Unknown


def _arithmetic(node: ast.BinOp, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add):
        if len(left) + len(right) > _LONGEST_TEXT:
            raise Unknown
        return left + right
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))) or max(abs(left), abs(right)) > 1e15:
        raise Unknown
    if isinstance(node.op, ast.Pow) and abs(right) <= 64:
        return float(left) ** right if isinstance(right, float) or right < 0 else left**right
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Div):
        return left / right
    if isinstance(node.op, ast.FloorDiv):
        return left // right
    raise Unknown


def _call(node: ast.Call, source: Source, depth: int, parts: Iterator[int]) -> Any:
    """What a default or the choices are usually wrapped in: list(…), sorted(…), MODELS.keys(), Path("…"), range(…)."""
    name = called(node.func)
    if isinstance(node.func, ast.Attribute) and name == "keys" and not node.args:
        return tuple(literal(node.func.value, source, depth + 1, parts))
    if node.keywords or not node.args:
        raise Unknown
    values = [literal(argument, source, depth + 1, parts) for argument in node.args]
    try:
        if name in ("list", "tuple", "set", "sorted") and len(values) == 1 and not isinstance(values[0], str):
            return tuple(sorted(values[0]) if name == "sorted" else values[0])
        if name in ("Path", "PurePath") and all(isinstance(value, str) for value in values):
            return "/".join(values)
        if name == "float" and isinstance(values[0], (str, int, float)):
            return float(values[0])
        if name == "range" and all(isinstance(value, int) for value in values) and len(range(*values)) <= 256:
            return tuple(range(*values))
    except (TypeError, ValueError, OverflowError) as error:
        raise Unknown from error
    raise Unknown


def comments(source: Source) -> Mapping[int, str]:
    """The comment at the end of each line that has one."""
    return _comments(source.text)


@functools.lru_cache(maxsize=4)
def _comments(text: str) -> Mapping[int, str]:
    comment_by_line: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
                comment_by_line[token.start[0]] = token.string.lstrip("#").strip()
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return comment_by_line


def imported(source: Source) -> Iterator[tuple[Path, set[str] | None, str]]:
    """Local modules: path, the names taken from it (None: the module itself) and the name it has here."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if path := _module(source.path.parent, alias.name):
                    yield path, None, alias.asname or alias.name
        elif isinstance(node, ast.ImportFrom):
            yield from _imported_from(source.path.parent, node)


def _imported_from(folder: Path, node: ast.ImportFrom) -> Iterator[tuple[Path, set[str] | None, str]]:
    for _ in range(node.level - 1):
        folder = folder.parent
    names = {alias.name for alias in node.names}
    if node.module and (path := _module(folder, node.module)):
        yield path, names, node.module
    for alias in node.names:
        inner = f"{node.module}.{alias.name}" if node.module else alias.name
        if path := _module(folder, inner):
            yield path, None, alias.asname or alias.name


def _module(folder: Path, name: str) -> Path | None:
    """The file of a module beside the script, or below a folder above it that holds its package."""
    parts = name.split(".")
    for base in (folder, folder.parent):
        path = base.joinpath(*parts)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            try:
                if file.is_file():
                    return file
            except (OSError, ValueError):
                continue
    return None
