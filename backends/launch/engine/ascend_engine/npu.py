"""Calls that only an Ascend NPU can run, as values: no CPU can try them, so a test holds each against the installed
MindSpore, and this is the one place that does them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any


@dataclass(frozen=True)
class NpuCall:
    """`name` in `module`, a method as "Class.method". `positional`: what the places before `kwargs` hold; a method's
    first is the object."""

    module: str
    name: str
    kwargs: dict
    positional: tuple[str, ...] = ()


def do(call: NpuCall, *positional: Any) -> Any:
    return attrgetter(call.name)(import_module(call.module))(*positional, **call.kwargs)
