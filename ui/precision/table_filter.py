"""The fields above the table: text, which verdicts, which part of a call, which dtype, grouped or not."""

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
from ui import theme
from ui.precision.row_text import grouped, short_dtype
from ui.precision.verdict_mark import HINTS, mark_icon, word
from ui.say import say
from ui.widgets import label, text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from ui.precision.row_order import Wanted

PAUSE = 120
LEAST_FIELD = 90
SPACING = 2
ROLES: tuple[tuple[int | None, str], ...] = (
    (None, "precision.view.role_all"), (INPUT, "precision.view.role_input"), (KWARG, "precision.view.role_kwarg"),
    (OUTPUT, "precision.view.role_output"), (PARAMETER, "precision.view.role_parameter"),
    (GRADIENT, "precision.view.role_gradient"),
)  # fmt: skip
GROUPS = ((FIRST, DIFFERS), (MISSING, EXTRA), (FOLLOWS,), (EXPLAINED,), (EQUAL,), (UNKNOWN,))
"""Verdicts that are filtered by one button."""
WORDS = (
    "precision.view.only_differs", "precision.view.only_unpaired", "precision.view.only_follows",
    "precision.view.only_explained", "precision.view.only_equal", "precision.view.only_unknown",
)  # fmt: skip


class TableFilter(QWidget):
    """`changed`: after a pause in typing, at once for the choices."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit()
        self.text.setObjectName("precision_search")
        self.text.setClearButtonEnabled(True)
        self.text.setMinimumWidth(LEAST_FIELD)
        say(self.text, "setPlaceholderText", "precision.view.search")
        say(self.text, "setAccessibleName", "precision.view.search_hint")
        say(self.text, "setToolTip", "precision.view.search_hint")
        self.role = _choice("precision_role", "precision.view.role")
        self.dtype = _choice("precision_dtype", "precision.view.dtype")
        self.by_module = QCheckBox()
        self.by_module.setObjectName("precision_by_module")
        say(self.by_module, "setText", "precision.view.by_module")
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
        self.role.activated.connect(self._told)
        self.dtype.activated.connect(self._told)
        self.by_module.clicked.connect(self._told)
        self.all.clicked.connect(self.clear)

    def show_dtypes(self, dtypes: Sequence[str]) -> None:
        self._dtypes = tuple(sorted(dtypes, key=short_dtype))
        self._fill()

    def filled(self, wanted: Wanted) -> Wanted:
        """The same sorting, what these fields say."""
        return replace(
            wanted, text=self.text.text(), role=self.role.currentData(), dtype=self.dtype.currentData() or "",
            by_module=self.by_module.isChecked(),
        )  # fmt: skip

    def clear(self) -> None:
        """All rows, as they were executed."""
        self.text.clear()
        self.role.setCurrentIndex(0)
        self.dtype.setCurrentIndex(0)
        self._pause.stop()
        self.changed.emit()

    def show_cleared(self, is_all: bool) -> None:
        """The button that clears is there where something is filtered."""
        self.all.setVisible(not is_all)

    def _told(self) -> None:
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
    made = QComboBox()
    made.setObjectName(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    say(made, "setAccessibleName", key)
    return made


class VerdictFilter(QWidget):
    """One button for each group of verdicts that occurs, with its count; `changed` when one was clicked."""

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
        made = QPushButton()
        made.setObjectName(f"precision_only_{number}")
        made.setProperty("role", "legend")
        made.setCheckable(True)
        made.setIconSize(QSize(14, 14))
        made.clicked.connect(self.changed)
        return made

    def show_counts(self, counts: Sequence[int]) -> None:
        """Of each verdict."""
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
            count, said = grouped(self._counts[number]), t(WORDS[number])
            button.setText(f" {count}  {said}")
            button.setAccessibleName(f"{count} {said}")
            button.setToolTip("\n".join(f"{word(verdict)}: {t(HINTS[verdict])}" for verdict in GROUPS[number]))
            button.setVisible(self._counts[number] > 0)
            self._wide += (button.sizeHint().width() + SPACING) * (self._counts[number] > 0)
        self._fold()

    def _fold(self) -> None:
        """Too narrow for words, the counts and their signs stay; the words are in the tooltips."""
        is_narrow = self._wide > self.width()
        for number, button in enumerate(self.buttons):
            count = grouped(self._counts[number])
            button.setText(f" {count}" if is_narrow else f" {count}  {t(WORDS[number])}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _redraw(self) -> None:
        for group, button in zip(GROUPS, self.buttons, strict=True):
            button.setIcon(mark_icon(group[0]))
