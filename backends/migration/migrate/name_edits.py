"""Edits of dotted names: torch.cuda and what it contains."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.migrate.draft import ACCELERATOR, Draft
from backends.migration.migrate.syntax_tree import find_subname

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.draft import PreludeName
    from backends.migration.migrate.prelude import PreludeNames
    from backends.migration.migrate.syntax_tree import SyntaxTree

CUDA = "torch.cuda"
_OPEN = re.compile(r"\s*\([ \t]*")


def find_name(tree: SyntaxTree, finding: ScanFinding) -> ast.expr | None:
    """Return the dotted name that a finding is about: the longest that begins where it does, without what is called on
    it."""
    begin, _ = tree.span_of_finding(finding)
    last = finding.name.rpartition(".")[2]
    starting = [
        node
        for kind in (ast.Attribute, ast.Name)
        for node in tree.nodes_inside(finding, kind)
        if tree.span(node)[0] == begin or (finding.column == finding.end_column and finding.line == finding.end)
    ]
    ends = [node for node in starting if isinstance(node, ast.Attribute) and node.attr == last]
    if ends:
        return max(ends, key=lambda node: tree.span(node)[1] - tree.span(node)[0])
    names = [
        node for node in starting if isinstance(node, ast.Name) and tree.torch_imports.get(node.id) == finding.name
    ]
    return names[0] if names else None


def is_loaded(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def is_as_written(tree: SyntaxTree, node: ast.expr) -> bool:
    """Tell whether the node's position is right: inside an f-string Python before 3.12 may give a wrong one."""
    try:
        return ast.dump(ast.parse(f"({tree.text(node)})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def replace_cuda(tree: SyntaxTree, node: ast.expr, name: str, prelude: PreludeNames) -> list[Draft] | None:
    """Replace what stands for torch.cuda by the module of the available device; `name` is what the node stands for.

    A name bound by an assignment has the right value once that is edited; one bound by an import is written out.
    """
    if not is_loaded(node) or not is_as_written(tree, node):
        return None
    part = find_subname(node, name, CUDA)
    if isinstance(part, ast.Attribute | ast.Call):  # The call is getattr or import_module.
        begin, end = tree.span(part)
        return [Draft(begin=begin, end=end, text=prelude.accelerator, needs=ACCELERATOR)]
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name):
        return None
    meaning = tree.torch_imports.get(base.id, "")
    if meaning == CUDA and base.id not in tree.names_of_shared_imports:  # The import is edited instead.
        return []
    if meaning != CUDA and not meaning.startswith(CUDA + "."):
        return []
    begin, end = tree.span(base)
    text = prelude.accelerator + meaning[len(CUDA) :]
    return [Draft(begin=begin, end=end, text=text, needs=ACCELERATOR)]


def edit_getattr(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Edit `getattr(torch.cuda, "is_available")`."""
    call = next(iter(tree.nodes_inside(finding, ast.Call)), None)
    base = call.args[0] if call is not None and call.args else None
    if base is None or finding.name.rpartition(".")[0] != CUDA:
        return None
    return replace_cuda(tree, base, CUDA, prelude)


def edit_import(tree: SyntaxTree, statement: ast.stmt, prelude: PreludeNames) -> list[Draft] | None:
    """Turn `from torch import cuda as c` into `c = accelerator`. Other imports of torch.cuda may stay, also one beside
    other names: it exists on every host, and its uses are edited where they are."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return None
    module = statement.module if isinstance(statement, ast.ImportFrom) else ""
    bound = [alias for alias in statement.names if _is_cuda(module or "", alias)]
    if not bound or len(statement.names) > 1:
        return []
    begin, end = tree.span(statement)
    called = bound[0].asname or "cuda"
    text = f"{called} = {prelude.accelerator}"
    return [Draft(begin=begin, end=end, text=text, needs=ACCELERATOR)]


def _is_cuda(module: str, alias: ast.alias) -> bool:
    if module == "torch":
        return alias.name == "cuda"
    return not module and alias.name == CUDA and bool(alias.asname)


def edit_nvtx(
    tree: SyntaxTree, node: ast.expr, name: str, text: str, needs: frozenset[PreludeName]
) -> list[Draft] | None:
    """Replace torch.cuda.nvtx by mstx, which has the same functions except `range`."""
    part = find_subname(node, name, "torch.cuda.nvtx")
    replaceable = ("torch.cuda.nvtx", *(f"torch.cuda.nvtx.{function}" for function in NVTX_FUNCTIONS))
    if name not in replaceable or not isinstance(part, ast.Attribute) or not is_as_written(tree, node):
        return None
    begin, end = tree.span(part)
    return [Draft(begin=begin, end=end, text=text, needs=needs)]


NVTX_FUNCTIONS = ("range_push", "range_pop", "mark", "range_start", "range_end")


def argument_offset(tree: SyntaxTree, call: ast.Call) -> int | None:
    """Return the offset of the first argument, or of the end of the line where that follows the parenthesis."""
    end = tree.span(call.func)[1]
    match = _OPEN.match(tree.source.text, end)
    return match.end() if match else None


def insert_first_argument(
    tree: SyntaxTree, call: ast.Call, text: str, needs: frozenset[PreludeName]
) -> list[Draft] | None:
    """Insert an argument before the existing ones."""
    position = argument_offset(tree, call)
    if position is None:
        return None
    more = ", " if call.args or call.keywords else ""
    if tree.source.text[position : position + 1] in ("\n", "\r"):
        more = more.rstrip()
    return [Draft(begin=position, end=position, text=text + more, needs=needs)]
