"""The tables of an environment check, one for each part, rows that differ first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.config.result import PARTS
from studio.texts import find, language, t
from ui.widgets.basic import Card, Sentence, label
from ui.widgets.cell_table import (
    Cell,
    TableModel,
    fit_height,
    table_view,
)
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from backends.precision.config.result import (
        CheckRow,
        EnvironmentCheck,
        Level,
        Part,
    )

MARKS: dict[Level, tuple[str, str]] = {
    "pass": ("precision.environment.pass", "good"), "warning": ("precision.environment.warning", "warning"),
    "error": ("precision.environment.error", "bad"),
}  # fmt: skip
SIGNS: dict[Level, str] = {"pass": "✓", "warning": "!", "error": "✗"}
HEAD, MAX_HEIGHT = 44, 320
VERDICT = "precision.environment.verdict"


class CheckTables(Card):
    """Shows one part at a time: the first that differs until the user asks for another."""

    def __init__(self) -> None:
        super().__init__("precision.environment.tables")
        self.setObjectName("precision_check_tables")
        self._parts: list[Part] = []
        self._at = 0
        self._view: QTableView | None = None
        self._name, self._about = label(role="strong"), Sentence()
        self.body.addWidget(self._name)
        self.body.addWidget(self._about)

    def show_check(self, check: EnvironmentCheck) -> None:
        order = {name: number for number, name in enumerate(PARTS)}
        self._parts = sorted(check.parts, key=lambda part: order.get(part.name, len(order)))
        self._at = next((at for at, part in enumerate(self._parts) if part.verdict != "pass"), 0)
        self.retranslate()

    def show_part(self, name: str) -> None:
        self._at = next((at for at, part in enumerate(self._parts) if part.name == name), 0)
        self.retranslate()

    def retranslate(self) -> None:
        self._show_part(self._at)

    def _show_part(self, at: int) -> None:
        if not 0 <= at < len(self._parts):
            return
        part = self._parts[at]
        self._name.setText(f"{SIGNS[part.verdict]} {part_name(part.name)}")
        differ = sum(row.level != "pass" for row in part.rows)
        args = {"count": part.total, "differ": differ, "source": part.source}
        summary = t("precision.environment.part", **args)
        msprobe_verdict = t("precision.environment.msprobe_says", verdict=part.msprobe) if part.msprobe else ""
        self._about.setText(joined((summary, msprobe_verdict)))
        heads = (VERDICT, *(_head(name) for name in part.header))
        model = TableModel(heads)
        model.show_rows([_cells(row) for row in part.rows])
        view = table_view(model, "precision_check_table", "precision.environment.tables", *range(2, len(heads)))
        model.setParent(view)
        fit_height(view, MAX_HEIGHT)
        if self._view is not None:
            self._view.hide()
            self._view.deleteLater()
        self._view = view
        self.body.addWidget(view)


def part_name(name: str) -> str:
    """Return the name of a part; one that another version wrote keeps its own name."""
    return _text_or(f"precision.config.part.{name}", name)


def _head(name: str) -> str:
    """Return the text key of a column, or msprobe's own word."""
    key = f"precision.config.column.{name}"
    return key if find(key, language()) is not None else name


def _text_or(key: str, fallback: str) -> str:
    return t(key) if find(key, language()) is not None else fallback


def _cells(row: CheckRow) -> tuple[Cell, ...]:
    key, token = MARKS[row.level]
    verdict = Cell(text=f"{SIGNS[row.level]} {t(key)}", token=token)
    return (verdict, *(Cell(text=cell, is_mono=True) for cell in row.cells))
