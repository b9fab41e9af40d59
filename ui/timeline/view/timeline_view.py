"""The timeline view: minimap, ruler, names and lanes, and their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QGridLayout, QScrollBar, QWidget

from studio.texts import t
from ui.timeline.drawing.labels import label_font
from ui.timeline.drawing.time_text import exact_text, length_text
from ui.timeline.view import key_actions
from ui.timeline.view.gutter import Gutter
from ui.timeline.view.keys import action_of
from ui.timeline.view.lanes_canvas import FAST_AFTER_MS, LanesCanvas
from ui.timeline.view.minimap import Minimap
from ui.timeline.view.ruler import Ruler
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent

    from ui.timeline.state.view_state import ViewState


class Corner(QWidget):
    """The corner above the names: the visible length, the pointer's time, and what the ticks are added to."""

    def __init__(self, state: ViewState, ruler: Ruler) -> None:
        super().__init__()
        self.setObjectName("timeline_corner")
        self._state, self._ruler = state, ruler
        self._pointed: float | None = None
        for signal in (state.trace_changed, state.viewport.range_changed, state.appearance_changed):
            signal.connect(self.update)
        theme.notifier().changed.connect(self.update)

    def retranslate(self) -> None:
        self.update()

    def point(self, time: float | None) -> None:
        self._pointed = time
        self.update()

    def lines(self) -> tuple[str, ...]:
        base = self._ruler.base_text()
        pointed = "" if self._pointed is None else exact_text(round(self._pointed))
        begin, end = self._state.viewport.in_view
        return (t("timeline.view.in_view", length=length_text(end - begin)), pointed, base)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), theme.color("surface"))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme.color("line"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("rim"))
        painter.setFont(label_font())
        if self._state.trace is None:
            return
        for number, (line, y) in enumerate(zip(self.lines(), (14, 36, self.height() - 24), strict=True)):
            painter.setPen(theme.color("text" if number == 2 else "dim"))
            aside = Qt.AlignmentFlag.AlignRight if number == 2 else Qt.AlignmentFlag.AlignLeft
            box = QRect(10, y, self.width() - 20, 20)
            painter.drawText(box, aside | Qt.AlignmentFlag.AlignVCenter, line)


