"""How a text is used: compared, given to a function, a default, a key."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from backends.migration.scan.python.guards import find_blocker
from backends.migration.scan.python.npu_mentions import considers_npu

if TYPE_CHECKING:
    from backends.migration.scan.python.module import Module

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_COMPARING = frozenset(("startswith", "endswith", "find", "index", "count", "__eq__", "__ne__", "partition", "split"))
_KEYED = frozenset(("get", "pop", "setdefault", "__getitem__", "__contains__"))
_OPTION = frozenset(("add_argument", "option", "Option", "DEFINE_string", "DEFINE_enum", "argument", "Argument"))
_FIELD = frozenset(("field", "Field", "attrib", "ib", "Parameter"))
_DEFAULT_FIRST = frozenset(("Option", "Field"))  # of typer and pydantic
_ATTRIBUTE = frozenset(("getattr", "hasattr", "setattr", "delattr"))
_NAMED_FIRST = frozenset(
    ("parametrize", "register_buffer", "register_parameter", "add_module", "add_scalar", "namedtuple", "fixture")
)
_WITH_DEFAULT = frozenset(("get", "getenv", "pop", "setdefault"))
_NAMING = frozenset(("dest", "action", "prefix", "suffix", "namespace", "package"))
_MAX_STEPS = 40
_SELECTING = frozenset(("compare", "choices", "key", "value"))


class TextUse(NamedTuple):
    """`context`: as in Place. `named`: the text is a name, of an option or an attribute, and no device."""

    context: str = ""
    args: dict[str, Any] = {}  # noqa: RUF012 - never changed
    is_name: bool = False


def text_use(node: ast.AST, module: Module) -> TextUse:
    """Goes up through lists, conditions and the like to what the text is there for."""
    args: dict[str, Any] = {}
    child = node
    for _ in range(_MAX_STEPS):
        parent = module.parent(child)
        if parent is None:
            break
        if not _is_container(parent, child, args):
            use = _use_in(parent, child, module)
            npu_args = {"npu": True} if use.context in _SELECTING and considers_npu(node, module.index) else {}
            return use._replace(args={**args, **use.args, **npu_args})
        child = parent
    return TextUse(args=args)


def _is_container(parent: ast.AST, child: ast.AST, args: dict[str, Any]) -> bool:
    if isinstance(parent, ast.IfExp):
        if child is not parent.test:
            args["conditional"] = True
        return True
    if isinstance(parent, ast.List | ast.Tuple | ast.Set | ast.Starred):
        args["element"] = True
        return True
    if isinstance(parent, ast.FormattedValue | ast.JoinedStr | ast.BinOp):
        args["part"] = True
        return True
    return isinstance(parent, ast.BoolOp | ast.NamedExpr | ast.Await)


def _use_in(parent: ast.AST, child: ast.AST, module: Module) -> TextUse:
    if isinstance(parent, ast.Compare):
        return _use_in_comparison(parent, child, module)
    if isinstance(parent, ast.keyword):
        call = module.parent(parent)
        return _use_in_call(call, parent.arg or "**", module) if isinstance(call, ast.Call) else TextUse()
    if isinstance(parent, ast.Call):
        index = module.index.position_of(parent, child)
        return TextUse() if index is None else _use_in_call(parent, str(index), module)
    if isinstance(parent, ast.Dict):
        return _use_in_dict(parent, child, module)
    if isinstance(parent, ast.Subscript):
        return _use_in_subscript(parent, child, module)
    return _use_in_statement(parent, child, module)


def _use_in_statement(parent: ast.AST, child: ast.AST, module: Module) -> TextUse:
    if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign) and child is parent.value:
        target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target
        args = {"target": module.source(target)[:80]}
        in_class = isinstance(module.parent(parent), ast.ClassDef)
        return TextUse("default" if in_class and isinstance(parent, ast.AnnAssign) else "", args)
    if isinstance(parent, ast.arguments):
        return TextUse("default", {"parameter": _parameter(parent, child)})
    if isinstance(parent, ast.Return | ast.Yield):
        return TextUse("return")
    if isinstance(parent, ast.MatchValue):
        return _use_in_match(parent, module)
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
        return TextUse("loop", {"target": module.source(parent.target)[:80]})
    if isinstance(parent, ast.Lambda):
        return TextUse("return")
    return TextUse()


def _use_in_comparison(parent: ast.Compare, child: ast.AST, module: Module) -> TextUse:
    operands = (parent.left, *parent.comparators)
    at = next((index for index, operand in enumerate(operands) if operand is child), 0)
    operator = _OPERATORS[parent.ops[max(0, at - 1)].__class__]
    other = operands[at - 1] if at else operands[1]
    args = {"operator": operator, "other": module.source(other)[:80], "side": "right" if at else "left"}
    blocked = find_blocker(parent, module)
    return TextUse("compare", {**args, "leads_to": blocked} if blocked else args)


def _use_in_match(parent: ast.MatchValue, module: Module) -> TextUse:
    match = next((outer for outer in module.ancestors(parent) if isinstance(outer, ast.Match)), None)
    return TextUse("compare", {"operator": "match", "other": module.source(match.subject)[:80] if match else ""})


def _use_in_call(call: ast.Call, which: str, module: Module) -> TextUse:
    name = called_name(call, module)
    last = name.rpartition(".")[2]
    if last in _ATTRIBUTE and which == "1":
        return TextUse(is_name=True)
    if (last in _ATTRIBUTE and which == "2") or (last in _WITH_DEFAULT and which == "1"):
        return TextUse("default", {"function": name})
    if last in _NAMED_FIRST and which == "0":
        return TextUse(is_name=True)
    if last == "Choice" and which == "0":
        return TextUse("choices")
    if last in _OPTION or last in _FIELD:
        return _use_in_option(call, which, module)
    if which == "0" and isinstance(call.func, ast.Attribute):
        if last in _COMPARING:
            return TextUse("compare", {"operator": last, "other": module.source(call.func.value)[:80]})
        if last in _KEYED:
            return TextUse("key", {"operation": last, "other": module.source(call.func.value)[:80]})
    return TextUse(f"argument:{name}:{which}", is_name=which in _NAMING)


def _use_in_option(call: ast.Call, which: str, module: Module) -> TextUse:
    written = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    names = [value for value in written if isinstance(value, str)]
    option = next((name for name in names if name.startswith("--")), names[0] if names else "")
    context = {"default": "default", "choices": "choices", "const": "default", "default_factory": "default"}.get(
        which, ""
    )
    function = called_name(call, module)
    if not context and which.isdecimal() and function.startswith((".DEFINE", "DEFINE", "absl")):
        context = "default"
    if which == "0" and function.rpartition(".")[2] in _DEFAULT_FIRST:
        context = "default"
    if context:
        return TextUse(context, {"option": option, **_choices(call, module)})
    return TextUse(is_name=which.isdecimal() or which in _NAMING, context=f"argument:{function}:{which}")


def _choices(call: ast.Call, module: Module) -> dict[str, str]:
    choices = next((keyword.value for keyword in call.keywords if keyword.arg == "choices"), None)
    return {} if choices is None else {"choices": module.source(choices)[:80]}


def called_name(call: ast.Call, module: Module) -> str:
    """Canonical name of what is called; ".to" for a method of what is not known; of an own function its last name."""
    name = module.name_of(call.func)
    if name is not None:
        return name.rpartition(".")[2] if name.startswith("/") else name
    if isinstance(call.func, ast.Attribute):
        return f".{call.func.attr}"
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _use_in_dict(parent: ast.Dict, child: ast.AST, module: Module) -> TextUse:
    key = module.index.key_of(parent, child)
    if key is None:
        return TextUse("key", {"operation": "literal"})
    return TextUse("value", {"key": module.source(key)[:80]})


def _use_in_subscript(parent: ast.Subscript, child: ast.AST, module: Module) -> TextUse:
    if child is not parent.slice:
        return TextUse()
    name = module.name_of(parent.value) or module.source(parent.value)
    if name.endswith(".__dict__") or name.startswith("vars("):
        return TextUse(is_name=True)
    if name.rpartition(".")[2] == "Literal":
        return TextUse("choices", {"annotation": True})
    operation = "set" if isinstance(parent.ctx, ast.Store) else "subscript"
    return TextUse("key", {"operation": operation, "other": module.source(parent.value)[:80]})


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    positional = [*arguments.posonlyargs, *arguments.args]
    named = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    named += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return next((name.arg for name, value in named if value is default), "")
