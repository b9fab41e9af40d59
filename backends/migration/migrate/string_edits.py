"""Edits of string literals, depending on how the string is used."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from backends.migration.migrate import string_literals
from backends.migration.migrate.draft import DEVICE_TYPE, NO_NAMES, Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.migrate.draft import PreludeName
    from backends.migration.migrate.prelude import PreludeNames
    from backends.migration.migrate.syntax_tree import SyntaxTree

LiteralUse: TypeAlias = Literal[
    "plain", "pattern", "alternative", "member", "key", "index", "equal", "contained", "prefix", "container", "other"
]
_WORDS: tuple[tuple[re.Pattern[str], str, PreludeName], ...] = (
    (string_literals.DEVICE_WORD, "npu", "device_type"),
    (string_literals.BACKEND_WORD, "hccl", "backend"),
)
_BACKEND_MAP = re.compile(r"(?=.*\bnccl\b)(?=.*\bcuda\b)")


def find_literal(tree: SyntaxTree, nodes: Iterable[ast.expr]) -> ast.expr | None:
    """Return the string that a finding is about: the first with a word of the GPU stack, or else the first. For text
    inside an f-string this is the whole f-string."""
    literals = [literal for node in nodes if (literal := _literal(tree, node)) is not None]
    speaking = (literal for literal in literals if isinstance(literal, ast.BinOp) or npu_word(tree.text(literal)))
    return next(speaking, literals[0] if literals else None)


def _literal(tree: SyntaxTree, node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        parent = tree.parent(node)
        whole = parent if isinstance(parent, ast.JoinedStr) else node
        return whole if _is_as_written(tree, whole) else None
    return node if isinstance(node, ast.BinOp) and _folded(node) == "cuda" else None


def _is_as_written(tree: SyntaxTree, node: ast.expr) -> bool:
    """Tell whether the node's position is right: inside an f-string Python before 3.12 may give a wrong one."""
    raw = tree.text(node)
    if isinstance(node, ast.JoinedStr) or not string_literals.literal_pieces(raw):
        return bool(string_literals.literal_pieces(raw))
    try:
        return bool(ast.literal_eval(f"({raw})") == ast.literal_eval(node))
    except (ValueError, SyntaxError):
        return False


def _folded(node: ast.expr) -> str:
    """Return the value of string constants joined with +, "" where it is not known."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _folded(node.left), _folded(node.right)
        return left + right if left and right else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def literal_use(tree: SyntaxTree, node: ast.expr) -> LiteralUse:
    parent = tree.parent(node)
    if isinstance(parent, ast.MatchValue):
        return "pattern"
    if isinstance(parent, ast.Dict):
        return "key" if node in parent.keys else "plain"
    if isinstance(parent, ast.Compare):
        return _comparison_use(parent, node)
    if isinstance(parent, ast.Tuple | ast.List | ast.Set):
        return _collection_use(tree, parent)
    if isinstance(parent, ast.Subscript) and node is parent.slice:
        return "alternative" if _is_literal_type(parent) else "index"
    if isinstance(parent, ast.Call) and node in parent.args and isinstance(parent.func, ast.Attribute):
        return "prefix" if parent.func.attr in ("startswith", "endswith") else "plain"
    return "plain"


def _comparison_use(compare: ast.Compare, node: ast.expr) -> LiteralUse:
    if len(compare.ops) > 1:
        return "other"
    op = compare.ops[0]
    if isinstance(op, ast.Eq | ast.NotEq):
        return "equal"
    if isinstance(op, ast.In | ast.NotIn):
        return "contained" if node is compare.left else "container"
    return "other"


def _collection_use(tree: SyntaxTree, collection: ast.expr) -> LiteralUse:
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


def has_npu_alternative(tree: SyntaxTree, node: ast.expr) -> bool:
    """Tell whether the author already handles an NPU at the same place: another entry, key or branch names it."""
    for parent in tree.ancestors(node):
        if isinstance(parent, ast.Dict | ast.List | ast.Tuple | ast.Set | ast.BoolOp | ast.Match) and mentions_npu(
            parent
        ):
            return True
        if isinstance(parent, ast.If):
            top = _first_branch(tree, parent)
            return any(mentions_npu(test) for test in _tests(top))
        if isinstance(parent, ast.stmt):
            return False
    return False


def mentions_npu(node: ast.AST) -> bool:
    return any(
        isinstance(child, ast.Constant)
        and isinstance(child.value, str)
        and child.value.partition(":")[0] in ("npu", "hccl")
        for child in ast.walk(node)
    )


def _first_branch(tree: SyntaxTree, branch: ast.If) -> ast.If:
    parent = tree.parent(branch)
    while isinstance(parent, ast.If) and parent.orelse == [branch]:
        branch, parent = parent, tree.parent(parent)
    return branch


def _tests(branch: ast.If) -> Iterable[ast.expr]:
    yield branch.test
    while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
        yield branch.test


def npu_word(raw: str) -> tuple[re.Pattern[str], str, PreludeName] | None:
    """Return what the GPU word in a literal becomes; None where it has none, or both kinds."""
    matches = [word for word in _WORDS if string_literals.pattern_spans(raw, word[0])]
    return matches[0] if len(matches) == 1 else None


def _drafts_at(
    tree: SyntaxTree, node: ast.expr, edits: list[tuple[int, int, str]], needs: frozenset[PreludeName]
) -> list[Draft]:
    start = tree.span(node)[0]
    return [Draft(begin=start + begin, end=start + end, text=text, needs=needs) for begin, end, text in edits]


def npu_text(raw: str) -> str:
    """Return the literal with the NPU's words in it."""
    for pattern, word, _ in _WORDS:
        for begin, end, text in reversed(string_literals.replace_word(raw, pattern, word)):
            raw = raw[:begin] + text + raw[end:]
    return raw


