"""torch.cuda.amp as torch.amp, which is told of its device."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.migrate import names
from backends.migration.migrate.draft import DEVICE_TYPE, Draft
from backends.migration.migrate.tree import part_named

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.prelude import Prelude
    from backends.migration.migrate.tree import Tree

AMP = "torch.cuda.amp"
_KNOWN = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_AUTOCAST = ("enabled", "dtype", "cache_enabled")  # the positional arguments of torch.cuda.amp.autocast


def edits(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    if found.context == "import":
        return _import(tree, found)
    node = names.name_at(tree, found)
    if node is None or not names.is_read(node) or not names.is_as_written(tree, node):
        return None
    if isinstance(node, ast.Name):
        return _of_import(tree, node, found.name, prelude)
    part = part_named(node, found.name, AMP)
    use = _use(tree, node, found.name, prelude)
    if isinstance(part, ast.Attribute) and use is not None:
        begin, end = tree.span(part)
        return [Draft(begin=begin, end=end, text=f"{prelude.torch}.amp"), *use]
    if isinstance(part, ast.Name) and tree.imported.get(part.id) == AMP:
        return (
            use if use is not None and _all_called(tree, part.id) else names.replaced(tree, node, found.name, prelude)
        )
    return names.replaced(tree, node, found.name, prelude)


def _of_import(tree: Tree, node: ast.Name, name: str, prelude: Prelude) -> list[Draft] | None:
    if name.rpartition(".")[0] != AMP or not _all_called(tree, node.id):
        return names.replaced(tree, node, name, prelude)
    return _use(tree, node, name, prelude)


def _import(tree: Tree, found: Found) -> list[Draft] | None:
    """The import is of torch.amp where all that it binds is called, and so told of the device where it is called."""
    statement = tree.around(found, ast.stmt)
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
    if isinstance(statement, ast.ImportFrom) and old == AMP and not {one.name for one in statement.names} <= {*_KNOWN}:
        return []
    if not all(_all_called(tree, name) for name in bound):
        return []
    place = begin + raw.index(old)
    return [Draft(begin=place, end=place + len(old), text=new)]


def _all_called(tree: Tree, name: str) -> bool:
    """Whether each use of a name can be told of the device; another module may import it from here otherwise."""
    if _is_imported_over_lines(tree, name):
        return False
    uses = [one for one in ast.walk(tree.module) if isinstance(one, ast.Name) and one.id == name]
    return all(_is_called(tree, use, name) for use in uses) and not _is_exported(tree, name)


def _is_imported_over_lines(tree: Tree, name: str) -> bool:
    """Such an import is no finding on its first line, where it would have to be edited."""
    return any(
        isinstance(one, ast.ImportFrom)
        and one.lineno != one.end_lineno
        and any((alias.asname or alias.name) == name for alias in one.names)
        for one in tree.module.body
    )


def _is_called(tree: Tree, use: ast.expr, name: str) -> bool:
    meaning = tree.imported.get(name, "")
    node = use
    if meaning == AMP:
        node = tree.parent(use)  # type: ignore[assignment]
        meaning = f"{AMP}.{getattr(node, 'attr', '')}"
    return meaning.rpartition(".")[2] in _KNOWN and _device(tree, node, meaning, "") is not None


def _is_exported(tree: Tree, name: str) -> bool:
    return any(isinstance(one, ast.Constant) and one.value == name for one in ast.walk(tree.module))


def _use(tree: Tree, node: ast.expr, name: str, prelude: Prelude) -> list[Draft] | None:
    return _device(tree, node, name, prelude.device_type)


def _device(tree: Tree, node: ast.expr, name: str, device: str) -> list[Draft] | None:
    """Edits that hand the device to a call or a decorator; None where it is neither."""
    last = name.rpartition(".")[2]
    if last not in _KNOWN:
        return None
    parent = tree.parent(node)
    given = f"device_type={device}" if last.startswith("custom") else device
    if isinstance(parent, ast.Call) and parent.func is node:
        if any(isinstance(one, ast.Starred) for one in parent.args):
            return None
        first = names.first_argument(tree, parent, given, DEVICE_TYPE)
        if first is None or (last == "autocast" and len(parent.args) > len(_AUTOCAST)):
            return None
        named = _AUTOCAST if last == "autocast" else ()
        return [*first, *(_named(tree, one, word) for one, word in zip(parent.args, named, strict=False))]
    if last.startswith("custom") and node in getattr(parent, "decorator_list", ()):
        end = tree.span(node)[1]
        return [Draft(begin=end, end=end, text=f"({given})", needs=DEVICE_TYPE)]
    return None


def _named(tree: Tree, argument: ast.expr, word: str) -> Draft:
    begin = tree.span(argument)[0]
    return Draft(begin=begin, end=begin, text=f"{word}=")


def generic(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """torch.amp.GradScaler() without a device means cuda. All else of torch.amp is told of its device already."""
    node = names.name_at(tree, found)
    parent = tree.parent(node) if node is not None else None
    if not found.name.endswith("GradScaler") or not isinstance(parent, ast.Call) or parent.func is not node:
        return []
    if parent.args or any(word.arg in ("device", None) for word in parent.keywords):
        return []
    return names.first_argument(tree, parent, prelude.device_type, DEVICE_TYPE)
