"""The operators of a rehearsal beside what torch_npu has, and the lines that cost time on a card."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.texts import t
from studio.units import size
from ui.widgets.basic import Sentence, label, retone

if TYPE_CHECKING:
    from backends.common.operator_inventory import Inventory

MAX_ROWS = 6


class OperatorsView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label("curves.operators.title", "strong"))
        self.kernels, self.lines = Sentence(), Sentence()
        retone(self.lines, "role", "")
        for widget in (self.kernels, self.lines):
            column.addWidget(widget)
        self.hide()

    def show_inventory(self, inventory: Inventory | None) -> None:
        self.setVisible(inventory is not None and bool(inventory.operators))
        if inventory is None:
            return
        self.kernels.setText(kernels_text(inventory))
        rows = lines_of(inventory)
        self.lines.setText("\n".join(rows))
        self.lines.setVisible(bool(rows))


def kernels_text(inventory: Inventory) -> str:
    counts = Counter(row.kernel for row in inventory.operators)
    return t(
        "curves.operators.kernels", operators=len(inventory.operators), kernel=counts["kernel"],
        composite=counts["composite"], fallback=counts["fallback"], maybe=counts["maybe"],
        none=counts["none"] + counts["unknown"], dtypes=len(inventory.unknown_dtypes),
    )  # fmt: skip


def lines_of(inventory: Inventory) -> list[str]:
    """Where the host waits, shapes change and float64 becomes float32; those with most calls first."""
    waits = [
        t("curves.operators.waits", place=_place(row.path, row.line), operator=row.operator, calls=row.calls,
          read=size(row.bytes_read))
        for row in inventory.waits
    ]  # fmt: skip
    dynamic = [
        t("curves.operators.dynamic", place=_place(row.path, row.line), operator=row.operator, count=row.count,
          shapes="; ".join(row.shapes[:2]))
        for row in {(row.path, row.line): row for row in reversed(inventory.dynamic)}.values()
    ]  # fmt: skip
    casts = [t("curves.operators.double", place=_place(row.path, row.line), times=row.times) for row in inventory.casts]
    rows = [*casts[:MAX_ROWS], *waits[:MAX_ROWS], *dynamic[:MAX_ROWS]]
    left = len(casts) + len(waits) + len(dynamic) - len(rows)
    return [*rows, t("curves.operators.more", count=left)] if left else rows


def _place(path: str, line: int) -> str:
    return f"{PurePath(path).name}:{line}"
