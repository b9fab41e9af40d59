"""A section of a form: a group of fields that can be folded to one line, which says what is set in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from studio.texts import has, t
from ui.widgets.basic import (
    GAP,
    Card,
    Elided,
    label,
    retone,
    show_icon,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QMouseEvent

    from ui.form.field_box import FieldBox

COLUMNS = 3
HEADER = 27
_SPAN = {"path": 2, "pairs": COLUMNS, "line": COLUMNS}


class FormSection(Card):
    """Its fields that apply in three columns of the same width, aligned at the top. Their boxes are made when they
    are first shown (`make`, by name): most options of a long form are never visible."""

    fold_changed = Signal()
    help_requested = Signal(str)

    def __init__(self, feature: str, name: str, foldable: bool, make: Callable[[str], FieldBox]) -> None:
        super().__init__(f"{feature}.section.{name}")
        self.setObjectName(f"{feature}.{name}.card")
        self.name = name
        self._folded, self._searching = foldable, False
        self._feature = feature
        self._make = make
        self._placed: list[FieldBox] = []
        self._others: list[QWidget] = []
        self._foldable = foldable
        self.body.setSpacing(0)
        self._inside = QWidget()
        self._below = QVBoxLayout(self._inside)
        self._below.setContentsMargins(0, 0, 0, 0)
        self._below.setSpacing(GAP)
        self._below.addWidget(self._make_grid())
        self.body.addWidget(self._inside)
        self._make_header()
        self._show_fold()

    def _make_grid(self) -> QWidget:
        self._fields = QWidget()
        self._grid = QGridLayout(self._fields)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(GAP)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1)
            # Empty or spanned columns would have no spacing, and the columns of two cards would differ. The row of
            # these also keeps the fields away from the title.
            self._grid.addWidget(QWidget(), 0, column)
        return self._fields

    def _make_header(self) -> None:
        """Title, summary, hint, the button for help, and the fold."""
        self._sign = QLabel()
        self._sign.setFixedSize(16, 16)
        show_icon(self._sign, "warning", "bad", 14)
        self._sign.hide()
        self.summary = Elided(role="hint")
        self.summary.setObjectName(f"{self._feature}.{self.name}.summary")
        if self._foldable:
            self.header.takeAt(self.header.count() - 1)  # the summary is what stretches
        self.header.addStrut(HEADER)
        self.header.addSpacing(8)
        self.header.addWidget(self._sign)
        self.header.addWidget(self.summary, 1)
        self.summary.setVisible(self._foldable)
        self._hint: QLabel | None = None
        if has(f"{self._feature}.section.{self.name}_hint"):
            self._hint = label(f"{self._feature}.section.{self.name}_hint", "hint")
            self.header.addWidget(self._hint)
        self._toggle = text_button("form.show", f"{self._feature}.{self.name}.fold")
        self._toggle.clicked.connect(self.turn)
        self._toggle.setVisible(self._foldable)
        self._help = text_button("form.help", f"{self._feature}.{self.name}.help")
        self._help.setFixedWidth(28)
        self._help.clicked.connect(self._request_help)
        localize(self._help.setToolTip, "form.help_hint")
        localize(self._help.setAccessibleName, "form.help_hint")
        self.header.addWidget(self._help)
        self.header.addWidget(self._toggle)

    def _request_help(self) -> None:
        self.help_requested.emit(self.name)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """All of the title's line folds, not only the word at its end."""
        if self._foldable and event.button() == Qt.MouseButton.LeftButton and event.position().y() < self._header_end():
            self.turn()
        super().mouseReleaseEvent(event)

    def _header_end(self) -> int:
        return self.header.geometry().bottom() + self.body.contentsMargins().bottom()

    @property
    def is_folded(self) -> bool:
        return self._folded and not self._searching

    def turn(self) -> None:
        self.fold(not self.is_folded)

    def fold(self, folded: bool) -> None:
        self._folded, self._searching = folded and self._foldable, False
        self._show_fold()
        self.fold_changed.emit()

    def open_for_search(self, searching: bool) -> None:
        """While an option is sought nothing is folded; afterwards the card is as it was."""
        self._searching = searching
        self._show_fold()

    def _show_fold(self) -> None:
        folded = self.is_folded
        self._inside.setHidden(folded)
        edge = 7 if folded else 14
        self.body.setContentsMargins(16, edge, 16, edge if folded else 16)
        localize(self._toggle.setText, "form.show" if folded else "form.hide")

    def show_summary(self, text: str, wrong: Sequence[str]) -> None:
        """Show what is set inside, or the names of the fields that are wrong."""
        self._sign.setVisible(bool(wrong) and self._foldable)
        if self._hint:
            # There is no room for both; what is set is worth more.
            self._hint.setVisible(not self._foldable or not (self.is_folded or wrong or text))
        if wrong:
            text = t("form.wrong_inside", names=t("form.between").join(wrong))
        self.summary.setText(text or t("form.nothing_set"))
        retone(self.summary, "role", "bad" if wrong else "set" if text else "hint")

    def add_below(self, widget: QWidget) -> None:
        """What belongs to the card, below its fields: folded with them."""
        self._below.addWidget(widget)
        self._others.append(widget)

    def lay_out_boxes(self, names: Sequence[str]) -> None:
        """Puts these fields into the grid, again only where that changed."""
        boxes = [self._make(name) for name in names]
        if boxes == self._placed:
            return
        for box in self._placed:
            self._grid.removeWidget(box)
            box.setVisible(box in boxes)
        lay_out_boxes = 0
        for box in boxes:
            span = _SPAN.get(box.field.kind, 1)
            if lay_out_boxes % COLUMNS + span > COLUMNS:
                lay_out_boxes += COLUMNS - lay_out_boxes % COLUMNS
            self._grid.addWidget(box, lay_out_boxes // COLUMNS + 1, lay_out_boxes % COLUMNS, 1, span)
            box.show()
            lay_out_boxes += span
        self._placed = boxes
        self._order_tabs()

    def _order_tabs(self) -> None:
        """The Tab key follows the visible order; a field that was made later would otherwise come last."""
        before: QWidget = self._toggle
        for holder in (*self._placed, *self._others):
            for widget in (holder, *holder.findChildren(QWidget)):
                # The list of a choice is a window of its own.
                if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.window() is before.window():
                    QWidget.setTabOrder(before, widget)
                    before = widget
