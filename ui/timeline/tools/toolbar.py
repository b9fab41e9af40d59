"""The toolbar above the lanes: search, lane filter, time mode, view menu and the list of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QMenu, QWidget

from studio.texts import t
from ui.timeline.tools.search_bar import SearchBar
from ui.widgets.basic import button, show_icon, text_button
from ui.widgets.labels import button_text
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from ui.timeline.state.view_state import ViewState

PAUSE_MS = 150
ROOM_FOR_ALL = 800
MODES = {
    "relative": "timeline.tools.relative", "absolute": "timeline.tools.absolute", "step": "timeline.tools.by_step",
}  # fmt: skip


class Toolbar(QWidget):
    keys_requested = Signal()

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self.search = SearchBar(state)
        self.filter, self.mode = self._make_filter(), self._make_mode()
        self.view = button("timeline.tools.view", "timeline_show")
        self.view.clicked.connect(self.open_view_menu)
        self.keys = text_button("", "timeline_keys_button")
        show_icon(self.keys, "keyboard", "accent", 16)
        for setter in (self.keys.setToolTip, self.keys.setAccessibleName):
            localize(setter, "timeline.tools.keys")
        self.keys.clicked.connect(self.keys_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.search, 4)
        row.addWidget(self.filter, 1)
        for widget in (self.mode, self.view, self.keys):
            row.addWidget(widget)
        state.trace_changed.connect(self.retranslate)
        state.appearance_changed.connect(self._follow_mode)
        state.lanes.changed.connect(self._follow_filter)
        state.lanes.changed.connect(self._count_hidden)
        self.retranslate()

    def _make_filter(self) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName("timeline_filter")
        field.setClearButtonEnabled(True)
        field.setMinimumWidth(100)
        field.setMaximumWidth(240)
        for setter in (field.setPlaceholderText, field.setAccessibleName):
            localize(setter, "timeline.tools.filter")
        localize(field.setToolTip, "timeline.tools.filter_hint")
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(lambda: self._state.lanes.filter(field.text()))
        field.textEdited.connect(lambda _text: self._pause.start(PAUSE_MS))
        field.textChanged.connect(self._cleared)
        return field

    def _make_mode(self) -> QComboBox:
        box = QComboBox()
        box.setObjectName("timeline_mode")
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for setter in (box.setToolTip, box.setAccessibleName):
            localize(setter, "timeline.tools.mode")
        box.activated.connect(lambda _row: self._state.set_time_mode(box.currentData()))
        return box

    def _cleared(self, text: str) -> None:
        if not text and self._state.lanes.arrangement.filter_text:
            self._pause.start(0)

    def _follow_filter(self) -> None:
        """Clear the field when showing a filtered-out lane dropped the filter."""
        if self.filter.text().strip() and not self._state.lanes.arrangement.filter_text and not self._pause.isActive():
            self.filter.clear()

    def _count_hidden(self) -> None:
        """Show the number of hidden lanes on the menu that shows them again."""
        count = len(self._state.lanes.hidden)
        if count:
            localize(self.view.setText, "timeline.tools.view_hidden", count=count)
        else:
            localize(self.view.setText, "timeline.tools.view")

    def _follow_mode(self) -> None:
        self.mode.setCurrentIndex(max(0, self.mode.findData(self._state.time_mode)))

    def retranslate(self) -> None:
        """Offer only the time modes that this trace supports."""
        meta = self._state.trace.meta if self._state.trace else None
        can = {"relative": True, "absolute": bool(meta and meta.is_epoch), "step": bool(self._state.steps)}
        self.mode.clear()
        for mode, key in MODES.items():
            if can[mode]:
                self.mode.addItem(t(key), mode)
        if not can[self._state.time_mode]:
            self._state.set_time_mode("relative")
        self._follow_mode()
        self._count_hidden()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the time modes into the menu where the toolbar is too narrow."""
        super().resizeEvent(event)
        self.mode.setVisible(self.width() >= ROOM_FOR_ALL)

    # What is shown

    def open_view_menu(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("timeline_view_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill(menu)
        menu.popup(self.view.mapToGlobal(self.view.rect().bottomLeft()))

    def _fill(self, menu: QMenu) -> None:
        state = self._state
        arrangement = state.lanes.arrangement
        _ticked(menu, "timeline.tools.merge", arrangement.merges_streams, state.lanes.merge_streams)
        _ticked(menu, "timeline.tools.python", arrangement.has_python, state.lanes.separate_python)
        self._add_flows(menu)
        if self.mode.isHidden():
            self._add_modes(menu)
        menu.addSeparator()
        menu.addAction(t("timeline.tools.collapse_all"), partial(state.lanes.collapse_all, True))
        menu.addAction(t("timeline.tools.expand_all"), partial(state.lanes.collapse_all, False))
        menu.addAction(t("timeline.tools.show_all"), state.lanes.show_all)
        menu.addAction(t("timeline.tools.unpin_all"), state.lanes.unpin_all).setEnabled(bool(arrangement.pinned))
        menu.addAction(t("timeline.tools.clear_offsets"), state.lanes.clear_offsets).setEnabled(
            bool(arrangement.offsets)
        )
        menu.addSeparator()
        menu.addAction(t("timeline.tools.row_height"), state.lanes.reset_row_height)
        menu.addAction(t("timeline.tools.whole"), state.viewport.show_whole)

    def _add_modes(self, menu: QMenu) -> None:
        menu.addSeparator()
        for row in range(self.mode.count()):
            mode = self.mode.itemData(row)
            action = menu.addAction(self.mode.itemText(row), partial(self._state.set_time_mode, mode))
            action.setCheckable(True)
            action.setChecked(mode == self._state.time_mode)

    def _add_flows(self, menu: QMenu) -> None:
        """Add the kinds of flows that can all be drawn; those of the selected slice always are."""
        kinds = self._state.trace.meta.flow_kinds if self._state.trace else ()
        below = menu.addMenu(t("timeline.tools.flows"))
        below.setEnabled(bool(kinds))
        for number, kind in enumerate(kinds):
            chosen = self._state.flow_kinds
            action = below.addAction(button_text(below, kind))
            action.setCheckable(True)
            action.setChecked(number in chosen)
            action.triggered.connect(lambda on, number=number: self._draw_flows(number, on))

    def _draw_flows(self, number: int, on: bool) -> None:
        kinds = self._state.flow_kinds
        self._state.set_flow_kinds(kinds | {number} if on else kinds - {number})


def _ticked(menu: QMenu, key: str, on: bool, do: Callable[[bool], object]) -> None:
    action = menu.addAction(t(key))
    action.setCheckable(True)
    action.setChecked(on)
    action.triggered.connect(do)
