"""Operators that torch_npu has no kernel for, counted by the line of the script, with the bytes that they move.

torch_npu copies their tensors to the host, computes there and copies the results back.

cpu_fallback.json has their names: "fallback" by the registrations in the wheel, "maybe" where these leave it open.
"""

from __future__ import annotations

import json
import os

if False:
    from typing import Any, Callable, Dict, List, Tuple

MAX_ROWS = 500  # operators and lines that are told apart; later ones are not counted
# How a CPU does what a card does with an operator of its own.
_OF_HOST = ("_for_cpu", "mkldnn", "fbgemm", "nnpack", "onednn")
_counts: Dict[Tuple[str, str, str, int], List[int]] = {}
_kind_by_name: Dict[str, str] = {}


def rows() -> List[List[Any]]:
    """Return operator, kind, path, line, calls and bytes moved."""
    return [[*key, *numbers] for key, numbers in _counts.items()]


def observer(torch: Any, location: Callable[[], Tuple[str, int]]) -> Callable[..., None]:
    """Return what counts them; `location` returns file and line of the script that an operator belongs to."""
    tensor = torch.Tensor

    def observe(op: Any, args: Any, kwargs: Any, result: Any) -> None:
        moved = _bytes(tensor, args) + _bytes(tensor, kwargs.values()) + _bytes(tensor, (result,))
        _count((name_of(op), kind_of(op), *location()), moved)

    return observe


def kind_of(op: Any) -> str:
    """Return "fallback" or "maybe"; "" for an operator that torch_npu has a kernel for."""
    if not _kind_by_name:
        _kind_by_name.update(_read_kinds())
    return _kind_by_name.get(name_of(op), "")


def name_of(op: Any) -> str:
    """Return the name of an aten operator with its overload, as the lists have it; "" for any other."""
    schema = op._schema
    space, _, name = schema.name.partition("::")
    if space != "aten":
        return ""
    return str(name + "." + schema.overload_name if schema.overload_name else name)


def _read_kinds() -> Dict[str, str]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cpu_fallback.json")
    with open(path, encoding="utf-8") as file:
        lists = json.load(file)
    return {
        name: kind
        for kind in ("fallback", "maybe")
        for name in lists[kind]
        if not any(word in name for word in _OF_HOST)
    }


def _count(key: Tuple[str, str, str, int], moved: int) -> None:
    numbers = _counts.get(key)
    if numbers is None:
        if len(_counts) >= MAX_ROWS:
            return
        numbers = _counts[key] = [0, 0]
    numbers[0] += 1
    numbers[1] += moved


def _bytes(tensor: Any, values: Any) -> int:
    total = 0
    for value in values:
        if isinstance(value, tensor):
            total += 0 if value.is_cpu else value.numel() * value.element_size()
        elif isinstance(value, (list, tuple)):
            total += _bytes(tensor, value)
    return total