def edit_explicit(tree: SyntaxTree, node: ast.expr, prelude: PreludeNames) -> list[Draft] | None:
    """Replace the literal by a name, so that the code runs on either device."""
    raw, use = tree.text(node), literal_use(tree, node)
    if use in ("pattern", "alternative"):
        return add_npu_word(tree, node, use)
    if use in ("index", "other"):
        return None
    if isinstance(node, ast.Constant) and _BACKEND_MAP.match(str(node.value)):
        return _edit_backend_map(tree, node, prelude)
    if isinstance(node, ast.BinOp):
        return _edit_sum(tree, node, prelude)
    if (word := npu_word(raw)) is None:
        return None
    pattern, _, name = word
    called = prelude.name_for(name)
    parent = tree.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr == "format" and string_literals.literal_value(raw):
        whole = string_literals.format_expression(raw, called)
        if whole is not None:
            begin, end = tree.span(node)
            return [Draft(begin=begin, end=end, text=whole, needs=frozenset({name}))]
    edits = string_literals.insert_name(raw, pattern, called)
    return _drafts_at(tree, node, edits, frozenset({name})) or None


def _edit_sum(tree: SyntaxTree, node: ast.BinOp, prelude: PreludeNames) -> list[Draft] | None:
    begin, end = tree.span(node)
    if _folded(node) != "cuda":
        return None
    return [Draft(begin=begin, end=end, text=prelude.device_type, needs=DEVICE_TYPE)]


def _edit_backend_map(tree: SyntaxTree, node: ast.Constant, prelude: PreludeNames) -> list[Draft] | None:
    """Choose between both versions of a map of backends such as "cpu:gloo,cuda:nccl", whose words change together."""
    raw = tree.text(node)
    if len(string_literals.literal_pieces(raw)) != 1:
        return None
    begin, end = tree.span(node)
    text = f'{npu_text(raw)} if {prelude.device_type} == "npu" else {raw}'
    parent = tree.parent(node)
    if isinstance(parent, ast.Compare | ast.BinOp | ast.Attribute | ast.IfExp | ast.BoolOp | ast.UnaryOp):
        text = f"({text})"
    return [Draft(begin=begin, end=end, text=text, needs=DEVICE_TYPE)]


