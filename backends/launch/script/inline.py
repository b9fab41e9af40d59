"""What is called once and is one line stands where it is called."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from backends.launch.script.fold import Look, Scoped
from backends.launch.script.survey import Key, Survey, is_docstring, parameters_of

if TYPE_CHECKING:
    from typing import Any

LONGEST = 90


class Inline(Scoped):
    def __init__(self, survey: Survey, look: Look) -> None:
        super().__init__(survey)
        self.short: dict[Key, ast.FunctionDef] = {}
        for key, function in survey.functions.items():
            if len(look.calls.get(key, [])) == 1 and not self._escapes(look, key) and is_short(function):
                self.short[key] = function

    def _escapes(self, look: Look, key: Key) -> bool:
        if isinstance(key, str):
            return key in look.used
        owner, name = key
        return (
            name.startswith("__")
            or bool(self.survey.classes[owner].bases)
            or {key, (None, name)} & look.passed != set()
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        key = self.survey.callee(node, self.scope)
        self.generic_visit(node)
        function = self.short.get(key) if key is not None else None
        body = body_of(function) if function is not None else []
        if function is None or not isinstance(body[0], ast.Return) or body[0].value is None:
            return node
        given = arguments(function, node)
        return node if given is None else ast.copy_location(put(body[0].value, given), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A function that only does something, too."""
        call = node.value
        key = self.survey.callee(call, self.scope) if isinstance(call, ast.Call) else None
        function = self.short.get(key) if key is not None else None
        body = body_of(function) if function is not None else []
        if not isinstance(call, ast.Call) or function is None or isinstance(body[0], ast.Return):
            return self.generic_visit(node)
        given = arguments(function, call)
        return self.generic_visit(node) if given is None else [put(one, given) for one in body]


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    return [one for one in function.body if not is_docstring(one)]


def is_short(function: ast.FunctionDef) -> bool:
    body = body_of(function)
    if not body or function.decorator_list or function.args.vararg or function.args.kwarg:
        return False
    inside = [one for statement in body for one in ast.walk(statement)]
    if any(isinstance(one, ast.Lambda | ast.comprehension | ast.Yield | ast.YieldFrom) for one in inside):
        return False
    if any(isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load) for one in inside):
        return False
    if len(body) == 1 and isinstance(body[0], ast.Return):
        return len(ast.unparse(body[0])) <= LONGEST
    return all(isinstance(one, ast.Expr) for one in body) and len(body) <= 3


def arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument of each parameter, where each may stand in its place."""
    names = [one.arg for one in parameters_of(function)]
    values = list(call.args)
    if names[:1] == ["self"]:
        if not isinstance(call.func, ast.Attribute):
            return None
        values.insert(0, call.func.value)
    if any(isinstance(one, ast.Starred) for one in values) or any(word.arg is None for word in call.keywords):
        return None
    given = dict(zip(names, values, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    uses = [one.id for part in function.body for one in ast.walk(part) if isinstance(one, ast.Name)]
    if set(given) != set(names):
        return None
    fits = (uses.count(name) <= 1 or is_simple(value) for name, value in given.items())
    return given if all(fits) and (len(names) <= 1 or all(map(is_simple, given.values()))) else None


def is_simple(node: ast.expr) -> bool:
    """Costs nothing and does nothing, however often it stands there."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def put(node: Any, given: dict[str, ast.expr]) -> Any:
    class Put(ast.NodeTransformer):
        def visit_Name(self, one: ast.Name) -> ast.AST:
            return copy.deepcopy(given[one.id]) if one.id in given else one

    return Put().visit(copy.deepcopy(node))
