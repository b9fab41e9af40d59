"""What is called once and is one line stands where it is called."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from backends.launch.script.fold import Scoped, Usage
from backends.launch.script.prune import is_passed
from backends.launch.script.survey import Key, Survey, is_docstring, parameters_of

if TYPE_CHECKING:
    from typing import Any

LONGEST = 90


class Inline(Scoped):
    def __init__(self, survey: Survey, usage: Usage) -> None:
        super().__init__(survey)
        self.short: dict[Key, ast.FunctionDef] = {}
        for key, function in survey.functions.items():
            if len(usage.calls.get(key, [])) == 1 and not self._escapes(usage, key) and is_short(function):
                self.short[key] = function

    def _escapes(self, usage: Usage, key: Key) -> bool:
        if isinstance(key, str):
            return key in usage.used
        owner, name = key
        return (
            name.startswith("__")
            or bool(self.survey.classes[owner].bases)
            or is_passed(self.survey, usage, owner, name)
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        key = self.survey.callee(node, self.scope)
        self.generic_visit(node)
        function = self.short.get(key) if key is not None else None
        body = body_of(function) if function is not None else []
        if function is None or not isinstance(body[0], ast.Return) or body[0].value is None:
            return node
        values = arguments(function, node)
        return node if values is None else ast.copy_location(put(body[0].value, values), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A function that only does something, too."""
        call = node.value
        key = self.survey.callee(call, self.scope) if isinstance(call, ast.Call) else None
        function = self.short.get(key) if key is not None else None
        body = body_of(function) if function is not None else []
        if not isinstance(call, ast.Call) or function is None or isinstance(body[0], ast.Return):
            return self.generic_visit(node)
        values = arguments(function, call)
        return self.generic_visit(node) if values is None else [put(statement, values) for statement in body]


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    return [statement for statement in function.body if not is_docstring(statement)]


def is_short(function: ast.FunctionDef) -> bool:
    body = body_of(function)
    if not body or function.decorator_list or function.args.vararg or function.args.kwarg:
        return False
    inside = [node for statement in body for node in ast.walk(statement)]
    if any(isinstance(child, ast.Lambda | ast.comprehension | ast.Yield | ast.YieldFrom) for child in inside):
        return False
    if any(isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load) for child in inside):
        return False
    if len(body) == 1 and isinstance(body[0], ast.Return):
        return len(ast.unparse(body[0])) <= LONGEST
    return all(isinstance(statement, ast.Expr) for statement in body) and len(body) <= 3


def arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument of each parameter, where each may stand in its place."""
    names = [parameter.arg for parameter in parameters_of(function)]
    values = list(call.args)
    if names[:1] == ["self"]:
        if not isinstance(call.func, ast.Attribute):
            return None
        values.insert(0, call.func.value)
    if any(isinstance(value, ast.Starred) for value in values) or any(word.arg is None for word in call.keywords):
        return None
    values_by_name = dict(zip(names, values, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    uses = [child.id for part in function.body for child in ast.walk(part) if isinstance(child, ast.Name)]
    if set(values_by_name) != set(names):
        return None
    fits = (uses.count(name) <= 1 or is_simple(value) for name, value in values_by_name.items())
    return values_by_name if all(fits) and (len(names) <= 1 or all(map(is_simple, values_by_name.values()))) else None


def is_simple(node: ast.expr) -> bool:
    """Costs nothing and does nothing, however often it stands there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def put(node: Any, values: dict[str, ast.expr]) -> Any:
    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            return copy.deepcopy(values[name.id]) if name.id in values else name

    return Put().visit(copy.deepcopy(node))
