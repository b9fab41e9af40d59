"""The lanes: the picture with its overlay, and mouse input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from backends.timeline.query.slice_lookup import slice_at
from studio.texts import t
from ui.services.background import run_in_background
from ui.timeline.drawing import pixel_rows
from ui.timeline.drawing.counter_areas import figure_text, value_at
from ui.timeline.drawing.flow_arrows import (
    NO_FLOWS,
    draw_flows,
    flows_in_view,
    flows_of,
)
from ui.timeline.drawing.lanes_picture import LanesPicture, TraceStudy, study_trace
from ui.timeline.drawing.overlay import Overlay
from ui.timeline.drawing.time_text import length_text
from ui.timeline.view.pointer_tip import PointerTip
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QContextMenuEvent, QImage, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from ui.timeline.drawing.flow_arrows import Flows
    from ui.timeline.drawing.frame import DrawPixelRows
    from ui.timeline.state.bands import Band
    from ui.timeline.state.view_state import ViewState

DRAGGED = 4  # px before a press becomes a drag
REACH = 3  # px next to a slice that still hit it
WHEEL = 1.2  # how much one notch zooms
NOTCH = 120
FAST_AFTER_MS = 1500
STUDIED_AT_ONCE = 20_000  # names, twenty times as many slices, fifty as many letters: more take longer than a frame


class LanesCanvas(QWidget):
    """A press without a move selects; a drag draws a range, with Alt or Shift it zooms to it, with Ctrl it moves the
    view."""

    slice_menu_requested = Signal(int, QPoint)
    pointed = Signal(object)  # ns since the origin, None: the pointer is elsewhere
    numba_ready = Signal(object)

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_canvas")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        localize(self.setAccessibleName, "timeline.view.canvas")
        self._state = state
        self.painting: LanesPicture | None = None
        self._lines: DrawPixelRows | None = None
        self._has_started_numba = False
        self._picture: QImage | None = None
        self._ratio = 1.0
        self._flows = NO_FLOWS
        self._all_flows: Flows | None = None
        self.hovered = -1
        self._tip = PointerTip(self)
        self._pressed: QPointF | None = None
        self._pressed_range = (0.0, 0.0)
        self._pressed_scroll = 0
        self._drag = ""
        self.drawn: tuple[float, float] | None = None
        state.trace_changed.connect(self._show_trace)
        for signal in (
            state.viewport.range_changed,
            state.lanes.changed,
            state.viewport.scroll_changed,
            state.appearance_changed,
        ):
            signal.connect(self.draw_again)
        state.hits.changed.connect(self._highlight)
        state.selection.slice_chosen.connect(self._find_flows)
        state.selection.range_chosen.connect(self.update)
        state.marks_changed.connect(self.update)
        theme.notifier().changed.connect(self._follow_theme)
        self.numba_ready.connect(self._use_fast)

    # The picture

    def _show_trace(self) -> None:
        self.painting = None
        if self._state.trace is not None:
            self.painting = LanesPicture(self._state.trace)
            self._study(self.painting)
            if self._lines is not None:
                self.painting.lines_of = self._lines
        self.draw_again()

    def _study(self, painting: LanesPicture) -> None:
        trace = painting.trace
        letters = int(trace.name_begin[-1]) if len(trace.name_begin) else 0
        if max(len(trace.name_family), len(trace.start) // 20, letters // 50) <= STUDIED_AT_ONCE:
            painting.use(study_trace(trace))
        else:
            run_in_background(self, lambda: study_trace(trace), lambda studied: self._use(painting, studied))

    def _use(self, painting: LanesPicture, studied: TraceStudy) -> None:
        painting.use(studied)
        self.draw_again()

    def draw_again(self) -> None:
        self._picture = self._all_flows = None
        self.hovered = -1
        self._tip.hide()
        self.update()

    def _follow_theme(self) -> None:
        if self.painting is not None:
            self.painting.renew_labels()
        self.draw_again()

    def _highlight(self) -> None:
        if self.painting is None or self._state.trace is None:
            return
        self.painting.highlight(self._state.hits.names)
        self.draw_again()

    def _find_flows(self) -> None:
        self._flows = flows_of(self._state, self._state.selection.slice)
        self.update()

    def start_numba(self) -> None:
        """Load numba once, when the window is idle."""
        if not self._has_started_numba:
            self._has_started_numba = True
            pixel_rows.load_in_background(self._announce_numba)

    def _announce_numba(self, lines_of: DrawPixelRows) -> None:
        """Announce the compiled function from the thread that compiled it."""
        try:
            self.numba_ready.emit(lines_of)
        except RuntimeError:  # the window is closed
            return

    def _use_fast(self, lines_of: DrawPixelRows) -> None:
        self._lines = lines_of
        if self.painting is not None:
            self.painting.lines_of = lines_of

    def picture(self) -> QImage | None:
        """Return the picture with as many pixels as the screen has for it."""
        ratio = self.devicePixelRatioF()
        if (self._picture is None or ratio != self._ratio) and self.painting is not None:
            self._ratio = ratio
            self._picture = self.painting.image(self._state, self.width(), self.height(), ratio)
        return self._picture

    def draw_picture(self, painter: QPainter) -> None:
        """Draw the picture pixel by pixel where the target is as sharp as the screen."""
        if (picture := self.picture()) is not None:
            painter.save()
            painter.scale(1 / self._ratio, 1 / self._ratio)
            painter.drawImage(0, 0, picture)
            painter.restore()

    def paintEvent(self, event: QPaintEvent) -> None:
        picture = self.picture()  # first: Qt crashes where a painter outlives an error
        painter = QPainter(self)
        if picture is None:
            painter.fillRect(event.rect(), theme.color("surface"))
        else:
            self.draw_picture(painter)
            self.draw_over(painter)
        painter.end()

    def draw_over(self, painter: QPainter) -> None:
        state, size = self._state, (self.width(), self.height())
        if not len(state.lanes.bands) and state.lanes.has_tracks:
            self._draw_why_empty(painter)
        over = Overlay(painter, state, *size)
        over.marks()
        if state.flow_kinds:
            if self._all_flows is None:
                self._all_flows = flows_in_view(state)
            draw_flows(painter, state, self._all_flows, size, ("edge", 0.7))
        draw_flows(painter, state, self._flows, size, ("text", 0.9))
        over.outline(self.hovered, "text", 1)
        over.outline(state.selection.baseline, "text", 2, Qt.PenStyle.DotLine)
        over.outline(state.selection.slice, "text", 2)
        top = state.lanes.bands.pinned_height
        if self.drawn is not None:
            over.chosen_range(min(self.drawn), max(self.drawn), top, is_zoom=self._drag == "zoom")
        elif state.selection.range is not None:
            over.chosen_range(state.selection.range.begin, state.selection.range.end, top)

    def _draw_why_empty(self, painter: QPainter) -> None:
        text = self._state.lanes.arrangement.filter_text[:80]
        message = t("timeline.view.no_match", text=text) if text else t("timeline.view.all_hidden")
        painter.setPen(theme.color("dim"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, message)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.draw_again()

    # Places

    def time_at(self, x: float) -> float:
        return self._state.viewport.begin + x / max(1, self.width()) * self._state.viewport.span

    def band_at(self, y: float) -> Band | None:
        bands = self._state.lanes.bands
        index = bands.at(int(y) if y < bands.pinned_height else int(y) + self._state.viewport.scroll)
        return bands[index] if index >= 0 else None

    def slice_under(self, position: QPointF) -> int:
        """Return the slice at a position; of rows on top of each other the uppermost; -1: none."""
        band, trace = self.band_at(position.y()), self._state.trace
        if band is None or trace is None:
            return -1
        reach = math.ceil(REACH * self._state.viewport.span / max(1, self.width()))
        time = math.floor(self.time_at(position.x())) - band.offset_ns
        for near in (0, reach):
            for row in reversed(band.rows):
                if (index := slice_at(trace, row, time, near)) >= 0:
                    return index
        return -1

    # Hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed = event.position()
            self._pressed_range = (self._state.viewport.begin, self._state.viewport.end)
            self._pressed_scroll = self._state.viewport.scroll
            self._drag = self._drag_of(event)

    @staticmethod
    def _drag_of(event: QMouseEvent) -> str:
        if event.button() == Qt.MouseButton.MiddleButton or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return "move"
        # Shift too: many window managers take Alt and a drag for themselves.
        zooms = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
        return "zoom" if event.modifiers() & zooms else "range"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            self._hover(event.position())
            return
        moved = event.position() - self._pressed
        if self._drag == "move":
            begin, end = self._pressed_range
            by = -moved.x() / max(1, self.width()) * (end - begin)
            self._state.viewport.show(begin + by, end + by, is_move=True)
            self._state.viewport.scroll_to(self._pressed_scroll - int(moved.y()))
        elif self.drawn is not None or abs(moved.x()) >= DRAGGED:
            self._tip.hide()
            self.drawn = (
                self.time_at(self._pressed.x()),
                self.time_at(min(max(event.position().x(), 0), self.width())),
            )
            self.update()
        self.pointed.emit(self.time_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        pressed, drawn, drag = self._pressed, self.drawn, self._drag
        self._pressed = self.drawn = None
        if drawn is not None:
            self._end_drag(min(drawn), max(drawn), drag)
        elif drag == "range" and (event.position() - pressed).manhattanLength() < 2 * DRAGGED:
            self._state.selection.select(self.slice_under(event.position()))
        self.update()

    def _end_drag(self, begin: float, end: float, drag: str) -> None:
        if drag == "zoom":
            self._state.viewport.show(begin, end)
        else:
            self._state.choose_drawn(begin, end)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.slice_under(event.position())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._state.selection.select(index)
            self._state.viewport.fit(*self._state.times_of(index))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.slice_under(QPointF(event.pos()))
        if index >= 0:
            self._state.selection.select(index)
        self._tip.hide()
        self.slice_menu_requested.emit(index, event.globalPos())

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        notches, aside = turned.y() / NOTCH, turned.x() / NOTCH
        modifiers = event.modifiers()
        state = self._state
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            state.viewport.zoom(WHEEL**-notches, self.time_at(event.position().x()))
        elif modifiers & Qt.KeyboardModifier.ShiftModifier or (aside and not notches):
            state.viewport.pan(-(notches + aside) * state.viewport.span * 0.08)
        else:
            self.scroll_by(-round(notches * 60))
        self._hover(event.position())
        event.accept()

    def scroll_by(self, by: int) -> None:
        room = max(0, self._state.lanes.bands.height_in_all - self.height())
        self._state.viewport.scroll_to(min(max(self._state.viewport.scroll + by, 0), room))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._tip.hide()
        self._point(-1)
        self.pointed.emit(None)

    def _hover(self, position: QPointF) -> None:
        self.pointed.emit(self.time_at(position.x()))
        index = self.slice_under(position)
        self._point(index)
        lines = self._tip_lines(index) if index >= 0 else self._counter_lines(position)
        if lines:
            self._tip.show_at(position.toPoint(), lines)
        else:
            self._tip.hide()

    def _point(self, index: int) -> None:
        if index != self.hovered:
            boxes = [self._box(self.hovered), self._box(index)]
            self.hovered = index
            for box in boxes:
                if box is not None:
                    self.update(box.toAlignedRect().adjusted(-2, -2, 2, 2))

    def _box(self, index: int) -> QRectF | None:
        return Overlay(QPainter(), self._state, self.width(), self.height()).box(index) if index >= 0 else None

    def _tip_lines(self, index: int) -> tuple[str, ...]:
        trace = self._state.trace
        assert trace is not None
        start, end = int(trace.start[index]), int(trace.end[index])
        length = length_text(end - start) if end > start else t("timeline.view.instant")
        lane = self._state.lanes.track_name(trace.lane_of(index))
        return (trace.name_text(int(trace.name[index])) or t("timeline.view.no_name"), f"{length} · {lane}")

    def _counter_lines(self, position: QPointF) -> tuple[str, ...]:
        band = self.band_at(position.y())
        if band is None or band.kind != "counter" or self._state.trace is None:
            return ()
        series = self._state.lanes.series_of(band.track)
        assert series is not None
        value = value_at(self._state.trace, series, self.time_at(position.x()), band.offset_ns)
        return (series.name, "–" if value is None or not np.isfinite(value) else figure_text(value, series.unit))
