"""What nothing needs is taken out: parameters, attributes, methods, variables, whole functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from backends.launch.script.fold import Scoped, Usage
from backends.launch.script.survey import (
    NOT_NONE,
    TRUE,
    Fact,
    Key,
    Scope,
    Survey,
    again,
    is_docstring,
    methods,
    own_nodes,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.launch.script.modules import Definition, Program


def reached(program: Program, entry: str) -> list[Definition]:
    """The definitions that an entry needs, in the order of their modules and their places there."""
    definitions: dict[int, Definition] = {}
    pending = [entry]
    while pending:
        definition = program.definitions.get(pending.pop())
        if definition is not None and id(definition) not in definitions:
            definitions[id(definition)] = definition
            pending += names_in(definition.node)
    rank = {module.name: index for index, module in enumerate(program.order)}
    return sorted(definitions.values(), key=lambda entry: (rank[entry.module.name], entry.index))


def names_in(node: ast.AST) -> Iterable[str]:
    """Names that a definition uses when it runs; what only its annotations name is not needed."""
    pending: list[Any] = [node]
    while pending:
        pending_node = pending.pop()
        if isinstance(pending_node, ast.Name):
            yield pending_node.id
        for name, value in ast.iter_fields(pending_node):
            if name not in ("annotation", "returns"):
                parts = value if isinstance(value, list) else [value]
                pending += [part for part in parts if isinstance(part, ast.AST)]


def joined(facts: Sequence[Fact | None]) -> Fact | None:
    """What is known where it may be any of these."""
    if not facts or None in facts:
        return None
    first = facts[0]
    if all(fact == first for fact in facts):
        return first
    if all(fact is not None and (fact.is_true or _is_named(fact)) for fact in facts):
        return TRUE
    return None if any(fact is not None and _is_none(fact) for fact in facts) else NOT_NONE


def _is_named(fact: Fact) -> bool:
    """A function or a class."""
    return isinstance(fact.node, ast.Name) and not fact.node.id.startswith("config:")


def _is_none(fact: Fact) -> bool:
    return fact.node is not None and not (isinstance(fact.node, ast.Constant) and fact.node.value is not None)


def learn(survey: Survey, usage: Usage) -> None:
    """What the look at all calls and stores tells about parameters, attributes and results."""
    survey.returned = {key: fact for key, facts in usage.returns.items() if (fact := joined(facts)) is not None}
    survey.attribute_facts = {}
    for name, stores in usage.stored.items():
        owners = {owner for owner, _, _ in stores}
        if None in owners:
            continue
        for owner in owners:
            setters = {owner, *survey.setters(owner or "", name)}
            fact = joined([fact for whose, _, fact in stores if whose in setters])
            if fact is not None and owner is not None:
                survey.attribute_facts[(owner, name)] = fact
    _learn_class_attributes(survey, usage)
    _learn_fields(survey, usage)


def _learn_class_attributes(survey: Survey, usage: Usage) -> None:
    """`size = 1` in a class, which no object of it sets otherwise; what one made from it has instead is that one's."""
    for name, node in survey.classes.items():
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                field = statement.targets[0].id
                fact = survey.fact(statement.value, Scope())
                stores = {owner for owner, _, _ in usage.stored.get(field, [])}
                if fact and not {None, *survey.setters(name, field)} & stores:
                    survey.attribute_facts[(name, field)] = fact


def _learn_fields(survey: Survey, usage: Usage) -> None:
    """Fields of a dataclass have what its calls give them."""
    for name, node in survey.classes.items():
        if name in usage.used or (name, "__init__") in survey.functions:
            continue
        calls = usage.calls.get(name, [])
        for field, default in fields_of(node):
            values = [_value_in_call(field, fields_of(node), call) for call, _ in calls]
            if {None, name} & {owner for owner, _, _ in usage.stored.get(field, [])} or ... in values:
                continue
            facts = [
                survey.fact(value if value is not None else default, scope)
                for value, (_, scope) in zip(values, calls, strict=True)
            ]
            if (fact := joined(facts)) is not None:
                survey.attribute_facts[(name, field)] = fact


