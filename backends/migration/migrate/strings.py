"""Edits of string literals, by what the string is used as."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from backends.migration.migrate import literals
from backends.migration.migrate.draft import DEVICE_TYPE, NOTHING, Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.migrate.draft import Name
    from backends.migration.migrate.prelude import Prelude
    from backends.migration.migrate.tree import Tree

Use: TypeAlias = Literal[
    "plain", "pattern", "alternative", "member", "key", "index", "equal", "contained", "prefix", "container", "other"
]
_WORDS: tuple[tuple[re.Pattern[str], str, Name], ...] = (
    (literals.DEVICE, "npu", "device_type"),
    (literals.BACKEND, "hccl", "backend"),
)
_SEVERAL = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.BoolOp, ast.Match)
_MAP = re.compile(r"(?=.*\bnccl\b)(?=.*\bcuda\b)")


def literal_at(tree: Tree, found: Iterable[ast.expr]) -> ast.expr | None:
    """The string that a finding speaks of: the first that holds a word of the GPU stack, else the first. Of a text
    inside an f-string it is that whole f-string."""
    literals_found = [one for node in found if (one := _literal(tree, node)) is not None]
    speaking = (one for one in literals_found if isinstance(one, ast.BinOp) or other_word(tree.text(one)))
    return next(speaking, literals_found[0] if literals_found else None)


def _literal(tree: Tree, node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        parent = tree.parent(node)
        whole = parent if isinstance(parent, ast.JoinedStr) else node
        return whole if _is_as_written(tree, whole) else None
    return node if isinstance(node, ast.BinOp) and _folded(node) == "cuda" else None


def _is_as_written(tree: Tree, node: ast.expr) -> bool:
    """Inside an f-string Python before 3.12 gives places that may be wrong."""
    raw = tree.text(node)
    if isinstance(node, ast.JoinedStr) or not literals.pieces(raw):
        return bool(literals.pieces(raw))
    try:
        return bool(ast.literal_eval(f"({raw})") == ast.literal_eval(node))
    except (ValueError, SyntaxError):
        return False


def _folded(node: ast.expr) -> str:
    """The value of constants that are added up."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _folded(node.left), _folded(node.right)
        return left + right if left and right else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def use_of(tree: Tree, node: ast.expr) -> Use:
    parent = tree.parent(node)
    if isinstance(parent, ast.MatchValue):
        return "pattern"
    if isinstance(parent, ast.Dict):
        return "key" if node in parent.keys else "plain"
    if isinstance(parent, ast.Compare):
        return _compared(parent, node)
    if isinstance(parent, ast.Tuple | ast.List | ast.Set):
        return _among(tree, parent)
    if isinstance(parent, ast.Subscript) and node is parent.slice:
        return "alternative" if _is_literal_type(parent) else "index"
    if isinstance(parent, ast.Call) and node in parent.args and isinstance(parent.func, ast.Attribute):
        return "prefix" if parent.func.attr in ("startswith", "endswith") else "plain"
    return "plain"


def _compared(compare: ast.Compare, node: ast.expr) -> Use:
    if len(compare.ops) > 1:
        return "other"
    op = compare.ops[0]
    if isinstance(op, ast.Eq | ast.NotEq):
        return "equal"
    if isinstance(op, ast.In | ast.NotIn):
        return "contained" if node is compare.left else "container"
    return "other"


def _among(tree: Tree, collection: ast.expr) -> Use:
    parent = tree.parent(collection)
    if isinstance(parent, ast.keyword) and parent.arg == "choices":
        return "alternative"
    if isinstance(parent, ast.Subscript) and _is_literal_type(parent):
        return "alternative"
    if isinstance(parent, ast.Compare) and collection is not parent.left:
        return "member"
    called = getattr(parent.func, "attr", getattr(parent.func, "id", "")) if isinstance(parent, ast.Call) else ""
    if called in ("Choice", "DEFINE_enum", "DEFINE_multi_enum"):
        return "alternative"
    return "member" if called in ("startswith", "endswith") else "plain"


