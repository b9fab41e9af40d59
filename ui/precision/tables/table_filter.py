"""The filters above the table: text, verdicts, role, dtype, and whether rows are grouped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QPushButton, QSizePolicy, QWidget

from backends.precision.compare.comparison import (
    DIFFERS,
    EQUAL,
    EXPLAINED,
    EXTRA,
    FIRST,
    FOLLOWS,
    MISSING,
    UNKNOWN,
)
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER
from studio.texts import t
from ui.precision.row_text import format_count, short_dtype
from ui.precision.verdict_mark import VERDICT_HINTS, mark_icon, verdict_word
from ui.widgets import theme
from ui.widgets.basic import label, text_button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from ui.precision.tables.row_order import RowQuery

PAUSE = 120
WIDEST_CHOICE = 220  # px
MIN_FIELD_WIDTH = 90
SPACING = 2
ROLES: tuple[tuple[int | None, str], ...] = (
    (None, "precision.view.role_all"), (INPUT, "precision.view.role_input"), (KWARG, "precision.view.role_kwarg"),
    (OUTPUT, "precision.view.role_output"), (PARAMETER, "precision.view.role_parameter"),
    (GRADIENT, "precision.view.role_gradient"),
)  # fmt: skip
GROUPS = ((FIRST, DIFFERS), (MISSING, EXTRA), (FOLLOWS,), (EXPLAINED,), (EQUAL,), (UNKNOWN,))
"""Verdicts that share a button."""
WORDS = (
    "precision.view.only_differs", "precision.view.only_unpaired", "precision.view.only_follows",
    "precision.view.only_explained", "precision.view.only_equal", "precision.view.only_unknown",
)  # fmt: skip


class TableFilter(QWidget):
    """`changed` is emitted after a pause in typing, and at once for the choices."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit()
        self.text.setObjectName("precision_search")
        self.text.setClearButtonEnabled(True)
        self.text.setMinimumWidth(MIN_FIELD_WIDTH)
        localize(self.text.setPlaceholderText, "precision.view.search")
        localize(self.text.setAccessibleName, "precision.view.search_hint")
        localize(self.text.setToolTip, "precision.view.search_hint")
        self.role = _choice("precision_role", "precision.view.role")
        self.dtype = _choice("precision_dtype", "precision.view.dtype")
        self.by_module = QCheckBox()
        self.by_module.setObjectName("precision_by_module")
        localize(self.by_module.setText, "precision.view.by_module")
        self.count = label(role="hint")
        self.all = text_button("precision.view.show_all", "precision_show_all")
        self._dtypes: tuple[str, ...] = ()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self.changed)
        self._fill()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        for widget in (self.role, self.dtype, self.by_module, self.all, self.count):
            row.addWidget(widget)
        self._connect()

    def _connect(self) -> None:
        self.text.textChanged.connect(lambda _text: self._pause.start(PAUSE))
        self.role.activated.connect(self._emit_changed)
        self.dtype.activated.connect(self._emit_changed)
        self.by_module.clicked.connect(self._emit_changed)
        self.all.clicked.connect(self.clear)

    def show_dtypes(self, dtypes: Sequence[str]) -> None:
        self._dtypes = tuple(sorted(dtypes, key=short_dtype))
        self._fill()

    def fill_query(self, query: RowQuery) -> RowQuery:
        """Return `query` with what these fields say; its sorting stays."""
        return replace(
            query,
            text=self.text.text(),
            role=self.role.currentData(),
            dtype=self.dtype.currentData() or "",
            by_module=self.by_module.isChecked(),
        )

    def clear(self) -> None:
        """Show all rows in execution order."""
        self.text.clear()
        self.role.setCurrentIndex(0)
        self.dtype.setCurrentIndex(0)
        self._pause.stop()
        self.changed.emit()

    def show_cleared(self, is_all: bool) -> None:
        """Show the button that clears the filters unless all rows are listed."""
        self.all.setVisible(not is_all)

    def _emit_changed(self) -> None:
        self.changed.emit()

    def _fill(self) -> None:
        role, dtype = self.role.currentIndex(), self.dtype.currentData()
        self.role.clear()
        for value, key in ROLES:
            self.role.addItem(t(key), value)
        self.role.setCurrentIndex(max(0, role))
        self.dtype.clear()
        self.dtype.addItem(t("precision.view.dtype_all"), "")
        for name in self._dtypes:
            self.dtype.addItem(short_dtype(name), name)
        self.dtype.setCurrentIndex(max(0, self.dtype.findData(dtype)))

    def retranslate(self) -> None:
        self._fill()


def _choice(name: str, key: str) -> QComboBox:
    combo = QComboBox()
    combo.setObjectName(name)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    combo.setMaximumWidth(WIDEST_CHOICE)
    combo.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    localize(combo.setAccessibleName, key)
    return combo


class VerdictFilter(QWidget):
    """A button for each group of verdicts that occurs, with its count; `changed` when one was clicked."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._counts: tuple[int, ...] = (0,) * len(GROUPS)
        self._wide = 0
        self.buttons = [self._button(number) for number in range(len(GROUPS))]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACING)
        for button in self.buttons:
            row.addWidget(button)
        row.addStretch(1)
        self.setMinimumWidth(1)
        theme.notifier().changed.connect(self._redraw)
        self._redraw()

    def _button(self, number: int) -> QPushButton:
        button = QPushButton()
        button.setObjectName(f"precision_only_{number}")
        button.setProperty("role", "legend")
        button.setCheckable(True)
        button.setIconSize(QSize(14, 14))
        button.clicked.connect(self.changed)
        return button

    def show_counts(self, counts: Sequence[int]) -> None:
        """Show the number of rows of each verdict."""
        self._counts = tuple(sum(counts[verdict] for verdict in group) for group in GROUPS)
        self.retranslate()

    def verdicts(self) -> frozenset[int]:
        chosen = [group for group, button in zip(GROUPS, self.buttons, strict=True) if button.isChecked()]
        return frozenset(verdict for group in chosen for verdict in group)

    def clear(self) -> None:
        for button in self.buttons:
            button.setChecked(False)

    def retranslate(self) -> None:
        self._wide = 0
        for number, button in enumerate(self.buttons):
            count, text = format_count(self._counts[number]), t(WORDS[number])
            button.setText(f" {count}  {text}")
            button.setAccessibleName(f"{count} {text}")
            button.setToolTip(
                "\n".join(f"{verdict_word(verdict)}: {t(VERDICT_HINTS[verdict])}" for verdict in GROUPS[number])
            )
            button.setVisible(self._counts[number] > 0)
            self._wide += (button.sizeHint().width() + SPACING) * (self._counts[number] > 0)
        self._fold()

    def _fold(self) -> None:
        """Hide the words where the buttons are too narrow; counts, signs and tooltips stay."""
        is_narrow = self._wide > self.width()
        for number, button in enumerate(self.buttons):
            count = format_count(self._counts[number])
            button.setText(f" {count}" if is_narrow else f" {count}  {t(WORDS[number])}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _redraw(self) -> None:
        for group, button in zip(GROUPS, self.buttons, strict=True):
            button.setIcon(mark_icon(group[0]))
