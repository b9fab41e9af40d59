"""Which aten operators have a kernel for the NPU: from the yaml files of an installed torch_npu, read line by line."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from backends.migration.scan.facts import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = (
    "torch_npu/csrc/aten/npu_native_functions.yaml",
    "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml",
)
KERNEL, COMPOSITE, FALLBACK, MAYBE, NONE, UNKNOWN = "kernel", "composite", "fallback", "maybe", "none", "unknown"


def supported(text: str) -> Iterator[str]:
    """The operators of the lists `supported` and `quant`; each is a plain item or has a key `func`."""
    inside = False
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("- "):
            inside = line.startswith(("supported:", "quant:"))
        elif inside and (line.lstrip().startswith("- ") or "func: " in line) and (found := _name(line)):
            yield found


def _name(line: str) -> str:
    """Of "- add.Tensor", "- func: clone" or "  func: clone"; not of "- impl_ns: op_api"."""
    item = line.strip().removeprefix("- ").strip()
    if item.startswith("func: "):
        item = item.removeprefix("func: ")
    elif ": " in item:
        return ""
    return item.partition("(")[0].strip()


def kind(name: str, installed: frozenset[str] | None) -> str:
    """`name`: "add.Tensor", with or without "aten::". Without an overload: the best of its overloads.

    kernel: an NPU kernel is listed. composite: made of others. fallback: nothing listed, torch_npu runs it on the CPU
    and warns. maybe: the lists leave it open. none: no kernel for the CPU either. Static: kernels that are registered
    by hand in C++ are in no list. `installed`: what the installed torch_npu lists, None where the table must do.
    """
    name = name.removeprefix("aten::")
    if installed is not None and name in installed:
        return KERNEL
    found = tables.aten().get(name) or _best(name)
    if installed is None or found != KERNEL:
        return found
    return KERNEL if _base(name) in _bases(installed) else MAYBE


def _best(name: str) -> str:
    kinds = _kinds().get(name, set())
    return next((one for one in (KERNEL, COMPOSITE, MAYBE, FALLBACK, NONE) if one in kinds), UNKNOWN)


@lru_cache(maxsize=1)
def _kinds() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, one in tables.aten().items():
        base, _, overload = name.partition(".")
        if "out" not in overload:  # made by the generator for nearly all, says nothing of the operator
            found.setdefault(base, set()).add(one)
    return found


@lru_cache(maxsize=4)
def _bases(installed: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_base, installed))


def _base(name: str) -> str:
    """A structured operator has its kernel listed under another overload: cumsum and cumsum_ under cumsum.out."""
    return name.partition(".")[0].removesuffix("_")