def _is_literal_type(node: ast.Subscript) -> bool:
    return getattr(node.value, "id", getattr(node.value, "attr", "")) == "Literal"


def has_npu_beside(tree: Tree, node: ast.expr) -> bool:
    """Whether the author thought of an NPU at the same place: another entry, key, or branch that names it."""
    for parent in tree.above(node):
        if isinstance(parent, ast.Dict | ast.List | ast.Tuple | ast.Set | ast.BoolOp | ast.Match) and names_npu(parent):
            return True
        if isinstance(parent, ast.If):
            top = _first_branch(tree, parent)
            return any(names_npu(test) for test in _tests(top))
        if isinstance(parent, ast.stmt):
            return False
    return False


def names_npu(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.partition(":")[0] in ("npu", "hccl")
        for one in ast.walk(node)
    )


def _first_branch(tree: Tree, branch: ast.If) -> ast.If:
    parent = tree.parent(branch)
    while isinstance(parent, ast.If) and parent.orelse == [branch]:
        branch, parent = parent, tree.parent(parent)
    return branch


def _tests(branch: ast.If) -> Iterable[ast.expr]:
    yield branch.test
    while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
        yield branch.test


def other_word(raw: str) -> tuple[re.Pattern[str], str, Name] | None:
    """What the names in a literal become; None where it holds none, or both kinds."""
    known = [one for one in _WORDS if literals.occurrences(raw, one[0])]
    return known[0] if len(known) == 1 else None


def _moved(tree: Tree, node: ast.expr, edits: list[tuple[int, int, str]], needs: frozenset[Name]) -> list[Draft]:
    start = tree.span(node)[0]
    return [Draft(begin=start + begin, end=start + end, text=text, needs=needs) for begin, end, text in edits]


def replaced_text(raw: str) -> str:
    """The literal with the words of an NPU in it."""
    for pattern, word, _ in _WORDS:
        for begin, end, text in reversed(literals.renamed(raw, pattern, word)):
            raw = raw[:begin] + text + raw[end:]
    return raw


def explicit(tree: Tree, node: ast.expr, prelude: Prelude) -> list[Draft] | None:
    """The literal becomes a name, so that the code runs on either device."""
    raw, use = tree.text(node), use_of(tree, node)
    if use in ("pattern", "alternative"):
        return added(tree, node, use)
    if use in ("index", "other"):
        return None
    if isinstance(node, ast.Constant) and _MAP.match(str(node.value)):
        return _either(tree, node, prelude)
    if isinstance(node, ast.BinOp):
        return _sum(tree, node, prelude)
    if (word := other_word(raw)) is None:
        return None
    pattern, _, name = word
    called = prelude.called(name)
    parent = tree.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr == "format" and literals.value_of(raw):
        whole = literals.before_format(raw, called)
        if whole is not None:
            begin, end = tree.span(node)
            return [Draft(begin=begin, end=end, text=whole, needs=frozenset({name}))]
    edits = literals.named(raw, pattern, called)
    return _moved(tree, node, edits, frozenset({name})) or None


def _sum(tree: Tree, node: ast.BinOp, prelude: Prelude) -> list[Draft] | None:
    begin, end = tree.span(node)
    if _folded(node) != "cuda":
        return None
    return [Draft(begin=begin, end=end, text=prelude.device_type, needs=DEVICE_TYPE)]


def _either(tree: Tree, node: ast.Constant, prelude: Prelude) -> list[Draft] | None:
    """A map of backends such as "cpu:gloo,cuda:nccl", whose two words change together."""
    raw = tree.text(node)
    if len(literals.pieces(raw)) != 1:
        return None
    begin, end = tree.span(node)
    text = f'{replaced_text(raw)} if {prelude.device_type} == "npu" else {raw}'
    parent = tree.parent(node)
    if isinstance(parent, ast.Compare | ast.BinOp | ast.Attribute | ast.IfExp | ast.BoolOp | ast.UnaryOp):
        text = f"({text})"
    return [Draft(begin=begin, end=end, text=text, needs=DEVICE_TYPE)]


