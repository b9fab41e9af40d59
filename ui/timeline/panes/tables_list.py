"""The tables of a profile by name, of one rank at a time where there are several."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.texts import t
from ui.timeline.panes.list_model import single_line
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from backends.timeline.tables.sheets import Sheet

ROW, WIDTH = 22, 250


class TablesList(QWidget):
    """`chosen`: another sheet, or None."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.sheets: tuple[Sheet, ...] = ()
        self._last: Sheet | None = None
        self.ranks = QComboBox()
        self.ranks.setObjectName("timeline_table_ranks")
        self.ranks.activated.connect(lambda _index: self._fill())
        localize(self.ranks.setAccessibleName, "timeline.tables_pane.ranks")
        self.names = QListWidget()
        self.names.setObjectName("timeline_tables")
        self.names.setFrameShape(QListWidget.Shape.NoFrame)
        self.names.setStyleSheet(
            "QListWidget, QListWidget:focus { border: none; border-radius: 0; }"
            f" QListView::item {{ min-height: {ROW}px; padding: 0 4px; }}"
        )
        self.names.setUniformItemSizes(True)
        self.names.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.names.currentItemChanged.connect(lambda _item, _before: self._choose())
        localize(self.names.setAccessibleName, "timeline.tables_pane.tables")
        self.setFixedWidth(WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.ranks)
        column.addWidget(self.names, 1)

    def show_sheets(self, sheets: tuple[Sheet, ...]) -> None:
        """List the tables of another profile; the table of the same name stays selected, or the first one is."""
        self.sheets = sheets
        ranks = list(dict.fromkeys(sheet.rank for sheet in sheets))
        self.ranks.clear()
        for rank in ranks:
            self.ranks.addItem("", rank)
        last = self._last.rank if self._last is not None else -1
        self.ranks.setCurrentIndex(ranks.index(last) if last in ranks else 0)
        self.ranks.setVisible(len(ranks) > 1)
        self.retranslate()
        self._fill()

    @property
    def sheet(self) -> Sheet | None:
        item = self.names.currentItem()
        sheet: Sheet | None = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        return sheet

    def _fill(self) -> None:
        title = self._last.title if self._last is not None else ""
        listed = [sheet for sheet in self.sheets if sheet.rank == self.ranks.currentData()]
        was = self.names.blockSignals(True)
        self.names.clear()
        titles: Counter[str] = Counter()
        for sheet in listed:
            titles[sheet.title] += 1
            self.names.addItem(_item(sheet, titles[sheet.title]))
        self.names.setCurrentRow(next((row for row, sheet in enumerate(listed) if sheet.title == title), 0))
        self.names.blockSignals(was)
        self._choose()

    def _choose(self) -> None:
        self._last = self.sheet or self._last
        self.chosen.emit(self.sheet)

    def retranslate(self) -> None:
        for index in range(self.ranks.count()):
            rank = self.ranks.itemData(index)
            group = t("timeline.tables_pane.all_ranks") if rank is None else t("timeline.tables_pane.rank", rank=rank)
            self.ranks.setItemText(index, group)


def _item(sheet: Sheet, turn: int) -> QListWidgetItem:
    """Return the list item of a sheet. `turn`: counts equal names, as of several collections of one rank."""
    item = QListWidgetItem(single_line(sheet.title if turn == 1 else f"{sheet.title} ({turn})"))
    item.setData(Qt.ItemDataRole.UserRole, sheet)
    item.setToolTip(plain_tip(str(sheet.path)))
    return item
