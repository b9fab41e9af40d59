"""Texts that only people read: docstrings, help, messages."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.migration.scan.python.scoped_tree import ScopedTree

_MESSAGES = """
print pprint warn warning warnings debug info error critical exception fatal log msg echo secho write writelines
write_line set_description set_description_str set_postfix_str skip skipif skipIf skipUnless skipTest xfail fail exit
range_push range_start record_function add_text set_title title suptitle xlabel ylabel text annotate deprecated
"""
_MESSAGE_CALLS = frozenset(_MESSAGES.split())
_MESSAGE_NAME = re.compile(
    r"(?i)^_?(?:print|log|warn|logger|logging|echo)(?:_?(?:rank\w*|once|master|main|root|info|debug|warn(?:ing)?|error|msg"
    r"|message|text|line|header|banner|color\w*|status|[01]))*$|_(?:print|log|logger|warning|info|debug|error)$"
)
_MESSAGE_WORDS = """
help description desc metavar epilog usage reason message msg doc docs helptext help_text prog title short_help
deprecated explanation label keywords classifiers
"""
_MESSAGE_KEYWORDS = frozenset(_MESSAGE_WORDS.split())
_ERROR = re.compile(r"(?:Error|Exception|Warning|Exit|Failure|Interrupt)$")
_THROUGH_METHODS = frozenset(("format", "join", "strip", "lower", "upper", "center", "ljust", "rjust", "format_map"))
_THROUGH_CALLS = frozenset(("str", "repr", "_", "gettext", "dedent", "colored", "colorstr", "cleandoc", "green", "red"))
_THROUGH = (ast.JoinedStr, ast.FormattedValue, ast.BoolOp, ast.Tuple, ast.List, ast.Starred, ast.Set)
_MAX_STEPS = 40  # steps from a text to the call it is a message of
_NAMES_OF_MODULE = frozenset(("__all__", "__slots__", "__doc__", "__author__", "__version__", "__match_args__"))


def is_message_text(node: ast.AST, tree: ScopedTree) -> bool:
    """Whether a text, or a part of one, is a docstring, a help text or a message. Other expressions never are."""
    child = node
    for steps, parent in enumerate(tree.ancestors(node)):
        if steps > _MAX_STEPS:
            return False
        if not _is_part_of_text(parent, child):
            return _is_only_read(parent, child, tree)
        child = parent
    return False


def _is_part_of_text(parent: ast.AST, child: ast.AST) -> bool:
    """Whether the parent is a text too, that the child is a part of."""
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add | ast.Mod | ast.Mult)
    if isinstance(parent, ast.IfExp):
        return child is not parent.test
    if isinstance(parent, ast.Attribute):
        return parent.attr in _THROUGH_METHODS
    if isinstance(parent, ast.Call):
        return _only_formats(parent, child)
    return isinstance(parent, _THROUGH)


def _only_formats(call: ast.Call, child: ast.AST) -> bool:
    """Whether a call only shapes the text that it is given: "…".format(child), str(child)."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr in _THROUGH_METHODS
    return child is not function and isinstance(function, ast.Name) and function.id in _THROUGH_CALLS


def _is_only_read(parent: ast.AST, child: ast.AST, tree: ScopedTree) -> bool:
    """Whether what the text is there for is only to be read."""
    if isinstance(parent, ast.Call):
        return _is_message(parent)
    if isinstance(parent, ast.keyword):
        call = tree.parents.get(parent)
        if isinstance(call, ast.Call) and _only_formats(call, parent):
            return is_message_text(call, tree)
        return parent.arg in _MESSAGE_KEYWORDS
    if isinstance(parent, ast.Dict):
        key = tree.key_of(parent, child)
        return isinstance(key, ast.Constant) and key.value in _MESSAGE_KEYWORDS
    if isinstance(parent, ast.Assert):
        return child is parent.msg
    if isinstance(parent, ast.Assign):
        return any(_is_of_module(target) for target in parent.targets)
    if isinstance(parent, ast.AugAssign | ast.AnnAssign):
        return _is_of_module(parent.target)
    return isinstance(parent, ast.Expr | ast.Raise)


def _is_of_module(target: ast.expr) -> bool:
    """__all__ and the like."""
    return isinstance(target, ast.Name) and target.id in _NAMES_OF_MODULE


def _is_message(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _MESSAGE_CALLS or (_ERROR.search(name) and name[:1].isupper()):
        return True
    return _MESSAGE_NAME.search(name) is not None
