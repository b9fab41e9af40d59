"""Edits from torch.cuda.amp to torch.amp, which takes the device as an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.migrate import name_edits
from backends.migration.migrate.draft import DEVICE_TYPE, Draft
from backends.migration.migrate.syntax_tree import find_subname

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.prelude import PreludeNames
    from backends.migration.migrate.syntax_tree import SyntaxTree

AMP = "torch.cuda.amp"
_AMP_NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_AUTOCAST_ARGUMENTS = ("enabled", "dtype", "cache_enabled")  # Positional arguments of torch.cuda.amp.autocast.


def edit_cuda_amp(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Return the edits for a use or an import of torch.cuda.amp; None where there is no safe edit."""
    if finding.context == "import":
        return _edit_import(tree, finding)
    node = name_edits.find_name(tree, finding)
    if node is None or not name_edits.is_loaded(node) or not name_edits.is_as_written(tree, node):
        return None
    if isinstance(node, ast.Name):
        return _edit_imported_name(tree, node, finding.name, prelude)
    part = find_subname(node, finding.name, AMP)
    use = _edit_use(tree, node, finding.name, prelude)
    if isinstance(part, ast.Attribute) and use is not None:
        begin, end = tree.span(part)
        return [Draft(begin=begin, end=end, text=f"{prelude.torch}.amp"), *use]
    if isinstance(part, ast.Name) and tree.torch_imports.get(part.id) == AMP:
        return (
            use
            if use is not None and _all_called(tree, part.id)
            else name_edits.replace_cuda(tree, node, finding.name, prelude)
        )
    return name_edits.replace_cuda(tree, node, finding.name, prelude)


def _edit_imported_name(tree: SyntaxTree, node: ast.Name, name: str, prelude: PreludeNames) -> list[Draft] | None:
    if name.rpartition(".")[0] != AMP or not _all_called(tree, node.id):
        return name_edits.replace_cuda(tree, node, name, prelude)
    return _edit_use(tree, node, name, prelude)


def _edit_import(tree: SyntaxTree, finding: ScanFinding) -> list[Draft] | None:
    """Import from torch.amp where every bound name is called in this file, and so can be given the device there."""
    statement = tree.node_around(finding, ast.stmt)
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return None
    bound = [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, ast.Import) and any(alias.name == AMP and not alias.asname for alias in statement.names):
        return []
    begin, _ = tree.span(statement)
    raw = tree.text(statement)
    old, new = ("torch.cuda.amp", "torch.amp") if "torch.cuda.amp" in raw else ("torch.cuda", "torch")
    plain = old == "torch.cuda" and [alias.name for alias in statement.names] != ["amp"]
    if raw.count(old) != 1 or plain or "torch.cuda.amp." in raw:
        return []
    if (
        isinstance(statement, ast.ImportFrom)
        and old == AMP
        and not {name.name for name in statement.names} <= {*_AMP_NAMES}
    ):
        return []
    if not all(_all_called(tree, name) for name in bound):
        return []
    start = begin + raw.index(old)
    return [Draft(begin=start, end=start + len(old), text=new)]


def _all_called(tree: SyntaxTree, name: str) -> bool:
    """Tell whether each use of a name can be given the device. A name that is only imported may be used by another
    module."""
    if _is_imported_over_lines(tree, name):
        return False
    uses = [node for node in ast.walk(tree.module) if isinstance(node, ast.Name) and node.id == name]
    return all(_is_called(tree, use, name) for use in uses) and not _is_exported(tree, name)


def _is_imported_over_lines(tree: SyntaxTree, name: str) -> bool:
    """Tell whether an import spans lines: its finding is not on the line that would have to be edited."""
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.lineno != statement.end_lineno
        and any((alias.asname or alias.name) == name for alias in statement.names)
        for statement in tree.module.body
    )


def _is_called(tree: SyntaxTree, use: ast.expr, name: str) -> bool:
    meaning = tree.torch_imports.get(name, "")
    node = use
    if meaning == AMP:
        node = tree.parent(use)  # type: ignore[assignment]
        meaning = f"{AMP}.{getattr(node, 'attr', '')}"
    return meaning.rpartition(".")[2] in _AMP_NAMES and _insert_device(tree, node, meaning, "") is not None


def _is_exported(tree: SyntaxTree, name: str) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree.module))


def _edit_use(tree: SyntaxTree, node: ast.expr, name: str, prelude: PreludeNames) -> list[Draft] | None:
    return _insert_device(tree, node, name, prelude.device_type)


def _insert_device(tree: SyntaxTree, node: ast.expr, name: str, device: str) -> list[Draft] | None:
    """Return edits that pass the device to a call or decorator; None where the node is neither."""
    last = name.rpartition(".")[2]
    if last not in _AMP_NAMES:
        return None
    parent = tree.parent(node)
    device_argument = f"device_type={device}" if last.startswith("custom") else device
    if isinstance(parent, ast.Call) and parent.func is node:
        if any(isinstance(argument, ast.Starred) for argument in parent.args):
            return None
        first = name_edits.insert_first_argument(tree, parent, device_argument, DEVICE_TYPE)
        if first is None or (last == "autocast" and len(parent.args) > len(_AUTOCAST_ARGUMENTS)):
            return None
        names = _AUTOCAST_ARGUMENTS if last == "autocast" else ()
        return [
            *first,
            *(_name_argument(tree, argument, word) for argument, word in zip(parent.args, names, strict=False)),
        ]
    if last.startswith("custom") and node in getattr(parent, "decorator_list", ()):
        end = tree.span(node)[1]
        return [Draft(begin=end, end=end, text=f"({device_argument})", needs=DEVICE_TYPE)]
    return None


def _name_argument(tree: SyntaxTree, argument: ast.expr, word: str) -> Draft:
    begin = tree.span(argument)[0]
    return Draft(begin=begin, end=begin, text=f"{word}=")


def edit_generic_amp(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Give torch.amp.GradScaler() the device: without one it means cuda. Everything else in torch.amp takes the device
    already."""
    node = name_edits.find_name(tree, finding)
    parent = tree.parent(node) if node is not None else None
    if not finding.name.endswith("GradScaler") or not isinstance(parent, ast.Call) or parent.func is not node:
        return []
    if parent.args or any(word.arg in ("device", None) for word in parent.keywords):
        return []
    return name_edits.insert_first_argument(tree, parent, prelude.device_type, DEVICE_TYPE)