def fields_of(node: ast.ClassDef) -> list[tuple[str, ast.expr | None]]:
    return [
        (statement.target.id, statement.value)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def _value_in_call(name: str, fields: Sequence[tuple[str, Any]], call: ast.Call) -> Any:
    """The argument for a field or parameter, None where the default counts, `...` where nobody can tell."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        return ...
    order = [field for field, _ in fields]
    index = order.index(name)
    if index < len(call.args):
        return call.args[index]
    return next((word.value for word in call.keywords if word.arg == name), None)


def narrow(survey: Survey, usage: Usage) -> None:
    """Takes out parameters that always get the same value, or are not used."""
    survey.parameters = {}
    for key, function in survey.functions.items():
        calls = _calls_of(survey, usage, key)
        if calls is None:
            continue
        skipped = 0 if isinstance(key, str) or _is_static(function) else 1
        _narrow(survey, key, function, calls, skipped)
    for name, node in survey.classes.items():
        if (name, "__init__") not in survey.functions and name not in usage.used:
            _narrow_fields(survey, usage, node, usage.calls.get(name, []))


def _is_static(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in function.decorator_list
    )


def is_passed(survey: Survey, usage: Usage, owner: str, name: str) -> bool:
    """Whether a method may be used in another way than by calls of which all is known."""
    return any((cls, name) in usage.passed for cls in (None, *survey.kin(owner)))


def _calls_of(survey: Survey, usage: Usage, key: Key) -> list[tuple[ast.Call, Scope]] | None:
    """All calls of a function; None where there may be others."""
    if isinstance(key, str):
        return None if key in usage.used else usage.calls.get(key)
    owner, name = key
    if survey.classes[owner].bases and name != "__init__":
        return None
    if name == "__init__":
        return None if owner in usage.used else usage.calls.get(owner)
    if name.startswith("__") or is_passed(survey, usage, owner, name):
        return None
    return usage.calls.get(key)


def _narrow(
    survey: Survey, key: Key, function: ast.FunctionDef, calls: list[tuple[ast.Call, Scope]], skipped: int
) -> None:
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        return
    for parameter in parameters_of(function)[skipped:]:
        order = [(other.arg, None) for other in arguments.args[skipped:]]
        default = _default(function, parameter)
        if parameter in arguments.kwonlyargs:
            order.append((parameter.arg, None))
            values = [
                next((word.value for word in call.keywords if word.arg == parameter.arg), _missing(call))
                for call, _ in calls
            ]
        else:
            values = [_value_in_call(parameter.arg, order, call) for call, _ in calls]
        if ... in values:
            continue
        whole = [default if value is None else value for value in values]
        facts = [survey.fact(value, scope) for value, (_, scope) in zip(whole, calls, strict=True)]
        fact = joined(facts)
        is_set = any(
            isinstance(node, ast.Name) and node.id == parameter.arg and not isinstance(node.ctx, ast.Load)
            for node in ast.walk(function)
        )
        is_used = any(
            isinstance(node, ast.Name) and node.id == parameter.arg for part in function.body for node in ast.walk(part)
        )
        pure = all(survey.is_pure(value, scope) for value, (_, scope) in zip(values, calls, strict=True) if value)
        if fact is not None and fact.node is not None and not is_set:
            put_in(function, parameter.arg, fact)
            is_used = False
        elif fact is not None and not is_set:
            survey.parameters[(key, parameter.arg)] = fact
        if not is_used and pure:
            _take_out(function, parameter, calls, values)


def _missing(call: ast.Call) -> Any:
    return ... if any(word.arg is None for word in call.keywords) else None


def _default(function: ast.FunctionDef, parameter: ast.arg) -> ast.expr | None:
    arguments = function.args
    if parameter in arguments.kwonlyargs:
        return arguments.kw_defaults[arguments.kwonlyargs.index(parameter)]
    index = arguments.args.index(parameter) - len(arguments.args) + len(arguments.defaults)
    return arguments.defaults[index] if index >= 0 else None


def put_in(function: ast.FunctionDef, name: str, fact: Fact) -> None:
    function.body = [Put(name, fact).visit(statement) for statement in function.body]


class Put(ast.NodeTransformer):
    def __init__(self, name: str, fact: Fact) -> None:
        self.name = name
        self.fact = fact

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(again(self.fact), node) if node.id == self.name else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return (
            node if any(parameter.arg == self.name for parameter in parameters_of(node)) else self.generic_visit(node)
        )

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return (
            node if any(parameter.arg == self.name for parameter in parameters_of(node)) else self.generic_visit(node)
        )


def _take_out(
    function: ast.FunctionDef, parameter: ast.arg, calls: list[tuple[ast.Call, Scope]], values: Sequence[Any]
) -> None:
    arguments = function.args
    if parameter in arguments.kwonlyargs:
        index = arguments.kwonlyargs.index(parameter)
        del arguments.kwonlyargs[index], arguments.kw_defaults[index]
    else:
        index = arguments.args.index(parameter)
        behind = index - len(arguments.args) + len(arguments.defaults)
        if behind >= 0:
            del arguments.defaults[behind]
        del arguments.args[index]
    _drop_arguments(calls, values)


def _drop_arguments(calls: list[tuple[ast.Call, Scope]], values: Sequence[Any]) -> None:
    for (call, _), value in zip(calls, values, strict=True):
        if value is not None:
            call.args = [argument for argument in call.args if argument is not value]
            call.keywords = [word for word in call.keywords if word.value is not value]


def _narrow_fields(survey: Survey, usage: Usage, node: ast.ClassDef, calls: list[tuple[ast.Call, Scope]]) -> None:
    if node.bases or not node.decorator_list or not calls:
        return
    for name, _ in fields_of(node):
        values = [_value_in_call(name, fields_of(node), call) for call, _ in calls]
        if name in usage.loaded or ... in values:
            continue
        if all(survey.is_pure(value, scope) for value, (_, scope) in zip(values, calls, strict=True) if value):
            node.body = [
                statement
                for statement in node.body
                if not (
                    isinstance(statement, ast.AnnAssign)
                    and isinstance(statement.target, ast.Name)
                    and statement.target.id == name
                )
            ]
            _drop_arguments(calls, values)


class Prune(Scoped):
    """Takes out methods, attributes and variables that nothing reads."""

    def __init__(self, survey: Survey, usage: Usage) -> None:
        super().__init__(survey)
        self.loaded = usage.loaded
        self.is_plain = False
        self.dead: list[set[str]] = []
        self.results = {
            key
            for key in survey.functions
            if _calls_of(survey, usage, key) is not None and _result_is_unused(usage, key)
        }

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.is_plain = self.survey.is_own(self.name)
        gone = [method for method in methods(node) if self.is_plain and self._is_unused(method.name)]
        node.body = [method for method in node.body if method not in gone]
        super().visit_ClassDef(node)
        self.is_plain = False
        node.body = node.body or [ast.Pass()]
        return node

    def _is_unused(self, name: str) -> bool:
        return not name.startswith("__") and name not in self.loaded

    def _inside(self, node: Any) -> Any:
        if isinstance(node, ast.FunctionDef):
            self.dead.append(unread(node))
            if not self.depth and self.key_of(node) in self.results:
                node.body = without_result(node.body)
            node.body = returning(without_overwritten(node.body))
        else:
            self.dead.append(set())
        super()._inside(node)
        self.dead.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if self.depth and self.dead and node.name in self.dead[-1]:
            return None
        return self._inside(node)

    def _is_dead(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Attribute):
            owner = self.survey.type_of(target.value, self.scope)
            node = self.survey.classes.get(owner or "")
            return node is not None and not node.bases and target.attr not in self.loaded
        return isinstance(target, ast.Name) and bool(self.dead) and target.id in self.dead[-1]

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple) and len(node.targets) == 1:
            return self._pairs(node, node.targets[0], node.value)
        node.targets = [target for target in node.targets if not self._is_dead(target)]
        if node.targets:
            return node
        return None if self.survey.is_pure(node.value, self.scope) else ast.copy_location(ast.Expr(node.value), node)

    def _pairs(self, node: ast.Assign, targets: ast.Tuple, values: ast.Tuple) -> Any:
        pairs = list(zip(targets.elts, values.elts, strict=False))
        live_pairs = [
            pair for pair in pairs if not (self._is_dead(pair[0]) and self.survey.is_pure(pair[1], self.scope))
        ]
        if len(live_pairs) == len(pairs):
            return node
        if len(live_pairs) < 2:
            return ast.copy_location(ast.Assign([live_pairs[0][0]], live_pairs[0][1]), node) if live_pairs else None
        targets.elts, values.elts = [target for target, _ in live_pairs], [value for _, value in live_pairs]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if not self.depth or not self._is_dead(node.target):
            return node
        if self.survey.is_pure(node.value, self.scope):
            return None
        return ast.copy_location(ast.Expr(node.value), node) if node.value else None

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return None if self._is_dead(node.target) and self.survey.is_pure(node.value, self.scope) else node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Nothing is added to what nobody reads."""
        if not is_docstring(node) and self.survey.is_pure(node.value, self.scope):
            return None
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            inner = call.func.value
            if isinstance(inner, ast.Attribute) and self._is_dead(inner) and call.func.attr in ("append", "update"):
                return None if all(self.survey.is_pure(argument, self.scope) for argument in call.args) else node
        return node


def _result_is_unused(usage: Usage, key: Key) -> bool:
    return key in usage.statements and usage.statements[key] == len(usage.calls.get(key, []))


def without_result(body: list[ast.stmt]) -> list[ast.stmt]:
    last = body[-1] if body else None
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant | None):
        return body[:-1]
    return body


