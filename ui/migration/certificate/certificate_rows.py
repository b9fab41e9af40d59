"""Table rows of a certificate: losses, operators, changed files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t
from studio.units import number
from ui.widgets.cell_table import Cell

if TYPE_CHECKING:
    from backends.migration.certify.file_edits import FileEdit
    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.operators import Operator

KIND_TEXTS = {
    "kernel": ("migration.proof.kernel", "good"), "composite": ("migration.proof.composite", "good"),
    "host": ("migration.proof.host", "dim"), "fallback": ("migration.proof.fallback", "warning"),
    "maybe": ("migration.proof.maybe", "warning"), "none": ("migration.proof.none", "bad"),
    "unknown": ("migration.proof.unknown", "dim"),
}  # fmt: skip
KIND_ORDER = {kind: order for order, kind in enumerate(("none", "fallback", "maybe", "unknown", "host"))}
EDIT_KINDS = {
    "changed": "migration.proof.changed", "added": "migration.proof.added", "removed": "migration.proof.removed",
}  # fmt: skip


def _number_text(value: float | str | None) -> str:
    return "–" if value is None else value if isinstance(value, str) else number(value, 6)


def loss_row(row: MetricRow) -> tuple[Cell, ...]:
    same = t("migration.proof.equal") if row.equal else t("migration.proof.differs")
    step = str(row.step) if row.name == "loss" else f"{row.name} {row.step}"
    exact = f"{row.original!r} / {row.migrated!r}"
    return (
        Cell(text=step, order=row.step),
        Cell(text=_number_text(row.original), hint=exact),
        Cell(text=_number_text(row.migrated), hint=exact),
        Cell(text=same, token="good" if row.equal else "bad"),
    )


def operator_row(operator: Operator) -> tuple[Cell, ...]:
    key, token = KIND_TEXTS[operator.kind]
    kind = Cell(text=t(key), order=KIND_ORDER.get(operator.kind, len(KIND_ORDER)), token=token)
    where = "\n".join((*operator.phases, *operator.modules))
    return (
        Cell(text=operator.name, is_mono=True, hint=where or operator.name),
        kind,
        Cell(text=str(operator.count), order=operator.count),
    )


def edit_row(edit: FileEdit) -> tuple[Cell, ...]:
    lines = f"+{edit.added} -{edit.removed}"
    return Cell(text=edit.path, is_mono=True), Cell(text=t(EDIT_KINDS[edit.how])), Cell(text=lines, order=edit.added)
