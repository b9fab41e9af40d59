"""What can be told of a program without running it: classes of expressions, values that are always the same."""

from __future__ import annotations

import ast
import copy
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.launch.script.modules import PACKAGE, locals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from backends.launch.script.modules import Definition

CHOICE = "config:"  # of a name that stands for a field of the training's Config
ALL_CHOICES = CHOICE + "*"
MUTATORS = ("append", "extend", "update", "add", "clear")
PURE_BUILTINS = {
    "Path", "abs", "all", "any", "bool", "dict", "enumerate", "float", "frozenset", "id", "int", "isinstance", "len",
    "list", "map", "max", "min", "next", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
PURE_METHODS = {
    "asnumpy", "astype", "cells_and_names", "copy", "get", "get_parameters", "items", "join", "keys", "modules",
    "named_parameters", "numel", "parameters", "trainable_params", "values",
}  # fmt: skip
PURE_MODULES = ("import time|", "import math|", "import statistics|", "from itertools ", "from pathlib ")
MEASURES = f"{PACKAGE}.resource_usage:"  # reads what the kernel tells, changes nothing
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b or a == b, ast.IsNot: lambda a, b: not (a is b or a == b),
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What is known of an expression: the same value each time (`node`), or only that it is not None, or true."""

    node: ast.expr | None = None
    is_true: bool = False
    # Of a function that only gives back some of its `count` arguments: their places.
    passes: tuple[int, ...] | None = None
    is_tuple: bool = False
    count: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        node = ast.dump(self.node) if self.node is not None else ""
        return node, self.is_true, self.passes, self.is_tuple, self.count


NOT_NONE, TRUE = Fact(), Fact(is_true=True)
Key = str | tuple[str, str]  # a function or class by name, or (class, method)


@dataclass(frozen=True)
class Ref:
    """A function or a class as a value."""

    name: str


@dataclass
class Scope:
    """What is known inside a function: the class of each name, and its fact."""

    types: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)


class Survey:
    """One look at all definitions that are reached; what an earlier one found helps a later one."""

    def __init__(self, choices: Any, silent: Iterable[str] = (), absent: Iterable[str] = ()) -> None:
        """`silent`: classes whose objects are left out, with every call of their methods. `absent`: classes, also of
        others, of which these choices make no object."""
        self.choices = choices
        self.silent = frozenset(silent)
        self.absent = frozenset(absent)
        self.objects: dict[str, str] = {}
        self.attribute_types: dict[tuple[str, str], str] = {}
        self.attribute_facts: dict[tuple[str, str], Fact] = {}
        self.returned: dict[Key, Fact] = {}
        self.parameters: dict[tuple[Key, str], Fact] = {}
        self.functions: dict[Key, ast.FunctionDef] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.members: dict[str, set[str]] = {}  # by class, what it gives its objects itself
        self.lineages: dict[str, tuple[str, ...]] = {}  # by class, it and those of ours that it is made from
        self.heirs: dict[str, list[str]] = {}  # by class, those that are made from it
        self.clean: set[Key] = set()

    def begin(self, definitions: Iterable[Definition]) -> None:
        self.functions, self.classes, self.objects = {}, {}, {}
        for definition in definitions:
            (name, *_), node = definition.names, definition.node
            if isinstance(node, ast.FunctionDef):
                self.functions[name] = node
            elif isinstance(node, ast.ClassDef):
                self.classes[name] = node
                self.functions.update({(name, method.name): method for method in methods(node)})
        self.members = {name: members_of(node) for name, node in self.classes.items()}
        self.lineages = {name: tuple(self._lineage(name)) for name in self.classes}
        self.heirs = {}
        for heir, (_, *ancestors) in self.lineages.items():
            for ancestor in ancestors:
                self.heirs.setdefault(ancestor, []).append(heir)
        for definition in definitions:
            if instance := self._object(definition.node):
                self.objects[definition.names[0]] = instance
        self.clean = {key for key, function in self.functions.items() if self._is_clean(function)}
        self.clean |= {name for name, node in self.classes.items() if self._is_clean_class(name, node)}

    def _object(self, node: ast.stmt) -> str | None:
        """The class of the one object that a top level makes."""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            return self.type_of(node.value, Scope())
        return None

    def _lineage(self, name: str) -> Iterator[str]:
        yield name
        for base in self.classes[name].bases:
            if isinstance(base, ast.Name) and base.id in self.classes:
                yield from self._lineage(base.id)

    def kin(self, name: str) -> set[str]:
        """The classes whose objects may stand where one of this class is expected, and those that it is made from."""
        return {*self.lineages.get(name, ()), *self.heirs.get(name, ())}

    def setters(self, name: str, member: str) -> set[str]:
        """The classes whose code may set a member that an object has by class `name`: those made from it that have none
        of their own, and those that it is made from."""
        lineage = self.lineages.get(name, ())
        return {cls for cls in self.kin(name) if cls in lineage or member not in self.members[cls]}

    def is_own(self, name: str) -> bool:
        """Whether nobody else's class is among those that this one is made from: nobody else calls its methods."""
        bases = [base for cls in self.lineages[name] for base in self.classes[cls].bases]
        return all(isinstance(base, ast.Name) and base.id in self.classes for base in bases)

    def member_key(self, node: ast.Attribute, scope: Scope) -> tuple[str, str] | None:
        """The class whose member an attribute is, and its name; None where that is not certain: the object may be of a
        class made from the one it is known by, unless it is one that a top level makes."""
        owner = self.type_of(node.value, scope)
        if owner is None:
            return None
        is_exact = isinstance(node.value, ast.Name) and node.value.id in self.objects
        if not is_exact and any(node.attr in self.members[heir] for heir in self.heirs.get(owner, ())):
            return None
        definers = (cls for cls in self.lineages.get(owner, ()) if node.attr in self.members[cls])
        return next(definers, owner), node.attr

    # What an expression is.

    def type_of(self, node: ast.AST | None, scope: Scope) -> str | None:
        if isinstance(node, ast.Name):
            return scope.types.get(node.id) or self.objects.get(node.id)
        if isinstance(node, ast.Attribute):
            member = self.member_key(node, scope)
            return self._member(member) if member else None
        if isinstance(node, ast.Call):
            key = self.callee(node, scope)
            if isinstance(key, str) and key in self.classes:
                return key
            return self.annotated(self.functions[key].returns) if key in self.functions else None
        return None

    def _member(self, key: tuple[str, str]) -> str | None:
        method = self.functions.get(key)
        if method is not None and is_property(method):
            return self.annotated(method.returns)
        return self.attribute_types.get(key)

    def annotated(self, node: ast.AST | None) -> str | None:
        """`X` and `X | None` are an X; a list of them is not, nor is `X | Y` either of them."""
        if isinstance(node, ast.BinOp):
            left, right = self.annotated(node.left), self.annotated(node.right)
            return None if left and right and left != right else left or right
        return node.id if isinstance(node, ast.Name) and node.id in self.classes else None

    def callee(self, call: ast.Call, scope: Scope) -> Key | None:
        """Whose code a call runs, where that is ours and certain."""
        if isinstance(call.func, ast.Name):
            return call.func.id if call.func.id in self.functions or call.func.id in self.classes else None
        if isinstance(call.func, ast.Attribute):
            key = self.member_key(call.func, scope)
            return key if key in self.functions else None
        return None

    def scope_in(self, function: ast.FunctionDef | ast.Lambda, outer: Scope, owner: str | None, key: Key) -> Scope:
        """Return the scope inside a function. `key`: the function's own, where it can be called by name."""
        own = locals_of(function)
        scope = Scope(
            {name: type_name for name, type_name in outer.types.items() if name not in own},
            {name: fact for name, fact in outer.facts.items() if name not in own},
        )
        for argument in [*function.args.args, *function.args.kwonlyargs]:
            if type_name := self.annotated(argument.annotation):
                scope.types[argument.arg] = type_name
            if fact := self.parameters.get((key, argument.arg)):
                scope.facts[argument.arg] = fact
        if owner and function.args.args:
            scope.types[function.args.args[0].arg] = owner
        if isinstance(function, ast.FunctionDef):
            self._learn_locals(function, scope)
        return scope

    def _learn_locals(self, function: ast.FunctionDef, scope: Scope) -> None:
        counts: dict[str, int] = {}
        for node in own_nodes(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
            elif isinstance(node, ast.FunctionDef):
                counts[node.name] = counts.get(node.name, 0) + 1
        for parameter in parameters_of(function):
            counts[parameter.arg] = counts.get(parameter.arg, 0) + 1
        for node in own_nodes(function):
            if isinstance(node, ast.FunctionDef) and counts[node.name] == 1:
                scope.facts[node.name] = passing(node)
            for target, value in simple_assignments(node):
                if isinstance(target, ast.Name) and counts[target.id] == 1:
                    if type_name := self.type_of(value, scope):
                        scope.types[target.id] = type_name
                    if fact := self.fact(value, scope):
                        scope.facts[target.id] = fact

    # What is known of an expression.

    def fact(self, node: ast.AST | None, scope: Scope) -> Fact | None:
        if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and self._is_global(node.id)):
            return Fact(node)
        if isinstance(node, ast.Name):
            return scope.facts.get(node.id)
        if isinstance(node, ast.Attribute):
            key = self.member_key(node, scope)
            if key is None:
                return None
            method = self.functions.get(key)
            if method is not None:
                return self.returned.get(key) if is_property(method) and key in self.clean else None
            return self.attribute_facts.get(key)
        if isinstance(node, ast.Call):
            return self._fact_of_call(node, scope)
        if isinstance(node, ast.IfExp):
            truth = self.truth(node.test, scope) if self.is_pure(node.test, scope) else None
            return None if truth is None else self.fact(node.body if truth else node.orelse, scope)
        if isinstance(node, ast.Lambda) or (isinstance(node, ast.Tuple | ast.List) and node.elts):
            return TRUE
        return NOT_NONE if isinstance(node, ast.JoinedStr | ast.Dict | ast.List | ast.Tuple) else None

    def _is_global(self, name: str) -> bool:
        return name.startswith(CHOICE) or name in self.functions or name in self.classes or name in self.objects

    def _fact_of_call(self, node: ast.Call, scope: Scope) -> Fact | None:
        key = self.callee(node, scope)
        if isinstance(key, str) and key in self.classes:
            has_own = any((key, name) in self.functions for name in ("__bool__", "__len__"))
            return NOT_NONE if has_own else TRUE
        if key is not None:
            return self.returned.get(key)
        name = ast.unparse(node.func).rpartition(".")[2]
        return NOT_NONE if name[:1].isupper() else None

    def fact_of_function(self, node: ast.expr, scope: Scope) -> Fact | None:
        """Return the fact of a called expression."""
        if isinstance(node, ast.Name) and node.id in self.functions:
            return passing(self.functions[node.id])
        return self.fact(node, scope) if isinstance(node, ast.Name | ast.Attribute) else None

    def value(self, fact: Fact | None) -> tuple[bool, Any]:
        """Whether the value is known, and the value."""
        node = fact.node if fact else None
        if isinstance(node, ast.Constant):
            return True, node.value
        if isinstance(node, ast.Name) and node.id != ALL_CHOICES:
            if node.id.startswith(CHOICE):
                return True, getattr(self.choices, node.id[len(CHOICE) :])
            return True, Ref(node.id)
        return False, None

    def truth(self, node: ast.AST, scope: Scope) -> bool | None:
        """Return the truth of a condition that is always the same, else None."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, scope)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            truths = [self.truth(operand, scope) for operand in node.values]
            decisive = isinstance(node.op, ast.Or)
            return decisive if decisive in truths else None if None in truths else not decisive
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node, scope)
        if isinstance(node, ast.Call) and self.asks_for_absent(node):
            return False
        fact = self.fact(node, scope)
        is_known, value = self.value(fact)
        return bool(value) if is_known else True if fact is not None and fact.is_true else None

    def asks_for_absent(self, call: ast.Call) -> bool:
        """Whether it is `isinstance(x, X)` of a class that has no objects."""
        if not isinstance(call.func, ast.Name) or call.func.id != "isinstance" or len(call.args) != 2:
            return False
        return isinstance(call.args[1], ast.Name) and call.args[1].id in self.absent

    def _compare(self, node: ast.Compare, scope: Scope) -> bool | None:
        (right,) = node.comparators
        left_fact = self.fact(node.left, scope)
        (is_left_decided, left), (is_right_decided, other) = self.value(left_fact), self._operand(right, scope)
        if (
            is_left_decided
            and not is_right_decided
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and left in (other or ())
        ):
            return isinstance(node.ops[0], ast.In)
        if is_left_decided and is_right_decided:
            return bool(COMPARED[type(node.ops[0])](left, other))
        if is_right_decided and other is None and left_fact is not None and not is_left_decided:
            return {ast.Is: False, ast.IsNot: True}.get(type(node.ops[0]))
        return None

    def _operand(self, node: ast.expr, scope: Scope) -> tuple[bool, Any]:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            values = [self.value(self.fact(element, scope)) for element in node.elts]
            return all(is_decided for is_decided, _ in values), tuple(value for is_known, value in values if is_known)
        return self.value(self.fact(node, scope))

    # What an expression does besides.

    def is_pure(self, node: ast.AST | None, scope: Scope | None = None) -> bool:
        """Whether nothing is lost where an expression is not computed."""
        for child in ast.walk(node) if node is not None else ():
            if isinstance(child, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
                return False
            if isinstance(child, ast.Call) and not self._is_pure_call(child, scope):
                return False
        return True

    def _is_pure_call(self, call: ast.Call, scope: Scope | None) -> bool:
        if isinstance(call.func, ast.Name):
            name = call.func.id
            if name.startswith((*("!" + module for module in PURE_MODULES), MEASURES)) or name.endswith("|Tensor"):
                return True
            return name in PURE_BUILTINS or name in self.clean
        if not isinstance(call.func, ast.Attribute):
            return False
        root = call.func.value
        if isinstance(root, ast.Name) and root.id.startswith(tuple("!" + m for m in PURE_MODULES)):
            return True
        if call.func.attr in PURE_METHODS or self.type_of(root, scope or Scope()) in self.silent:
            return True
        if isinstance(root, ast.Name) and root.id.endswith("|ops") and call.func.attr[:1].isupper():
            return True
        key = self.callee(call, scope or Scope())
        return key is not None and key in self.clean

    def _is_clean(self, function: ast.FunctionDef) -> bool:
        """Only computes what it returns."""
        for statement in function.body:
            for child in [statement, *own_nodes(statement)]:
                if isinstance(
                    child, ast.Raise | ast.With | ast.Try | ast.Global | ast.Nonlocal | ast.Delete | ast.Assert
                ):
                    return False
                if isinstance(child, ast.Attribute | ast.Subscript) and not isinstance(child.ctx, ast.Load):
                    return False
            if isinstance(statement, ast.FunctionDef) or is_docstring(statement) or adds_to_local(statement):
                continue
            if not self.is_pure(statement):
                return False
        return True

    def _is_clean_class(self, name: str, node: ast.ClassDef) -> bool:
        """Whose making only keeps what it is given."""
        constructor = self.functions.get((name, "__init__"))
        if node.bases or constructor is None:
            return not node.bases
        return all(
            is_docstring(statement) or (isinstance(statement, ast.Assign | ast.AnnAssign) and self.is_pure(statement))
            for statement in constructor.body
        )


def adds_to_local(node: ast.stmt) -> bool:
    """`found.update(…)`, where only what is added has to be looked at, which is checked by its own calls."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in MUTATORS:
        return False
    return isinstance(call.func.value, ast.Name) and not any(
        isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute)
        for part in call.args
        for child in ast.walk(part)
    )


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]


