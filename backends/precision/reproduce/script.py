"""The Python file of a reproducer: a template of assets/precision, filled in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.precision.dump.names import name_of
from backends.precision.reproduce.literal import Literals
from studio.errors import StudioError
from studio.paths import ASSETS

if TYPE_CHECKING:
    from backends.precision.dump.dump import Name
    from backends.precision.sides import CallSide

SCRIPT_NAME = "reproduce.py"
_HOLE = re.compile(r"\{(call!r|call|about|limit!r|recorded|arguments|function|sides)\}")

# Prefixes that msprobe puts before names (its core/common/const.py), and where the functions are.
TORCH = {
    "Functional": "torch.nn.functional", "Tensor": "torch.Tensor", "Torch": "torch", "Aten": "torch.ops.aten",
    "VF": "torch._VF", "NPU": "torch_npu",
}  # fmt: skip
MINDSPORE = {
    "Functional": "mindspore.ops", "Tensor": "mindspore.Tensor", "Mint": "mindspore.mint",
    "MintFunctional": "mindspore.mint.nn.functional",
}  # fmt: skip
MODULES = ("Module", "Cell")
PRIMITIVE = "Primitive"
_API = re.compile(r"\w+(\.\w+)*")


@dataclass(frozen=True, kw_only=True)
class Script:
    """`files`: of each side the tensors that lie beside the script."""

    text: str
    files: dict[str, tuple[str, ...]]


def reproducer(sides: tuple[CallSide, ...], limit: float, about: str) -> Script:
    """`limit`: of the distance from float64, as a part of the largest element. Raises StudioError where the dumps do
    not say enough to make the call again."""
    first = sides[0]
    framework = first.framework or "torch"
    name = name_of(first.call)
    if framework == "mindspore" and name.direction == "backward":
        raise StudioError("precision.reproduce.backward", call=first.call)
    bodies, files = [], {}
    for side in sides:
        body, files[side.name] = _arguments(side)
        bodies.append(f'    if side == "{side.name}":\n        return {body}')
    recorded = {side.name: tuple(_outputs(side)) for side in sides}
    fillings = {
        "call": _in_text(first.call), "call!r": repr(first.call), "about": _in_text(about),
        "limit!r": repr(float(limit)), "recorded": repr(recorded),
        "arguments": "\n".join([*bodies, "    raise SystemExit(side)"]),
        "function": function_of(name, framework, first.call), "sides": repr(tuple(side.name for side in sides)),
    }  # fmt: skip
    template = (ASSETS / "precision" / f"reproduce_{framework}.txt").read_text(encoding="utf-8")
    text = _HOLE.sub(lambda hole: fillings[hole[1]], template)
    outputs = {side.name: [file for file in recorded[side.name] if file] for side in sides}
    return Script(text=text, files={name: (*files[name], *outputs[name]) for name in files})


def _arguments(side: CallSide) -> tuple[str, tuple[str, ...]]:
    """(args, kwargs, what comes in from behind) as source; the last is None for a forward."""
    is_backward = bool(side.forward) or name_of(side.call).direction == "backward"
    entry = side.forward if is_backward else side.entry
    if not entry:
        raise StudioError("precision.reproduce.no_forward", call=side.call)
    literals = Literals(call=side.call)
    args = literals.of(_list(entry.get("input_args", entry.get("input"))))
    named = entry.get("input_kwargs")
    kwargs = literals.arguments(named if isinstance(named, dict) else {})
    gradients = literals.of(_list(side.entry.get("input"))) if is_backward else "None"
    if not literals.files:
        raise StudioError("precision.reproduce.no_tensors", call=side.call)
    return f"{args}, {kwargs}, {gradients}", tuple(dict.fromkeys(literals.files))


def _outputs(side: CallSide) -> list[str]:
    """Files of the recorded outputs, in order; "" for one that was not kept."""
    files: list[str] = []
    _collect(side.entry.get("output"), files)
    return files


def _collect(value: Any, files: list[str]) -> None:
    if isinstance(value, list):
        for element in value:
            _collect(element, files)
    elif isinstance(value, dict) and ("data_name" in value or "shape" in value):
        name = value.get("data_name")
        files.append(name if isinstance(name, str) and "/" not in name else "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _in_text(text: str) -> str:
    """For a docstring: nothing in it may end that."""
    return text.replace("\\", "/").replace('"""', "'''")


def function_of(name: Name, framework: str, call: str) -> str:
    """Return source such as "torch.nn.functional.linear"; with MindSpore a list of what it may be. Raises StudioError
    where a dump does not say enough to call it again."""
    if name.kind in MODULES:
        raise StudioError("precision.reproduce.module", call=call)
    if "Distributed" in name.kind:
        raise StudioError("precision.reproduce.distributed", call=call)
    function_name = name.type or name.api.rpartition(".")[2]
    if framework == "mindspore" and name.kind == PRIMITIVE and function_name.isidentifier():
        return f'primitives("{function_name}", *inputs)'
    prefix = (MINDSPORE if framework == "mindspore" else TORCH).get(name.kind)
    if prefix is None or not _API.fullmatch(name.api):
        raise StudioError("precision.reproduce.unknown", call=call)
    function = f"{prefix}.{name.api}"
    return f"[{function}]" if framework == "mindspore" else function
