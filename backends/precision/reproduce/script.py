"""The Python file of a reproducer: a template of assets/precision, filled in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.precision.dump.names import name_of
from backends.precision.reproduce.functions import function_of
from backends.precision.reproduce.literal import Literals
from studio.errors import StudioError
from studio.places import ASSETS

if TYPE_CHECKING:
    from backends.precision.sides import Side

NAME = "reproduce.py"
_HOLE = re.compile(r"\{(call!r|call|about|limit!r|recorded|arguments|function|sides)\}")


@dataclass(frozen=True, kw_only=True)
class Script:
    """`files`: of each side the tensors that lie beside the script."""

    text: str
    files: dict[str, tuple[str, ...]]


def script(sides: tuple[Side, ...], limit: float, about: str) -> Script:
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
    outputs = {side.name: [one for one in recorded[side.name] if one] for side in sides}
    return Script(text=text, files={name: (*files[name], *outputs[name]) for name in files})


def _arguments(side: Side) -> tuple[str, tuple[str, ...]]:
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


def _outputs(side: Side) -> list[str]:
    """Files of the recorded outputs, in order; "" for one that was not kept."""
    found: list[str] = []
    _collect(side.entry.get("output"), found)
    return found


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, list):
        for one in value:
            _collect(one, found)
    elif isinstance(value, dict) and ("data_name" in value or "shape" in value):
        name = value.get("data_name")
        found.append(name if isinstance(name, str) and "/" not in name else "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _in_text(text: str) -> str:
    """For a docstring: nothing in it may end that."""
    return text.replace("\\", "/").replace('"""', "'''")