def edit_minimal(tree: SyntaxTree, node: ast.expr) -> list[Draft] | None:
    """Extend a comparison or a table so that an NPU counts too; elsewhere replace the word."""
    raw, use = tree.text(node), literal_use(tree, node)
    if use in ("index", "other"):
        return None
    if isinstance(node, ast.BinOp):
        return None
    if use in ("pattern", "alternative", "member"):
        return add_npu_word(tree, node, use)
    if use == "key":
        return _add_key(tree, node)
    if use in ("equal", "contained"):
        return _edit_comparison(tree, node, use)
    if use == "prefix":
        begin, end = tree.span(node)
        return [Draft(begin=begin, end=end, text=f"({raw}, {npu_text(raw)})")]
    edits = [edit for pattern, word, _ in _WORDS for edit in string_literals.replace_word(raw, pattern, word)]
    return _drafts_at(tree, node, edits, NO_NAMES) or None


def add_npu_word(tree: SyntaxTree, node: ast.expr, use: LiteralUse) -> list[Draft]:
    """Add the NPU's word next to the other."""
    raw, (_, end) = tree.text(node), tree.span(node)
    between = " | " if use == "pattern" else ", "
    return [Draft(begin=end, end=end, text=between + npu_text(raw))]


def _add_key(tree: SyntaxTree, node: ast.expr) -> list[Draft] | None:
    table = tree.parent(node)
    assert isinstance(table, ast.Dict)
    value = table.values[table.keys.index(node)]
    text = tree.text(value)
    if any(isinstance(child, ast.Call | ast.Await | ast.Yield) for child in ast.walk(value)) or "\n" in text:
        return None
    begin, _ = tree.span(node)
    return [Draft(begin=begin, end=begin, text=f"{npu_text(tree.text(node))}: {text}, ")]


def _edit_comparison(tree: SyntaxTree, node: ast.expr, use: LiteralUse) -> list[Draft] | None:
    """Turn `x == "cuda"` into `x in ("cuda", "npu")`."""
    compare = tree.parent(node)
    assert isinstance(compare, ast.Compare)
    other = compare.comparators[0] if node is compare.left else compare.left
    begin, end = tree.span(compare)
    raw = tree.text(node)
    both = f"({raw}, {npu_text(raw)})"
    is_not = isinstance(compare.ops[0], ast.NotEq | ast.NotIn)
    if use == "equal" and node is not compare.left:
        start, left = tree.span(node)[0], tree.span(compare.left)[1]
        between = tree.source.text[left:start]
        changed = between.replace("!=" if is_not else "==", "not in" if is_not else "in")
        begins_name = changed if changed[:1].isspace() else f" {changed}"
        spaced = begins_name if begins_name[-1:].isspace() else f"{begins_name} "
        return [Draft(begin=left, end=start, text=spaced), Draft(begin=start, end=tree.span(node)[1], text=both)]
    if "\n" in tree.source.text[begin:end] or not _is_repeatable(other):
        return None
    text = tree.text(other)
    if use == "equal":
        return [Draft(begin=begin, end=end, text=f"{text} {'not in' if is_not else 'in'} {both}")]
    word, joined = ("not in", "and") if is_not else ("in", "or")
    twice = f"{raw} {word} {text} {joined} {npu_text(raw)} {word} {text}"
    if not isinstance(tree.parent(compare), ast.stmt | ast.IfExp | ast.keyword):
        twice = f"({twice})"
    return [Draft(begin=begin, end=end, text=twice)]


def _is_repeatable(node: ast.expr) -> bool:
    """Tell whether an expression may be evaluated twice: names, and str() or lower() of them."""
    if isinstance(node, ast.Call):
        is_pure = getattr(node.func, "id", getattr(node.func, "attr", "")) in ("str", "lower", "upper", "strip")
        return (
            is_pure
            and all(map(_is_repeatable, node.args))
            and (isinstance(node.func, ast.Name) or _is_repeatable(node.func))
        )
    if isinstance(node, ast.Attribute):
        return _is_repeatable(node.value)
    if isinstance(node, ast.Subscript):
        return _is_repeatable(node.value) and isinstance(node.slice, ast.Constant)
    return isinstance(node, ast.Name)
