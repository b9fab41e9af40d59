"""The fixed column with the names of processes, lanes and counters, and actions on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.texts import t
from ui.timeline.drawing.labels import label_font
from ui.timeline.drawing.lanes_picture import placement_of
from ui.timeline.drawing.time_text import length_text
from ui.timeline.view.pointer_tip import PointerTip
from ui.widgets import icons, theme

if TYPE_CHECKING:
    from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QPaintEvent, QWheelEvent

    from ui.timeline.drawing.lanes_picture import Placement
    from ui.timeline.state.bands import Band
    from ui.timeline.state.view_state import ViewState

DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH = 200, 110, 460
ICON, GAP, GRIP = 14, 6, 8
LINE, MIN_NAME_HEIGHT = 20, 11
TIPS = {
    "fold": "timeline.view.fold", "unfold": "timeline.view.unfold", "pin": "timeline.view.pin",
    "unpin": "timeline.view.unpin", "hide": "timeline.view.hide",
}  # fmt: skip
ACTION_ICONS = {
    "fold": "timeline-fold", "unfold": "timeline-unfold", "pin": "timeline-pin", "unpin": "timeline-unpin",
    "hide": "timeline-hide",
}  # fmt: skip


class Gutter(QWidget):
    lane_menu_requested = Signal(int, QPoint)
    process_menu_requested = Signal(int, QPoint)
    width_requested = Signal(int)

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_gutter")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFixedWidth(DEFAULT_WIDTH)
        self.setMouseTracking(True)
        self._state = state
        self._hovered: int = -1
        self._tip = PointerTip(self)
        self._resizes = False
        for signal in (
            state.lanes.changed,
            state.viewport.scroll_changed,
            state.trace_changed,
            state.appearance_changed,
        ):
            signal.connect(self.update)
        theme.notifier().changed.connect(self.update)

    def retranslate(self) -> None:
        self.update()

    # The picture

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface"))
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        state = self._state
        painter.setFont(label_font())
        fixed, placement = state.lanes.bands.pinned_height, placement_of(state, self.height())
        for is_pinned, clip in ((False, (fixed, self.height() - fixed)), (True, (0, fixed))):
            painter.setClipRect(0, clip[0], self.width(), clip[1])
            for index, top in zip(placement.index, placement.tops, strict=True):
                band = state.lanes.bands[index]
                if band.is_pinned == is_pinned:
                    self._band(painter, band, index, top)
            self._names(painter, placement, is_pinned=is_pinned)
        painter.setClipping(False)
        if fixed:
            painter.fillRect(0, fixed - 3, self.width(), 2, theme.color("rim"))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme.color("line"))

    def _band(self, painter: QPainter, band: Band, index: int, top: int) -> None:
        if band.kind == "process":
            self._process(painter, band, index, top)
            return
        if self._is_hovered(band):
            painter.fillRect(0, top, self.width(), band.height, theme.color("sunken"))
        if not band.is_first and band.drawn >= 3:
            painter.fillRect(15, top, 1, band.height, theme.color("line"))

    def _names(self, painter: QPainter, placement: Placement, *, is_pinned: bool) -> None:
        """Draw the name of each lane at its first visible row, so that it stays in view while a deep lane scrolls."""
        named = -1
        for index in placement.index:
            first, behind = self._state.lanes.bands.extent(index)
            band = self._state.lanes.bands[first]
            if first == named or band.kind == "process" or band.is_pinned != is_pinned:
                continue
            named = first
            box = self._name_box(first, behind)
            if box.height() >= MIN_NAME_HEIGHT:
                self._lane(painter, band, box)

    def _name_box(self, first: int, behind: int) -> QRect:
        """Return where the name of the lane with these bands is drawn."""
        bands, state = self._state.lanes.bands, self._state
        band = bands[first]
        moved = 0 if band.is_pinned else state.viewport.scroll
        edge = 0 if band.is_pinned else bands.pinned_height
        top, bottom = int(bands.top[first]) - moved, int(bands.top[behind]) - moved - int(bands.gap[behind - 1])
        height = min(bottom - top, max(LINE, min(band.drawn, LINE)))
        top = min(max(top, edge), bottom - height)
        return QRect(0, top, self.width(), height)

    def _is_hovered(self, band: Band) -> bool:
        if not 0 <= self._hovered < len(self._state.lanes.bands):
            return False
        hovered = self._state.lanes.bands[self._hovered]
        return hovered.kind == band.kind and hovered.track == band.track and hovered.is_pinned == band.is_pinned

    def _process(self, painter: QPainter, band: Band, index: int, top: int) -> None:
        fill = theme.color("line") if index == self._hovered else theme.color("sunken")
        painter.fillRect(0, top, self.width(), band.height - 1, fill)
        name = "chevron-right" if self._state.lanes.is_collapsed(band.process) else "chevron-down"
        painter.drawPixmap(4, top + (band.height - ICON) // 2, icons.pixmap(name, "dim", ICON))
        font = painter.font()
        font.setWeight(font.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        self._text(painter, self.process_text(band.process), 22, top, band.height - 1, self.width() - 26)
        font.setWeight(font.Weight.Normal)
        painter.setFont(font)

    def process_text(self, process: int) -> str:
        assert self._state.trace is not None
        meta = self._state.trace.meta
        described = meta.processes[process]
        name = described.name or t("timeline.view.process", pid=described.pid)
        if described.rank is not None and self._state.has_ranks:
            return t("timeline.view.rank_process", rank=described.rank, name=name)
        return name

    def _lane(self, painter: QPainter, band: Band, box: QRect) -> None:
        state = self._state
        room = self.width() - 26
        actions = self.actions_of(band) if self._is_hovered(band) else ()
        room -= len(actions) * (ICON + GAP)
        top, height = box.top(), box.height()
        painter.setPen(theme.color("text"))
        name = t("timeline.view.merged") if state.lanes.is_merged(band) else state.lanes.track_name(band.track)
        used = self._text(painter, name, 20, top, height, room)
        note = self.note_of(band)
        if note and room - used > 40:
            painter.setPen(theme.color("dim"))
            self._text(painter, note, 20 + used + 8, top, height, room - used - 8, Qt.TextElideMode.ElideRight)
        if band.is_pinned:
            painter.fillRect(3, top + 2, 3, max(2, height - 4), theme.color("accent"))
        for number, action in enumerate(actions):
            painter.drawPixmap(
                self._icon_box(number, top, height).topLeft(), icons.pixmap(ACTION_ICONS[action], "dim", ICON)
            )

    def note_of(self, band: Band) -> str:
        """Return a note on a lane: its offset, the process of a pinned lane, the number of rows on top of each other,
        or that it holds Python stacks."""
        if band.offset_ns:
            return f"{'+' if band.offset_ns > 0 else '-'}{length_text(abs(band.offset_ns))}"
        if band.is_pinned:
            return self.process_text(band.process)
        if len(band.rows) > 1:
            return t("timeline.view.overlaid", count=len(band.rows))
        return t("timeline.view.python") if self._state.lanes.is_python(band.track) else ""

    def _text(
        self,
        painter: QPainter,
        text: str,
        left: int,
        top: int,
        height: int,
        room: int,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> int:
        """Draw text and return its width. Where it does not fit its middle is elided: lanes often differ at the end."""
        metrics = painter.fontMetrics()
        line = " ".join(text[:200].split())
        elided = metrics.elidedText(line, mode, max(10, room))
        painter.drawText(QRect(left, top, max(10, room) + 4, height), Qt.AlignmentFlag.AlignVCenter, elided)
        return metrics.horizontalAdvance(elided)

    # What can be done

    def actions_of(self, band: Band) -> tuple[str, ...]:
        """Return the actions of a band, from right to left."""
        state, trace = self._state, self._state.trace
        assert trace is not None
        if state.lanes.is_merged(band):
            return ()
        actions = ["hide", "unpin" if state.lanes.is_pinned(band.track) else "pin"]
        if band.track < len(trace.meta.lanes) and trace.meta.lanes[band.track].rows > 1:
            actions.append("unfold" if state.lanes.is_folded(band.track) else "fold")
        return tuple(actions)

    def _icon_box(self, number: int, top: int, height: int) -> QRect:
        left = self.width() - (number + 1) * (ICON + GAP) - 2
        return QRect(left, top + (height - ICON) // 2, ICON, ICON)

    def band_index_at(self, y: float) -> int:
        bands = self._state.lanes.bands
        return bands.at(int(y) if y < bands.pinned_height else int(y) + self._state.viewport.scroll)

    def action_at(self, position: QPointF) -> str:
        index = self.band_index_at(position.y())
        if index < 0 or self._state.lanes.bands[index].kind == "process":
            return ""
        first, behind = self._state.lanes.bands.extent(index)
        box = self._name_box(first, behind)
        for number, action in enumerate(self.actions_of(self._state.lanes.bands[first])):
            if self._icon_box(number, box.top(), box.height()).adjusted(-3, -3, 3, 3).contains(position.toPoint()):
                return action
        return ""

    def do(self, action: str, track: int) -> None:
        state = self._state
        {
            "hide": state.lanes.hide,
            "pin": state.lanes.pin,
            "unpin": state.lanes.pin,
            "fold": state.lanes.fold,
            "unfold": state.lanes.fold,
        }[action](track)

    # Hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        position = event.position()
        if self._is_grip(position):
            self._resizes = True
            return
        index = self.band_index_at(position.y())
        if index < 0:
            return
        band = self._state.lanes.bands[index]
        action = self.action_at(position)
        if band.kind == "process":
            self._state.lanes.collapse(band.process)
        elif action:
            self.do(action, band.track)
            self._tip.hide()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._resizes:
            self.width_requested.emit(min(max(int(position.x()), MIN_WIDTH), MAX_WIDTH))
            return
        self.setCursor(Qt.CursorShape.SizeHorCursor if self._is_grip(position) else Qt.CursorShape.ArrowCursor)
        index = self.band_index_at(position.y())
        if index != self._hovered:
            self._hovered = index
            self.update()
        self._show_tip(position, index)

    def _is_grip(self, position: QPointF) -> bool:
        return position.x() >= self.width() - GRIP

    def _show_tip(self, position: QPointF, index: int) -> None:
        action = self.action_at(position)
        if action:
            self._tip.show_at(position.toPoint(), (t(TIPS[action]),))
        elif index >= 0 and (name := self.full_name(index)):
            self._tip.show_at(position.toPoint(), name)
        else:
            self._tip.hide()

    def full_name(self, index: int) -> tuple[str, ...]:
        """Return the full name where it does not fit."""
        band = self._state.lanes.bands[index]
        is_process = band.kind == "process"
        name = self.process_text(band.process) if is_process else self._state.lanes.track_name(band.track)
        return (name,) if self.fontMetrics().horizontalAdvance(name[:200]) > self.width() - 70 else ()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._resizes = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.band_index_at(event.pos().y())
        self._tip.hide()
        if index < 0:
            return
        band = self._state.lanes.bands[index]
        if band.kind == "process":
            self.process_menu_requested.emit(band.process, event.globalPos())
        else:
            self.lane_menu_requested.emit(band.track, event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hovered = -1
        self._tip.hide()
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the view scrolls