def members_of(node: ast.ClassDef) -> set[str]:
    """Names that a class gives its objects: of its body, and those that its methods set on `self`."""
    own = {method.name for method in methods(node)}
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            own |= {target.id for target in targets if isinstance(target, ast.Name)}
    for method in methods(node):
        first = method.args.args[0].arg if method.args.args else ""
        own |= {
            child.attr
            for child in ast.walk(method)
            if isinstance(child, ast.Attribute)
            and isinstance(child.ctx, ast.Store)
            and isinstance(child.value, ast.Name)
            and child.value.id == first
        }
    return own


def is_property(function: ast.FunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in function.decorator_list)


def parameters_of(function: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [argument for argument in every if argument]


def own_nodes(root: ast.AST) -> Iterator[ast.AST]:
    """Everything inside in the order of the source, functions in it but not their insides."""
    pending = children(root)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending += children(node)[::-1]


def children(node: ast.AST) -> list[ast.AST]:
    """As ast.iter_child_nodes, which takes most of the time here, without operators and contexts."""
    result: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            result += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context | ast.operator | ast.cmpop):
            result.append(value)
    return result


def passing(function: ast.FunctionDef) -> Fact:
    """Return which arguments a function only passes back, if it does nothing else."""
    body = [statement for statement in function.body if not is_docstring(statement)]
    names = [parameter.arg for parameter in parameters_of(function)]
    plain = not (function.args.vararg or function.args.kwarg or function.args.kwonlyargs or function.decorator_list)
    if plain and len(body) == 1 and isinstance(body[0], ast.Return):
        value = body[0].value
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        names_in_order = [part.id for part in parts if isinstance(part, ast.Name) and part.id in names]
        if parts and len(names_in_order) == len(parts):
            places = tuple(map(names.index, names_in_order))
            return Fact(is_true=True, passes=places, is_tuple=isinstance(value, ast.Tuple), count=len(names))
    return TRUE


def simple_assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def again(fact: Fact) -> ast.expr:
    """The value of a fact, to put into another place."""
    assert fact.node is not None
    return copy.deepcopy(fact.node)