class TimelineView(QWidget):
    """The lanes with their names, ruler and minimap, and the keys that work on them.

    `note_requested`, `pane_requested`, `keys_requested`: keys for things outside the view. Lanes are numbered as
    tracks: see `LaneDisplay`.
    """

    lane_menu_requested = Signal(int, QPoint)
    process_menu_requested = Signal(int, QPoint)
    slice_menu_requested = Signal(int, QPoint)
    mark_chosen = Signal(int)
    note_requested = Signal()
    pane_requested = Signal()
    keys_requested = Signal()

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_view")
        self.state = state
        self.minimap, self.ruler, self.gutter, self.canvas = (
            Minimap(state),
            Ruler(state),
            Gutter(state),
            LanesCanvas(state),
        )
        self.corner = Corner(state, self.ruler)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.setObjectName("timeline_scroll")
        self._pointed: float | None = None
        self._fit_soon, self._wake_soon = QTimer(self), QTimer(self)
        self._lay_out()
        self._connect()
        self._actions = self._table()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self.corner, 0, 0, 2, 1)
        grid.addWidget(self.minimap, 0, 1)
        grid.addWidget(self.ruler, 1, 1)
        grid.addWidget(self.gutter, 2, 0)
        grid.addWidget(self.canvas, 2, 1)
        grid.addWidget(self.bar, 2, 2)
        grid.setRowStretch(2, 1)
        grid.setColumnStretch(1, 1)

    def _connect(self) -> None:
        state = self.state
        self.gutter.lane_menu_requested.connect(self.lane_menu_requested)
        self.gutter.process_menu_requested.connect(self.process_menu_requested)
        self.gutter.width_requested.connect(self.gutter.setFixedWidth)
        self.canvas.slice_menu_requested.connect(self.slice_menu_requested)
        self.canvas.pointed.connect(self._point)
        self.ruler.mark_chosen.connect(self.mark_chosen)
        self.bar.valueChanged.connect(state.viewport.scroll_to)
        state.viewport.scroll_changed.connect(self._follow_scroll)
        state.lanes.changed.connect(self._fit_bar)
        state.selection.slice_sought.connect(self._scroll_to_slice)
        state.lanes_focus_requested.connect(self.canvas.setFocus)
        for timer, due in ((self._fit_soon, self._fit_bar), (self._wake_soon, self.canvas.start_numba)):
            timer.setSingleShot(True)
            timer.timeout.connect(due)

    def _point(self, time: float | None) -> None:
        self._pointed = time
        self.ruler.point(time)
        self.corner.point(time)

    def _follow_scroll(self) -> None:
        self.bar.setValue(self.state.viewport.scroll)

    def _fit_bar(self) -> None:
        height = self.canvas.height()
        self.bar.setRange(0, max(0, self.state.lanes.bands.height_in_all - height))
        self.bar.setPageStep(max(1, height - self.state.lanes.bands.pinned_height))
        self.bar.setSingleStep(40)
        self.bar.setVisible(self.bar.maximum() > 0)
        self.state.viewport.scroll_to(min(self.state.viewport.scroll, self.bar.maximum()))

    def _scroll_to_slice(self, index: int) -> None:
        """Scroll the row of a selected slice into view."""
        state = self.state
        number = state.lanes.bands.of_row(state.trace.row_of(index)) if state.trace is not None and index >= 0 else -1
        if number < 0:
            return
        band = state.lanes.bands[number]
        room = self.canvas.height()
        top = band.top - state.viewport.scroll
        if not band.is_pinned and not state.lanes.bands.pinned_height <= top <= room - band.height:
            self.canvas.scroll_by(int(top - (room + state.lanes.bands.pinned_height) / 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_soon.start(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_bar()
        self._wake_soon.start(FAST_AFTER_MS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the lanes with the wheel over the names."""
        self.canvas.scroll_by(-round(event.angleDelta().y() / 2))
        event.accept()

    # Keys

    def event(self, event: QEvent) -> bool:
        """Claim keys of the view before shortcuts of the window do, unless a field is being typed into."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_ours = action_of(event.key(), event.modifiers()) is not None
            event.setAccepted(is_ours)
            return is_ours
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = action_of(event.key(), event.modifiers())
        if action is None or not self.do(action):
            super().keyPressEvent(event)

    def do(self, action: str) -> bool:
        """Do an action by its name in `keys`. Returns False where there was nothing to do, and the key is for
        others."""
        return self._actions[action]() is not False

    def _table(self) -> dict[str, Callable[[], object]]:
        state, canvas = self.state, self.canvas
        return {
            "zoom_in": lambda: key_actions.zoom(state, 1 / key_actions.ZOOM, self._pointed),
            "zoom_out": lambda: key_actions.zoom(state, key_actions.ZOOM, self._pointed),
            "pan_left": lambda: state.viewport.pan(-state.viewport.span * key_actions.PAN),
            "pan_right": lambda: state.viewport.pan(state.viewport.span * key_actions.PAN),
            "scroll_up": lambda: canvas.scroll_by(-60),
            "scroll_down": lambda: canvas.scroll_by(60),
            "page_up": lambda: canvas.scroll_by(-canvas.height() * 4 // 5),
            "page_down": lambda: canvas.scroll_by(canvas.height() * 4 // 5),
            "go_begin": lambda: key_actions.go_begin(state),
            "go_end": lambda: key_actions.go_end(state),
            "fit": state.fit_selection,
            "zoom_back": state.viewport.zoom_back,
            "show_whole": state.viewport.show_whole,
            "mark_range": lambda: key_actions.mark_range(state),
            "note": self.note_requested.emit,
            "previous_slice": lambda: key_actions.previous_in_lane(state),
            "next_slice": lambda: key_actions.next_in_lane(state),
            "next_hit": lambda: state.go_to_hit(state.hits.current + 1),
            "previous_hit": lambda: state.go_to_hit(max(state.hits.current, 0) - 1),
            "follow": lambda: key_actions.follow(state, back=True),
            "follow_on": lambda: key_actions.follow(state, back=False),
            "baseline": lambda: key_actions.toggle_baseline(state),
            "align_start": lambda: key_actions.align(state, 0),
            "align_end": lambda: key_actions.align(state, 1),
            "rows_higher": lambda: key_actions.change_rows(state, key_actions.ROW_STEP),
            "rows_lower": lambda: key_actions.change_rows(state, -key_actions.ROW_STEP),
            "clear": state.clear,
            "pane": self.pane_requested.emit,
            "keys": self.keys_requested.emit,
        }

    # The picture to be exported

    def paint(self, painter: QPainter) -> None:
        """Paint everything as visible, but for what follows the pointer."""
        canvas = self.canvas
        pointed, self._pointed = self._pointed, None
        hovered, canvas.hovered = canvas.hovered, -1
        self._point(None)
        for part, paint in (
            (self.minimap, self.minimap.paint), (self.ruler, self.ruler.paint), (self.corner, self.corner.paint),
            (self.gutter, self.gutter.paint), (canvas, self._paint_canvas),
        ):  # fmt: skip
            painter.save()
            painter.translate(part.pos())
            painter.setClipRect(part.rect())
            painter.fillRect(part.rect(), theme.color("surface"))
            if self.state.trace is not None:
                paint(painter)
            painter.restore()
        canvas.hovered = hovered
        self._point(pointed)

    def _paint_canvas(self, painter: QPainter) -> None:
        self.canvas.draw_picture(painter)
        self.canvas.draw_over(painter)
