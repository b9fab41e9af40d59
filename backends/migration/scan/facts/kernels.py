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


def parse_supported_operators(text: str) -> Iterator[str]:
    """The operators of the lists `supported` and `quant`; each is a plain item or has a key `func`."""
    inside = False
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("- "):
            inside = line.startswith(("supported:", "quant:"))
        elif inside and (line.lstrip().startswith("- ") or "func: " in line) and (operator := _operator_on_line(line)):
            yield operator


def _operator_on_line(line: str) -> str:
    """Return the operator of "- add.Tensor", "- func: clone" or "  func: clone"; "" for "- impl_ns: op_api"."""
    item = line.strip().removeprefix("- ").strip()
    if item.startswith("func: "):
        item = item.removeprefix("func: ")
    elif ": " in item:
        return ""
    return item.partition("(")[0].strip()


def kernel_kind(name: str, installed: frozenset[str] | None) -> str:
    """`name`: "add.Tensor", with or without "aten::". Without an overload: the best of its overloads.

    kernel: an NPU kernel is listed. composite: made of others. fallback: nothing listed, torch_npu runs it on the CPU
    and warns. maybe: the lists leave it open. none: no kernel for the CPU either. Static: kernels that are registered
    by hand in C++ are in no list. `installed`: what the installed torch_npu lists, None where the table must do.
    """
    name = name.removeprefix("aten::")
    if installed is not None and name in installed:
        return KERNEL
    shipped = tables.aten_kinds().get(name) or _best_overload(name)
    if installed is None or shipped != KERNEL:
        return shipped
    return KERNEL if _base(name) in _bases(installed) else MAYBE


def _best_overload(name: str) -> str:
    kinds = _kinds_by_base().get(name, set())
    return next((kind for kind in (KERNEL, COMPOSITE, MAYBE, FALLBACK, NONE) if kind in kinds), UNKNOWN)


@lru_cache(maxsize=1)
def _kinds_by_base() -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for name, kind in tables.aten_kinds().items():
        base, _, overload = name.partition(".")
        if "out" not in overload:  # made by the generator for nearly all, says nothing of the operator
            kinds.setdefault(base, set()).add(kind)
    return kinds


@lru_cache(maxsize=4)
def _bases(installed: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_base, installed))


def _base(name: str) -> str:
    """A structured operator has its kernel listed under another overload: cumsum and cumsum_ under cumsum.out."""
    return name.partition(".")[0].removesuffix("_")
