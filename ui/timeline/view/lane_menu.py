"""Context menus of lanes, counters and processes."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QMenu

from studio.texts import t
from ui.timeline.drawing.time_text import length_text
from ui.widgets.basic import (
    Sentence,
    label,
    primary_button,
    retone,
)
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QWidget

    from ui.timeline.view.timeline_view import TimelineView

LARGEST_OFFSET = 10**18  # ns: thirty years
_UNITS = {"": 1, "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}
_LENGTH = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([a-zµμ]*)", re.IGNORECASE)


def create_menu(owner: QWidget, name: str) -> QMenu:
    """Return a menu that is deleted when it is closed."""
    menu = QMenu(owner)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


class LaneMenus:
    def __init__(self, view: TimelineView) -> None:
        self._view, self._state = view, view.state

    def of_lane(self, track: int, position: QPoint) -> None:
        """Open the menu of a track: a lane, or a counter numbered after the lanes."""
        state = self._state
        menu = create_menu(self._view, "timeline_lane_menu")
        pin = "timeline.lane.unpin" if state.lanes.is_pinned(track) else "timeline.lane.pin"
        menu.addAction(t(pin), partial(state.lanes.pin, track))
        menu.addAction(t("timeline.lane.pin_named"), partial(state.lanes.pin_named, state.lanes.track_name(track)))
        menu.addAction(t("timeline.lane.hide"), partial(state.lanes.hide, track))
        if state.lanes.series_of(track) is None and state.trace is not None and state.trace.meta.lanes[track].rows > 1:
            fold = "timeline.lane.unfold" if state.lanes.is_folded(track) else "timeline.lane.fold"
            menu.addAction(t(fold), partial(state.lanes.fold, track))
        menu.addSeparator()
        menu.addAction(t("timeline.lane.up"), partial(state.lanes.move, track, -1))
        menu.addAction(t("timeline.lane.down"), partial(state.lanes.move, track, 1))
        menu.addAction(t("timeline.lane.offset"), partial(self._open_offset_sheet, track, position))
        menu.addSeparator()
        self._add_process(menu, state.lanes.arrangement.process_of(track))
        menu.popup(position)

    def of_process(self, process: int, position: QPoint) -> None:
        menu = create_menu(self._view, "timeline_process_menu")
        self._add_process(menu, process)
        menu.popup(position)

    def _add_process(self, menu: QMenu, process: int) -> None:
        state = self._state
        key = "timeline.lane.expand" if state.lanes.is_collapsed(process) else "timeline.lane.collapse"
        menu.addAction(t(key), partial(state.lanes.collapse, process))
        menu.addAction(t("timeline.lane.hide_process"), partial(state.lanes.hide_process, process))
        menu.addAction(t("timeline.tools.show_all"), state.lanes.show_all)

    def _open_offset_sheet(self, track: int, position: QPoint) -> None:
        state = self._state
        OffsetSheet(self._view, state.lanes.offset_of(track), partial(state.lanes.set_offset, track)).show_at(position)


class OffsetSheet(Popover):
    """Asks by how much a lane is drawn later; `then` is called with it, in ns."""

    def __init__(self, owner: QWidget, offset: int, then: Callable[[int], object]) -> None:
        super().__init__(owner, "timeline_offset_sheet", 320)
        self._owner, self._then = owner, then
        self.column.addWidget(label("timeline.lane.offset_title", "title"))
        self.column.addWidget(Sentence("timeline.lane.offset_text"))
        self.field = QLineEdit(str(offset))
        self.field.setObjectName("timeline_offset")
        self.field.setAccessibleName(t("timeline.lane.offset_title"))
        self.field.textChanged.connect(self._judge)
        self.field.returnPressed.connect(self._keep)
        self.column.addWidget(self.field)
        self._reads_as = label(role="hint")
        self.column.addWidget(self._reads_as)
        self.keep = primary_button("timeline.lane.offset_keep", "timeline_offset_keep")
        self.keep.clicked.connect(self._keep)
        self.column.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignRight)
        self.field.selectAll()
        self._judge()

    def show_at(self, position: QPoint) -> None:
        self.ensurePolished()
        self.adjustSize()
        window = self._owner.window()
        corner = window.mapFromGlobal(position)
        corner.setX(max(8, min(corner.x(), window.width() - self.width() - 8)))
        corner.setY(max(8, min(corner.y(), window.height() - self.height() - 8)))
        self.move(window.mapToGlobal(corner))
        self.show()
        self.field.setFocus()

    def _judge(self) -> None:
        ns = ns_of(self.field.text())
        retone(self.field, "wrong", ns is None)
        self._reads_as.setText("" if ns is None else length_text(ns))
        self.keep.setEnabled(ns is not None)

    def _keep(self) -> None:
        if (ns := ns_of(self.field.text())) is not None:
            self.close()
            self._then(ns)


def ns_of(text: str) -> int | None:
    """Parse '1500', '-1.5 us' or '2 ms' to ns; None where it is not a length, or is more than thirty years."""
    match = _LENGTH.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        return None
    whole, _, rest = match[1].lstrip("+-").partition(".")
    unit = _UNITS[match[2].lower()]
    ns = int(whole[:24]) * unit + (int(rest[:18]) * unit // 10 ** len(rest[:18]) if rest else 0)
    if len(whole) > 24 or ns > LARGEST_OFFSET:
        return None
    return -ns if match[1].startswith("-") else ns
