"""A folded program as the text of one file."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from typing import TYPE_CHECKING, Any

from backends.launch.script.layout import lay
from backends.launch.script.modules import Indigestible
from backends.launch.script.prune import names_in
from backends.launch.script.survey import CHOICE, is_docstring

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.launch.script.modules import Definition, Written


def final_names(definitions: Sequence[Definition], imports: dict[str, str]) -> dict[str, str]:
    """What each name is called in the script: as in its module, unless that is taken there."""
    names = list(dict.fromkeys(name for definition in definitions for name in names_in(definition.node)))
    outer = [name for name in names if name.startswith("!")]
    chosen = {name: name.rpartition("|")[2] for name in outer}
    if len(set(chosen.values())) < len({origin(imports[name]) for name in outer}):
        raise Indigestible("two imports under one name")
    used_names = {*chosen.values(), *dir(builtins), *keyword.kwlist}
    own = [name for definition in definitions for name in definition.names]
    uses = [(set(names_in(definition.node)), bound_in(definition.node)) for definition in definitions]
    for name in [*(name for name in names if name.startswith(CHOICE)), *own]:
        clashing = {local for used, bound in uses if name in used for local in bound}
        free = (word for word in _candidates(name) if word not in used_names and word not in clashing)
        called = next(free)
        used_names.add(called)
        chosen[name] = called
    return chosen


def origin(line: str) -> str:
    """What an import's name stands for: `import a` and `import a.b` bind the same one."""
    return line.partition(".")[0] if line.startswith("import ") and " as " not in line else line


def _candidates(name: str) -> Iterable[str]:
    module, _, own = name.rpartition(":")
    if name.startswith(CHOICE):
        called = {"*": "CONFIG", "as_dict": "OPTIONS"}.get(own, own.upper())
        yield called
        yield "CHOSEN_" + called
        return
    last = module.rpartition(".")[2]
    plain = own.lstrip("_")
    joined = f"{last.upper()}_{plain}" if plain.isupper() else f"{last}_{plain}"
    yield plain
    yield joined if not plain[:1].isupper() or plain.isupper() else last.capitalize() + plain
    yield from (f"{joined}{number}" for number in range(2, 100))


def bound_in(node: ast.AST) -> set[str]:
    """Every name that is bound anywhere inside a function or a class."""
    stored = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
    stored |= {child.arg for child in ast.walk(node) if isinstance(child, ast.arg)}
    inside = (child for child in ast.walk(node) if child is not node)
    return stored | {child.name for child in inside if isinstance(child, ast.FunctionDef | ast.ClassDef)}


