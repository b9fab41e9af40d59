"""A program made for one set of choices: what they decide is decided, what is not reached is gone."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from backends.launch.script.modules import PACKAGE, RECORD, Indigestible, located
from backends.launch.script.survey import (
    ALL_CHOICES,
    CHOICE,
    MUTATORS,
    Fact,
    Key,
    Scope,
    Survey,
    again,
    is_docstring,
)
from studio import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backends.launch.script.modules import Definition

FAILURE = f"{PACKAGE}.failures:Failure"
RECORDER = "!import ascend_studio|ascend_studio"
CONTEXTS = "!import contextlib|contextlib"
HOOKS = "!from ascend_studio import hooks|hooks"
PRINT_METRICS = f"{PACKAGE}.script:tell"
# What these modules print is for the log of a run; a script prints its numbers.
QUIET = (RECORD,)
COUNTED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
NEUTRAL: tuple[tuple[type[ast.operator], int | None], ...] = ((ast.Mult, 1), (ast.Div, 1), (ast.Add, 0), (ast.Sub, 0))
# Of these, 1 or 0 means that there is nothing of the kind; other numbers get a name at the top of the script.
OFF_AT_0_OR_1 = ("accumulate", "workers", "warmup", "stages", "pipeline_batches", "data_workers")
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Scoped(ast.NodeTransformer):
    """Visits with what is known of each name."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.scope = Scope()
        self.owner: str | None = None
        self.name = ""
        self.depth = 0

    def visit_definition(self, definition: Definition) -> None:
        self.scope, self.owner, self.name, self.depth = Scope(), None, definition.names[0], 0
        definition.node = self.visit(definition.node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.owner = self.name
        node.body = self.block(node.body)
        self.owner = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self._inside(node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self._inside(node)

    def key_of(self, node: Any) -> Key:
        if self.depth:
            return ("", "")  # a function in a function
        return (self.owner, node.name) if self.owner else self.name

    def _inside(self, node: Any) -> Any:
        outer, owner = self.scope, self.owner
        for part in (node.args.defaults, node.args.kw_defaults):
            part[:] = [self.visit(default) if default else default for default in part]
        self.scope = self.survey.scope_in(node, outer, owner if not self.depth else None, self.key_of(node))
        self.depth += 1
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = self.block(node.body)
        self.depth -= 1
        self.scope = outer
        return node

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            statements += new if isinstance(new, list) else [new] if new is not None else []
            if statements and isinstance(statements[-1], ENDS):
                break
        return self.without_forks(statements)

    def without_forks(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Without an `if` that ends in what comes behind it anyway."""
        while len(body) > 1 and isinstance(body[-1], ast.Return) and isinstance(fork := body[-2], ast.If):
            same = len(fork.body) == 1 and not fork.orelse and ast.dump(fork.body[0]) == ast.dump(body[-1])
            if not same or not self.survey.is_pure(fork.test, self.scope):
                break
            del body[-2]
        return body

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            part = getattr(node, name, None)
            if isinstance(part, list) and (name != "body" or part):
                setattr(node, name, self.block(part))
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                continue
            if isinstance(value, list):
                value[:] = [self.visit(child) if isinstance(child, ast.AST) else child for child in value]
            elif isinstance(value, ast.AST) and name not in ("annotation", "returns"):
                setattr(node, name, self.visit(value))
        return node


class Fold(Scoped):
    """Decides what is known; leaves out what the recorder would have been told."""

    # Expressions.

    def visit_Name(self, node: ast.Name) -> Any:
        fact = self.scope.facts.get(node.id)
        if isinstance(node.ctx, ast.Load) and fact is not None and fact.node is not None:
            return located(again(fact), node)
        if node.id == FAILURE:
            return located(ast.Name("RuntimeError", node.ctx), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        fact = self.survey.fact(node, self.scope)
        if fact is not None and fact.node is not None:
            return located(again(fact), node)
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == ALL_CHOICES:
            return located(self._choice(node.attr), node)
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return located(ast.Constant(0), node)  # of a stop that nobody asked for
        return node

    def _choice(self, name: str) -> ast.expr:
        try:
            value = getattr(self.survey.choices, name)
        except AttributeError:
            raise Indigestible(f"{self.name}: config.{name}") from None
        is_plain = value is None or isinstance(value, bool) or (name in OFF_AT_0_OR_1 and value in (0, 1))
        return ast.Constant(value) if is_plain else ast.Name(CHOICE + name, ast.Load())

    def visit_Compare(self, node: ast.Compare) -> Any:
        return self._decided(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self._decided(node)
        self.generic_visit(node)
        return node.operand if integer(node.operand) == 0 else node

    def _decided(self, node: ast.expr) -> Any:
        truth = self._truth(node)
        return self.generic_visit(node) if truth is None else located(ast.Constant(truth), node)

    def _truth(self, node: ast.expr) -> bool | None:
        """Only where nothing but the answer is wanted: what a call does besides is not to be lost."""
        return self.survey.truth(node, self.scope) if self.survey.is_pure(node, self.scope) else None

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Operands that change nothing are left out; the last one is the value where all others do."""
        ends = isinstance(node.op, ast.Or)
        operands: list[ast.expr] = []
        for index, operand in enumerate(node.values):
            truth = self._truth(operand)
            if truth is None or index == len(node.values) - 1:
                operands.append(operand)
            elif truth is ends:
                operands.append(operand)
                break
        new = [self.visit(operand) for operand in operands]
        if len(operands) == 1:
            return new[0]
        node.values = new
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        truth = self._truth(node.test)
        if truth is None:
            return self.generic_visit(node)
        return self.visit(node.body if truth else node.orelse)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.ifs = [test for test in node.ifs if not (isinstance(test, ast.Constant) and test.value is True)]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == FAILURE:
            return self.visit(failure(node))
        if ast.unparse(node.func) == "vars" and self._is_choices(node.args):
            return located(ast.Name(CHOICE + "as_dict", ast.Load()), node)
        if self.survey.asks_for_absent(node) and self._only(node.args, []):
            return located(ast.Constant(False), node)
        key = self.survey.callee(node, self.scope)
        self.generic_visit(node)
        if counted := self._counted(node):
            return located(counted, node)
        if passed := self._passed(node):
            return passed
        function = self.survey.functions.get(key) if key else None
        if function is None or not self._only(node.args, node.keywords):
            return node
        fact = self.survey.returned.get(key) if key else None
        if fact and fact.node is not None and key in self.survey.clean:
            return located(again(fact), node)
        return node

    def _passed(self, node: ast.Call) -> ast.expr | None:
        """What a function gives back of its arguments as they are."""
        fact = self.survey.fact_of_function(node.func, self.scope)
        if fact is None or fact.passes is None or node.keywords or not self._only(node.args, []):
            return None
        if fact.count != len(node.args):
            return None
        passed = [node.args[index] for index in fact.passes]
        return passed[0] if not fact.is_tuple else located(ast.Tuple(passed, ast.Load()), node)

    def _counted(self, node: ast.Call) -> ast.expr | None:
        """bool(None), max(1, 0): Python's own functions of what is written there."""
        functions = {"bool": bool, "max": max, "min": min, "len": len}
        if not isinstance(node.func, ast.Name) or node.func.id not in functions or node.keywords or not node.args:
            return None
        if not all(isinstance(argument, ast.Constant) for argument in node.args):
            return None
        values = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        return ast.Constant(functions[node.func.id](*values))  # type: ignore[operator]

    def _is_choices(self, args: list[ast.expr]) -> bool:
        fact = self.survey.fact(args[0], self.scope) if args else None
        return fact is not None and isinstance(fact.node, ast.Name) and fact.node.id == ALL_CHOICES

    def _only(self, args: list[ast.expr], keywords: list[ast.keyword]) -> bool:
        """Whether nothing is lost without these arguments."""
        values = (*args, *(keyword.value for keyword in keywords))
        pure = (self.survey.is_pure(value, self.scope) for value in values)
        return not any(isinstance(argument, ast.Starred) for argument in args) and all(pure)

    # Statements.

    def visit_If(self, node: ast.If) -> Any:
        truth = self.survey.truth(node.test, self.scope)
        if truth is not None:
            # What the condition does besides is still done.
            does = [] if self.survey.is_pure(node.test, self.scope) else [located(ast.Expr(node.test), node)]
            return self.block([*does, *(node.body if truth else node.orelse)])
        node.test = self._condition(node.test)
        self.generic_visit(node)
        if node.body:
            return node
        if node.orelse:
            node.test, node.body, node.orelse = negated(node.test), node.orelse, []
            return node
        return None if self.survey.is_pure(node.test, self.scope) else located(ast.Expr(node.test), node)

    def visit_While(self, node: ast.While) -> Any:
        node.test = self._condition(node.test)
        return None if self._truth(node.test) is False else self.generic_visit(node)

    def _condition(self, test: ast.expr) -> ast.expr:
        """Where only the truth counts, an operand that changes nothing may also be the last."""
        if isinstance(test, ast.BoolOp):
            neutral = isinstance(test.op, ast.And)
            operands = [operand for operand in test.values if self._truth(operand) is not neutral]
            if len(operands) == 1:
                return operands[0]
            test.values = operands or test.values
        return test

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        counted, left, right = COUNTED.get(type(node.op)), integer(node.left), integer(node.right)
        if counted and left is not None and right is not None:
            return located(ast.Constant(counted(left, right)), node)
        if (type(node.op), right) in NEUTRAL or (isinstance(node.op, ast.FloorDiv) and left == 0):
            return node.left
        if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.Constant) and node.right.value == 1.0:
            is_known, value = self.survey.value(self.survey.fact(node.left, self.scope))
            return node.left if is_known and isinstance(value, float) else node
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.body or not self.survey.is_pure(node.iter, self.scope):
            node.body = node.body or [ast.Pass()]
            return node
        return None

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        if not node.body:
            return None
        return node.body if all(map(is_null_context, node.items)) else node

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        for handler in node.handlers:
            handler.body = handler.body or [ast.Pass()]
        if not node.handlers and not node.finalbody:
            return node.body
        return node if node.body else node.finalbody

    def visit_Pass(self, node: ast.Pass) -> Any:
        return None

    def visit_Expr(self, node: ast.Expr) -> Any:
        if is_docstring(node):
            return node
        if isinstance(node.value, ast.Call) and self._is_silent(node.value):
            return None
        if metric_call := metric(node.value):
            node.value = metric_call
        while isinstance(node.value, ast.UnaryOp):
            node.value = node.value.operand
        self.generic_visit(node)
        return None if self.survey.is_pure(node.value, self.scope) or self._does_nothing(node.value) else node

    def _is_silent(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Name):
            return function.id == "print" and self.name.startswith(QUIET)
        if not isinstance(function, ast.Attribute):
            return False
        root: ast.AST = function
        while isinstance(root, ast.Attribute):
            root = root.value
            if self.survey.type_of(root, self.scope) in self.survey.silent:
                return True
        return isinstance(root, ast.Name) and root.id in (RECORDER, HOOKS) and function.attr != "metric"

    def _is_of_recorder(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Attribute) and ast.unparse(target.value) in (RECORDER, HOOKS)

    def _does_nothing(self, node: ast.expr) -> bool:
        key = self.survey.callee(node, self.scope) if isinstance(node, ast.Call) else None
        function = self.survey.functions.get(key) if key else None
        if function is None or not isinstance(node, ast.Call):
            return False
        return all(is_docstring(statement) for statement in function.body) and self._only(node.args, node.keywords)

    def visit_Assign(self, node: ast.Assign) -> Any:
        constructor = self.survey.callee(node.value, self.scope) if isinstance(node.value, ast.Call) else None
        if constructor in self.survey.silent or self._is_of_recorder(node.targets[0]):
            return None
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and ast.unparse(node.targets) == node.value.id:  # type: ignore[arg-type]
            return None
        key = self.survey.callee(node.value, self.scope) if isinstance(node.value, ast.Call) else None
        fact = self.survey.returned.get(key) if key else None
        if fact is None or fact.node is None:
            return node
        call = located(ast.Expr(node.value), node)
        node.value = located(again(fact), node)
        return [call, node]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        constructor = self.survey.callee(node.value, self.scope) if isinstance(node.value, ast.Call) else None
        if constructor in self.survey.silent:
            return None
        return self.generic_visit(node)


def is_null_context(item: ast.withitem) -> bool:
    return ast.unparse(item) == f"{CONTEXTS}.nullcontext()"


def integer(node: ast.expr) -> int | None:
    """Return the value of an integer literal, else None."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def metric(node: ast.expr) -> ast.Call | None:
    """`ascend_studio.metric(step, **values)` as a call of the script's own `tell(step, values)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "metric":
        return None
    if not isinstance(node.func.value, ast.Name) or node.func.value.id != RECORDER:
        return None
    words = node.keywords
    alone = len(words) == 1 and words[0].arg is None
    values = words[0].value if alone else ast.Call(ast.Name("dict", ast.Load()), [], words)
    return located(ast.Call(ast.Name(PRINT_METRICS, ast.Load()), [node.args[0], values], []), node)


def failure(node: ast.Call) -> ast.Call:
    """A failure with its sentence, as a plain exception."""
    name = located(ast.Name("RuntimeError", ast.Load()), node)
    if not node.args or not isinstance(node.args[0], ast.Constant):
        return located(ast.Call(name, node.args, node.keywords), node)
    key = str(node.args[0].value)
    sentence = texts.with_plurals(texts.find(key, "en") or key)
    words = [word for word in node.keywords if word.arg is None or f"{{{word.arg}}}" in sentence]
    text: ast.expr = ast.Constant(sentence)
    if words:
        text = ast.Call(ast.Attribute(text, "format", ast.Load()), [], words)
    return located(ast.Call(name, [text], []), node)


class Usage(Scoped):
    """Notes every call, every attribute and what functions return; changes nothing."""

    def __init__(self, survey: Survey) -> None:
        super().__init__(survey)
        self.calls: dict[Key, list[tuple[ast.Call, Scope]]] = {}
        self.used: set[str] = set()  # functions and classes that are passed on, not only called
        self.loaded: set[str] = set()  # attributes by name
        self.passed: set[tuple[str | None, str]] = set()  # methods that are passed on, not only called
        self.stored: dict[str, list[tuple[str | None, ast.expr | None, Fact | None]]] = {}
        self.returns: dict[Key, list[Fact | None]] = {}
        self.current: list[Key] = []
        self.statements: dict[Key, int] = {}  # calls whose result nobody wants

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.current.append(self.key_of(node))
        if not self.depth:
            returned = self.returns.setdefault(self.current[-1], [])
            if falls_through(node.body):
                returned.append(Fact(ast.Constant(None)))
            if any(isinstance(child, ast.Yield | ast.YieldFrom) for child in ast.walk(node)):
                returned.append(None)
        self._inside(node)
        self.current.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        for expression in (*node.bases, *node.decorator_list):
            self.visit(expression)
        return super().visit_ClassDef(node)

    def visit_Return(self, node: ast.Return) -> Any:
        if self.depth == 1 and self.current:
            value = node.value or ast.Constant(None)
            self.returns.setdefault(self.current[-1], []).append(self.survey.fact(value, self.scope))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        key = self.survey.callee(node, self.scope)
        if key is not None:
            self.calls.setdefault(key, []).append((node, self.scope))
        if isinstance(node.func, ast.Attribute):
            self.loaded.add(node.func.attr)
            if key is None:
                self.passed.add((self.survey.type_of(node.func.value, self.scope), node.func.attr))
            self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        for argument in (*node.args, *(word.value for word in node.keywords)):
            self.visit(argument)
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """What is only added to is not used."""
        call = node.value
        key = self.survey.callee(call, self.scope) if isinstance(call, ast.Call) else None
        if key is not None:
            self.statements[key] = self.statements.get(key, 0) + 1
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
            inner = call.func.value
            if isinstance(inner, ast.Attribute):
                self.visit(inner.value)
                for argument in (*call.args, *(word.value for word in call.keywords)):
                    self.visit(argument)
                return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load):
            self.used.add(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.ctx, ast.Load):
            self.loaded.add(node.attr)
            self.passed.add((self.survey.type_of(node.value, self.scope), node.attr))
        else:
            self._store(node, None, None)
        return self.generic_visit(node)

    def _store(self, node: ast.Attribute, value: ast.expr | None, fact: Fact | None) -> None:
        owner = self.survey.type_of(node.value, self.scope)
        self.stored.setdefault(node.attr, []).append((owner, value, fact))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if isinstance(node.target, ast.Attribute):
            self._note_store(node.target, node.value)
            owner = self.survey.type_of(node.target.value, self.scope)
            self._note_type(owner or "", node.target.attr, node.annotation)
        elif self.owner and not self.depth and isinstance(node.target, ast.Name):
            self._note_type(self.owner, node.target.id, node.annotation)
        if node.value:
            self.visit(node.value)
        return node

    def _note_type(self, owner: str, name: str, annotation: ast.expr) -> None:
        if type_name := self.survey.annotated(annotation):
            self.survey.attribute_types[(owner, name)] = type_name

    def visit_Assign(self, node: ast.Assign) -> Any:
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                self._note_store(target, node.value)
                self.visit(target.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for element, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(element, ast.Attribute):
                        self._note_store(element, value)
            else:
                self.visit(target)
        self.visit(node.value)
        return node

    def _note_store(self, target: ast.Attribute, value: ast.expr | None) -> None:
        self._store(target, value, self.survey.fact(value, self.scope))
        owner = self.survey.type_of(target.value, self.scope)
        if owner and (type_name := self.survey.type_of(value, self.scope)):
            self.survey.attribute_types[(owner, target.attr)] = type_name

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Attribute):
            self._store(node.target, None, None)
            self.visit(node.target.value)
        else:
            self.visit(node.target)
        self.visit(node.value)
        return node


def falls_through(body: Sequence[ast.stmt]) -> bool:
    """Whether the end of a block can be reached."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    if isinstance(last, ast.Try):
        blocks = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return any(map(falls_through, blocks))
    if isinstance(last, ast.With):
        return falls_through(last.body)
    return not isinstance(last, ast.Return | ast.Raise)
