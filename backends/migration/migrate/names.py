"""Edits of dotted names: torch.cuda and what is in it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.migrate.draft import ACCELERATOR, Draft
from backends.migration.migrate.tree import part_named

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.draft import Name
    from backends.migration.migrate.prelude import Prelude
    from backends.migration.migrate.tree import Tree

CUDA = "torch.cuda"
_OPEN = re.compile(r"\s*\([ \t]*")


def name_at(tree: Tree, found: Found) -> ast.expr | None:
    """The dotted name that a finding speaks of: the longest that begins where it does, without what is called on it."""
    begin, _ = tree.where(found)
    last = found.name.rpartition(".")[2]
    starting = [
        node
        for kind in (ast.Attribute, ast.Name)
        for node in tree.inside(found, kind)
        if tree.span(node)[0] == begin or (found.column == found.end_column and found.line == found.end)
    ]
    ends = [node for node in starting if isinstance(node, ast.Attribute) and node.attr == last]
    if ends:
        return max(ends, key=lambda node: tree.span(node)[1] - tree.span(node)[0])
    names = [node for node in starting if isinstance(node, ast.Name) and tree.imported.get(node.id) == found.name]
    return names[0] if names else None


def is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def is_as_written(tree: Tree, node: ast.expr) -> bool:
    """Inside an f-string Python before 3.12 gives places that may be wrong."""
    try:
        return ast.dump(ast.parse(f"({tree.text(node)})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def replaced(tree: Tree, node: ast.expr, name: str, prelude: Prelude) -> list[Draft] | None:
    """What stands for torch.cuda becomes the module of the device that is there; `name` is what the node stands for.

    A name that the file has from an assignment has the right value once that is edited; one that it has from an
    import is written out.
    """
    if not is_read(node) or not is_as_written(tree, node):
        return None
    part = part_named(node, name, CUDA)
    if isinstance(part, ast.Attribute | ast.Call):  # a call of getattr or import_module
        begin, end = tree.span(part)
        return [Draft(begin=begin, end=end, text=prelude.accelerator, needs=ACCELERATOR)]
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return None
    meaning = tree.imported.get(base.id, "")
    if meaning == CUDA:  # its import is edited
        return []
    if not meaning.startswith(CUDA + "."):
        return []
    begin, end = tree.span(base)
    text = prelude.accelerator + meaning[len(CUDA) :]
    return [Draft(begin=begin, end=end, text=text, needs=ACCELERATOR)]


def fetched(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """`getattr(torch.cuda, "is_available")`."""
    call = next(iter(tree.inside(found, ast.Call)), None)
    base = call.args[0] if call is not None and call.args else None
    if base is None or found.name.rpartition(".")[0] != CUDA:
        return None
    return replaced(tree, base, CUDA, prelude)


def imported_module(tree: Tree, statement: ast.stmt, prelude: Prelude) -> list[Draft] | None:
    """`from torch import cuda as c` becomes `c = accelerator`. Other imports of torch.cuda may stay: it is there on
    every host, and what is used of it is edited where it is used."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return None
    module = statement.module if isinstance(statement, ast.ImportFrom) else ""
    bound = [alias for alias in statement.names if _is_cuda(module or "", alias)]
    if not bound:
        return []
    if len(statement.names) > 1:
        return None
    begin, end = tree.span(statement)
    called = bound[0].asname or "cuda"
    text = f"{called} = {prelude.accelerator}"
    return [Draft(begin=begin, end=end, text=text, needs=ACCELERATOR)]


def _is_cuda(module: str, alias: ast.alias) -> bool:
    if module == "torch":
        return alias.name == "cuda"
    return not module and alias.name == CUDA and bool(alias.asname)


def ranges(tree: Tree, node: ast.expr, name: str, text: str, needs: frozenset[Name]) -> list[Draft] | None:
    """torch.cuda.nvtx as mstx, which has the same functions but for `range`."""
    part = part_named(node, name, "torch.cuda.nvtx")
    known = ("torch.cuda.nvtx", *(f"torch.cuda.nvtx.{one}" for one in _RANGES))
    if name not in known or not isinstance(part, ast.Attribute) or not is_as_written(tree, node):
        return None
    begin, end = tree.span(part)
    return [Draft(begin=begin, end=end, text=text, needs=needs)]


_RANGES = ("range_push", "range_pop", "mark", "range_start", "range_end")


def arguments_at(tree: Tree, call: ast.Call) -> int | None:
    """The offset of the first argument on the line of the parenthesis."""
    end = tree.span(call.func)[1]
    found = _OPEN.match(tree.source.text, end)
    return found.end() if found else None


def first_argument(tree: Tree, call: ast.Call, text: str, needs: frozenset[Name]) -> list[Draft] | None:
    """Another argument before those that are there."""
    place = arguments_at(tree, call)
    if place is None:
        return None
    more = ", " if call.args or call.keywords else ""
    if tree.source.text[place : place + 1] in ("\n", "\r"):
        more = more.rstrip()
    return [Draft(begin=place, end=place, text=text + more, needs=needs)]