class Name(ast.NodeTransformer):
    """The last change: names as the script has them, and no annotations."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.depth = 0

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if ":" in node.id or "|" in node.id:
            if node.id not in self.names:
                raise Indigestible(node.id)
            return ast.copy_location(ast.Name(self.names[node.id], node.ctx), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.target = self.visit(node.target)
        node.value = self.visit(node.value) if node.value else None
        if self.depth or (node.value is not None and not isinstance(node.target, ast.Name)):
            return _with_written(ast.Assign([node.target], node.value), node) if node.value else None
        words = {child.id for child in ast.walk(node.annotation) if isinstance(child, ast.Name)}
        is_resolvable = words <= {*self.names, *dir(builtins)}
        node.annotation = self.visit(node.annotation) if is_resolvable else ast.Name("object", ast.Load())
        return node


def _with_written(new: ast.stmt, old: ast.stmt) -> ast.stmt:
    new.written = getattr(old, "written", None)  # type: ignore[attr-defined]
    return ast.copy_location(new, old)


def text_of(definitions: Sequence[Definition], names: dict[str, str]) -> str:
    """The definitions one after the other; constants stand together."""
    parts: list[str] = []
    before: ast.stmt | None = None
    for definition in definitions:
        node = definition.node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names[definition.names[0]]
        node = Name(names).visit(node)
        tall = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if before is not None and (tall or isinstance(before, ast.FunctionDef | ast.ClassDef)):
            parts += ["", ""]
        parts += statement(node, 0)
        before = node
    return "\n".join(parts)


def block(body: Sequence[ast.stmt], indent: int) -> list[str]:
    lines: list[str] = []
    before: ast.stmt | None = None
    for current in body or [ast.Pass()]:
        how: Written | None = getattr(current, "written", None)
        tall = any(isinstance(part, ast.FunctionDef | ast.ClassDef) for part in (current, before))
        if lines and (tall or (how is not None and how.apart)):
            lines.append("")
        lines += statement(current, indent)
        before = current
    return lines


def statement(node: ast.stmt, indent: int) -> list[str]:
    how: Written | None = getattr(node, "written", None)
    room = " " * indent
    lines = [room + line for line in how.above] if how else []
    if how is not None and ast.dump(node) == how.dump and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return lines + [room + line if line.strip() else "" for line in how.lines]
    if isinstance(node, ast.Try):
        return lines + _try(node, indent)
    if isinstance(node, ast.If):
        return lines + _if(node, indent, "if")
    if hasattr(node, "body"):
        return lines + _headed(node, indent) + block(node.body, indent + 4) + _else(node, indent)
    text = ast.unparse(node)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
        text = text.removesuffix(ast.unparse(node.value)) + ", ".join(map(ast.unparse, node.value.elts))
    written = lay(text, indent)
    if how is not None and how.behind and not is_docstring(node) and len(written) == 1:
        written[-1] += "  " + how.behind
    return lines + written


def _headed(node: Any, indent: int) -> list[str]:
    """The lines before a block."""
    lines = [" " * indent + "@" + ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]
    empty = ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]}), node)
    for name in ("orelse", "decorator_list"):
        if hasattr(empty, name):
            setattr(empty, name, [])
    text = ast.unparse(ast.fix_missing_locations(empty)).removesuffix("pass").rstrip()
    return lines + lay(text, indent)


def _else(node: Any, indent: int) -> list[str]:
    orelse = getattr(node, "orelse", [])
    return [" " * indent + "else:", *block(orelse, indent + 4)] if orelse else []


def _if(node: ast.If, indent: int, word: str) -> list[str]:
    lines = lay(f"{word} {ast.unparse(node.test)}:", indent) + block(node.body, indent + 4)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        return lines + _if(node.orelse[0], indent, "elif")
    return lines + _else(node, indent)


def _try(node: ast.Try, indent: int) -> list[str]:
    room = " " * indent
    lines = [room + "try:", *block(node.body, indent + 4)]
    for handler in node.handlers:
        name = f" as {handler.name}" if handler.name else ""
        caught = f" {ast.unparse(handler.type)}" if handler.type else ""
        lines += [f"{room}except{caught}{name}:", *block(handler.body, indent + 4)]
    lines += _else(node, indent)
    return lines + ([room + "finally:", *block(node.finalbody, indent + 4)] if node.finalbody else [])


def import_lines(definitions: Sequence[Definition], imports: dict[str, str], more: Iterable[str]) -> str:
    """Python's own first, each module once."""
    used = {name for definition in definitions for name in names_in(definition.node) if name.startswith("!")}
    whole: set[str] = set()
    parts: dict[str, set[str]] = {}
    for line in {*(imports[name] for name in used), *more}:
        if match := re.fullmatch(r"from (\S+) import (.+)", line):
            parts.setdefault(match[1], set()).add(match[2])
        else:
            whole.add(line)
    lines = [*whole, *(f"from {module} import {', '.join(sorted(names))}" for module, names in parts.items())]
    groups: list[list[str]] = [[], []]
    for line in sorted(lines, key=lambda line: (line.startswith("from"), line)):
        groups[line.split()[1].partition(".")[0] not in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(group) for group in groups if group)
