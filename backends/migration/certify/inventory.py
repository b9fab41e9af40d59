"""The operators of a rehearsal, by what an NPU would do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Kind = Literal["kernel", "composite", "fallback", "maybe", "none", "host", "unknown"]
KINDS: tuple[Kind, ...] = ("none", "fallback", "maybe", "unknown", "host", "composite", "kernel")
_COLLECTIVE = ("c10d", "_c10d_functional", "fsdp")
_OF_HOST = ("_for_cpu", "mkldnn", "fbgemm", "nnpack", "onednn")


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: as torch gives it, without "aten."; `kind`: kernel, composite, fallback, maybe and none as the wheel's
    lists say; host: how a CPU does what an NPU does with an operator of its own; unknown: in no list. `count`: calls;
    `phases`, `modules`: where it ran, at most a few."""

    name: str
    kind: Kind
    count: int
    phases: tuple[str, ...]
    modules: tuple[str, ...]


_MOST = 5


def operators(rows: Iterable[Mapping[str, str]], aten_class: Callable[[str], str]) -> tuple[Operator, ...]:
    """From the table of a rehearsal; the most doubtful first. `aten_class`: that of the facts."""
    found: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        found.setdefault(row.get("operator") or "", []).append(row)
    found.pop("", None)
    made = (_operator(name, ones, aten_class) for name, ones in found.items())
    return tuple(sorted(made, key=lambda one: (KINDS.index(one.kind), -one.count, one.name)))


def _operator(name: str, rows: Sequence[Mapping[str, str]], aten_class: Callable[[str], str]) -> Operator:
    return Operator(
        name=name.removeprefix("aten.").removesuffix(".default"),
        kind=_kind(name, aten_class),
        count=sum(int(row["count"]) for row in rows if (row.get("count") or "").isdigit()),
        phases=tuple(sorted({row.get("phase") or "" for row in rows} - {""})),
        modules=tuple(sorted({row.get("module") or "" for row in rows} - {""}))[:_MOST],
    )


def _kind(name: str, aten_class: Callable[[str], str]) -> Kind:
    space, _, operator = name.removesuffix(".default").partition(".")
    if space in _COLLECTIVE or any(word in operator for word in _OF_HOST):
        return "host"
    if space != "aten":
        return "unknown"
    found = aten_class(operator)
    return next((one for one in KINDS if one == found), "unknown")


def counts(found: Iterable[Operator]) -> dict[str, int]:
    """How many different operators there are of each kind."""
    kinds = [one.kind for one in found]
    return {kind: kinds.count(kind) for kind in KINDS}