def returning(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without an empty return at the end, and without a name for what is returned at once."""
    if body and isinstance(body[-1], ast.Return) and body[-1].value is None:
        return body[:-1]
    if len(body) > 1 and isinstance(body[-1], ast.Return) and isinstance(body[-1].value, ast.Name):
        assignment = body[-2]
        if isinstance(assignment, ast.Assign) and ast.unparse(assignment.targets) == body[-1].value.id:  # type: ignore[arg-type]
            return [*body[:-2], ast.copy_location(ast.Return(assignment.value), assignment)]
    return body


def unread(function: ast.FunctionDef) -> set[str]:
    """Local names that a function sets and never reads, nor any function in it."""
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    bound = {
        child.id for child in own_nodes(function) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
    }
    bound |= {child.name for child in own_nodes(function) if isinstance(child, ast.FunctionDef)}
    return bound - read - shared


def without_overwritten(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without `self.x = …` that the same block sets again before anybody reads it."""
    statements: list[ast.stmt] = []
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            statement.targets = [target for target in statement.targets if not _set_again(target, body[index + 1 :])]
            if not statement.targets:
                continue
        statements.append(statement)
    return statements


def _set_again(target: ast.expr, rest: Sequence[ast.stmt]) -> bool:
    if not isinstance(target, ast.Attribute):
        return False
    for statement in rest:
        loads = {
            node.attr
            for node in ast.walk(statement)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        }
        if target.attr in loads:
            return False
        if isinstance(statement, ast.Assign) and any(
            ast.dump(target) == ast.dump(other) for other in statement.targets
        ):
            return True
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.FunctionDef):
            return False
    return False


def is_empty(body: Sequence[ast.stmt]) -> bool:
    return all(is_docstring(statement) for statement in body)
