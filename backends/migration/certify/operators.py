"""The operators of a rehearsal, classified by how an NPU would execute them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

OperatorKind = Literal["kernel", "composite", "fallback", "maybe", "none", "host", "unknown"]
OPERATOR_KINDS: tuple[OperatorKind, ...] = ("none", "fallback", "maybe", "unknown", "host", "composite", "kernel")
_COLLECTIVE = ("c10d", "_c10d_functional", "fsdp")
_HOST_WORDS = ("_for_cpu", "mkldnn", "fbgemm", "nnpack", "onednn")


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """An operator and how often it ran. `name`: torch's name without "aten."; `kind`: kernel, composite, fallback,
    maybe or none as listed in the torch_npu wheel; host: how a CPU does what an NPU does with an operator of its own;
    unknown: in no list. `phases`, `modules`: where it ran, at most a few."""

    name: str
    kind: OperatorKind
    count: int
    phases: tuple[str, ...]
    modules: tuple[str, ...]


_MAX_MODULES = 5


def classify_operators(rows: Iterable[Mapping[str, str]], aten_class: Callable[[str], str]) -> tuple[Operator, ...]:
    """Classify the operators in a rehearsal's table, the most doubtful first. `aten_class` looks an operator up in the
    facts."""
    by_name: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        by_name.setdefault(row.get("operator") or "", []).append(row)
    by_name.pop("", None)
    operators = (_operator(name, ones, aten_class) for name, ones in by_name.items())
    return tuple(
        sorted(operators, key=lambda operator: (OPERATOR_KINDS.index(operator.kind), -operator.count, operator.name))
    )


def _operator(name: str, rows: Sequence[Mapping[str, str]], aten_class: Callable[[str], str]) -> Operator:
    return Operator(
        name=name.removeprefix("aten.").removesuffix(".default"),
        kind=_kind(name, aten_class),
        count=sum(int(row["count"]) for row in rows if (row.get("count") or "").isdigit()),
        phases=tuple(sorted({row.get("phase") or "" for row in rows} - {""})),
        modules=tuple(sorted({row.get("module") or "" for row in rows} - {""}))[:_MAX_MODULES],
    )


def _kind(name: str, aten_class: Callable[[str], str]) -> OperatorKind:
    space, _, operator = name.removesuffix(".default").partition(".")
    if space in _COLLECTIVE or any(word in operator for word in _HOST_WORDS):
        return "host"
    if space != "aten":
        return "unknown"
    aten_kind = aten_class(operator)
    return next((kind for kind in OPERATOR_KINDS if kind == aten_kind), "unknown")


def count_kinds(operators: Iterable[Operator]) -> dict[str, int]:
    """Count the distinct operators of each kind."""
    kinds = [operator.kind for operator in operators]
    return {kind: kinds.count(kind) for kind in OPERATOR_KINDS}