def minimal(tree: Tree, node: ast.expr) -> list[Draft] | None:
    """Only what a comparison or a table needs so that an NPU counts too; else the other word."""
    raw, use = tree.text(node), use_of(tree, node)
    if use in ("index", "other"):
        return None
    if isinstance(node, ast.BinOp):
        return None
    if use in ("pattern", "alternative", "member"):
        return added(tree, node, use)
    if use == "key":
        return _added_key(tree, node)
    if use in ("equal", "contained"):
        return _compare(tree, node, use)
    if use == "prefix":
        begin, end = tree.span(node)
        return [Draft(begin=begin, end=end, text=f"({raw}, {replaced_text(raw)})")]
    edits = [edit for pattern, word, _ in _WORDS for edit in literals.renamed(raw, pattern, word)]
    return _moved(tree, node, edits, NOTHING) or None


def added(tree: Tree, node: ast.expr, use: Use) -> list[Draft]:
    """The NPU's word beside the other."""
    raw, (_, end) = tree.text(node), tree.span(node)
    between = " | " if use == "pattern" else ", "
    return [Draft(begin=end, end=end, text=between + replaced_text(raw))]


def _added_key(tree: Tree, node: ast.expr) -> list[Draft] | None:
    table = tree.parent(node)
    assert isinstance(table, ast.Dict)
    value = table.values[table.keys.index(node)]
    text = tree.text(value)
    if any(isinstance(one, ast.Call | ast.Await | ast.Yield) for one in ast.walk(value)) or "\n" in text:
        return None
    begin, _ = tree.span(node)
    return [Draft(begin=begin, end=begin, text=f"{replaced_text(tree.text(node))}: {text}, ")]


def _compare(tree: Tree, node: ast.expr, use: Use) -> list[Draft] | None:
    """`x == "cuda"` becomes `x in ("cuda", "npu")`."""
    compare = tree.parent(node)
    assert isinstance(compare, ast.Compare)
    other = compare.comparators[0] if node is compare.left else compare.left
    begin, end = tree.span(compare)
    raw = tree.text(node)
    both = f"({raw}, {replaced_text(raw)})"
    is_not = isinstance(compare.ops[0], ast.NotEq | ast.NotIn)
    if use == "equal" and node is not compare.left:
        start, left = tree.span(node)[0], tree.span(compare.left)[1]
        between = tree.source.text[left:start]
        changed = between.replace("!=" if is_not else "==", "not in" if is_not else "in")
        begins_name = changed if changed[:1].isspace() else f" {changed}"
        spaced = begins_name if begins_name[-1:].isspace() else f"{begins_name} "
        return [Draft(begin=left, end=start, text=spaced), Draft(begin=start, end=tree.span(node)[1], text=both)]
    if "\n" in tree.source.text[begin:end] or not _is_quiet(other):
        return None
    text = tree.text(other)
    if use == "equal":
        return [Draft(begin=begin, end=end, text=f"{text} {'not in' if is_not else 'in'} {both}")]
    word, joined = ("not in", "and") if is_not else ("in", "or")
    twice = f"{raw} {word} {text} {joined} {replaced_text(raw)} {word} {text}"
    if not isinstance(tree.parent(compare), ast.stmt | ast.IfExp | ast.keyword):
        twice = f"({twice})"
    return [Draft(begin=begin, end=end, text=twice)]


def _is_quiet(node: ast.expr) -> bool:
    """Whether it can be evaluated twice: names, and str() or lower() of them."""
    if isinstance(node, ast.Call):
        is_known = getattr(node.func, "id", getattr(node.func, "attr", "")) in ("str", "lower", "upper", "strip")
        return is_known and all(map(_is_quiet, node.args)) and (isinstance(node.func, ast.Name) or _is_quiet(node.func))
    if isinstance(node, ast.Attribute):
        return _is_quiet(node.value)
    if isinstance(node, ast.Subscript):
        return _is_quiet(node.value) and isinstance(node.slice, ast.Constant)
    return isinstance(node, ast.Name)
