"""The rows of a certificate's tables: losses, operators, files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t
from studio.units import number
from ui.cell_table import Cell

if TYPE_CHECKING:
    from backends.migration.certify.edits import Edit
    from backends.migration.certify.inventory import Operator
    from backends.migration.certify.numbers import Row

KINDS = {
    "kernel": ("migration.proof.kernel", "good"), "composite": ("migration.proof.composite", "good"),
    "host": ("migration.proof.host", "dim"), "fallback": ("migration.proof.fallback", "warning"),
    "maybe": ("migration.proof.maybe", "warning"), "none": ("migration.proof.none", "bad"),
    "unknown": ("migration.proof.unknown", "dim"),
}  # fmt: skip
KIND_ORDER = {kind: place for place, kind in enumerate(("none", "fallback", "maybe", "unknown", "host"))}
HOW = {
    "changed": "migration.proof.changed", "added": "migration.proof.added", "removed": "migration.proof.removed",
}  # fmt: skip


def _told(value: float | str | None) -> str:
    return "–" if value is None else value if isinstance(value, str) else number(value, 6)


def loss_row(row: Row) -> tuple[Cell, ...]:
    same = t("migration.proof.equal") if row.equal else t("migration.proof.differs")
    step = str(row.step) if row.name == "loss" else f"{row.name} {row.step}"
    exact = f"{row.original!r} / {row.migrated!r}"
    return (
        Cell(text=step, order=row.step), Cell(text=_told(row.original), hint=exact),
        Cell(text=_told(row.migrated), hint=exact), Cell(text=same, token="good" if row.equal else "bad"),
    )  # fmt: skip


def operator_row(one: Operator) -> tuple[Cell, ...]:
    key, token = KINDS[one.kind]
    kind = Cell(text=t(key), order=KIND_ORDER.get(one.kind, len(KIND_ORDER)), token=token)
    where = "\n".join((*one.phases, *one.modules))
    return Cell(text=one.name, is_mono=True, hint=where or one.name), kind, Cell(text=str(one.count), order=one.count)


def edit_row(one: Edit) -> tuple[Cell, ...]:
    lines = f"+{one.added} -{one.removed}"
    return Cell(text=one.path, is_mono=True), Cell(text=t(HOW[one.how])), Cell(text=lines, order=one.added)
