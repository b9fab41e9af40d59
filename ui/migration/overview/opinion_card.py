"""A card for the second opinion of CANN's own analysis tool: how to get it, and its rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.migration.official.tool import SCRIPT, find_tool
from studio.texts import t
from ui.migration.finding_texts import counted_text
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Card,
    Sentence,
    label,
    text_button,
)
from ui.widgets.cell_table import (
    ROW,
    Cell,
    TableModel,
    table_view,
)

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QShowEvent

    from backends.migration.official.opinion import Opinion, OpinionRow

HEADERS = ("migration.opinion.place", "migration.opinion.api", "migration.opinion.says", "migration.opinion.scan")
TABLE_TEXTS = {
    "unsupported_api": ("migration.opinion.unsupported", "bad"), "unknown_api": ("migration.opinion.unknown", "dim"),
    "api_precision_advice": ("migration.opinion.precision", "warning"),
    "api_performance_advice": ("migration.opinion.performance", "warning"),
}  # fmt: skip
MAX_TABLE_HEIGHT, TABLE_MARGIN = 260, 14


class OpinionCard(Card):
    """A single line until there is an opinion; the button is visible only where the tool is installed."""

    requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_opinion")
        self.opinion: Opinion | None = None
        self._tool: Path | None = None
        self.body.setContentsMargins(1, 8, 1, 1)
        self.text = Sentence()
        self.text.setObjectName("migration_opinion_text")
        self.start = text_button("migration.opinion.ask", "migration.opinion.ask")
        self.start.clicked.connect(self.requested)
        row = QHBoxLayout()
        row.setContentsMargins(15, 0, 10, 7)
        row.setSpacing(10)
        row.addWidget(label("migration.opinion.title", "title"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        row.addWidget(self.start, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(row)
        self.rows = TableModel(HEADERS)
        self.table = table_view(self.rows, "migration_opinion_rows", "migration.opinion.title", 0, 1, 2)
        self.body.addWidget(self.table)
        self.retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        """Look for the tool again, as CANN may have been installed meanwhile."""
        super().showEvent(event)
        run_in_background(self, find_tool, self._show_tool)

    def _show_tool(self, tool: Path | None) -> None:
        self._tool = tool
        self.retranslate()

    def show_opinion(self, opinion: Opinion | None) -> None:
        self.opinion = opinion
        self.rows.show_rows([])
        self.retranslate()

    def retranslate(self) -> None:
        self.start.setVisible(self._tool is not None)
        self.table.setVisible(self.opinion is not None and bool(self.opinion.rows))
        self.start.setToolTip(str(self._tool or ""))
        if self.opinion is not None:
            self.text.setText(opinion_text(self.opinion))
            self.rows.show_rows([_cells(row) for row in self.opinion.rows])
            self.table.setFixedHeight(min(MAX_TABLE_HEIGHT, ROW * (len(self.opinion.rows) + 1) + TABLE_MARGIN))
        elif self._tool is None:
            self.text.setText(t("migration.opinion.absent", script=SCRIPT))
        else:
            self.text.setText(t("migration.opinion.about"))


def opinion_text(opinion: Opinion) -> str:
    places = partial(counted_text, "migration.opinion.one_place", "migration.opinion.places")
    figures = {
        "both": places(opinion.matched),
        "theirs": places(opinion.unmatched),
        "ours": places(opinion.unmentioned),
    }
    return t("migration.opinion.done", version=opinion.version, **figures)


def _cells(row: OpinionRow) -> tuple[Cell, ...]:
    key, token = TABLE_TEXTS.get(row.table, (row.table, "dim"))
    says = f"{t(key)}: {row.tips}" if row.tips else t(key)
    is_matched = bool(row.rules)
    return (
        Cell(text=f"{row.path}:{row.line}", is_mono=True),
        Cell(text=row.name, is_mono=True),
        Cell(text=says, token=token),
        Cell(
            text=t("migration.opinion.found" if is_matched else "migration.opinion.not_found"),
            order=0 if is_matched else 1,
            token="good" if is_matched else "dim",
            hint="\n".join(row.rules),
        ),
    )
