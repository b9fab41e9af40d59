"""msprobe's verdict held against ours, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t
from ui.precision.row_text import grouped
from ui.precision.verdict_said import plain_name

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from backends.precision.msprobe.table import Row
    from ui.precision.msprobe_read import Tables


def counts(tables: Tables) -> str:
    none, passed, warnings, errors = (grouped(count) for count in tables.counts)
    return t("precision.beside.counts", passed=passed, warnings=warnings, errors=errors, none=none, file=tables.name)


def held_against(comparison: Comparison, row: Row | None) -> str:
    """'msprobe names …; ours …', and why they may differ."""
    first = comparison.first
    if row is None:
        return t("precision.beside.only_ours", ours=plain_name(first.name)) if first else t("precision.beside.all_pass")
    theirs = call_in(comparison, row.target)
    name = plain_name(comparison.names[theirs]) if theirs >= 0 else row.target
    if first is None:
        return t("precision.beside.only_theirs", theirs=name)
    if theirs < 0:
        return t("precision.beside.unknown", theirs=name, ours=plain_name(first.name))
    if theirs == first.call or comparison.names[theirs] == first.name:
        return t("precision.beside.same", theirs=name)
    key = "precision.beside.later" if theirs > first.call else "precision.beside.earlier"
    return t(key, theirs=name, ours=plain_name(first.name))


def call_in(comparison: Comparison, tensor: str) -> int:
    """The call that a tensor's name begins with: 'Functional.linear.0.forward.input.0' is one of
    'Functional.linear.0.forward'. -1 where there is none."""
    known = {name: index for index, name in reversed(tuple(enumerate(comparison.names)))}
    while tensor:
        if tensor in known:
            return known[tensor]
        tensor = tensor.rpartition(".")[0]
    return -1
