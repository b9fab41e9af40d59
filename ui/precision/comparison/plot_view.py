"""The error of each call in execution order. The wheel zooms, dragging moves, a click selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.texts import t
from ui.precision.comparison.plot_painting import (
    MARGIN_BOTTOM,
    MARGIN_LEFT,
    MARGIN_RIGHT,
    MARGIN_TOP,
    paint_plot,
)
from ui.precision.comparison.plot_points import Points
from ui.precision.comparison.plot_scale import (
    LANE,
    Scale,
    clamp_range,
    decade_range,
    zoom_range,
)
from ui.precision.row_text import format_figure, golden_name, has_target
from ui.precision.verdict_mark import verdict_word
from ui.widgets import theme
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from backends.precision.compare.comparison import Comparison
    from ui.precision.comparison.selection import Selection

REACH = 14
DRAGGED = 4
STEP = 1.25


class PlotView(QWidget):
    """`range` is the calls in view as (first, after the last), fractions of a call included."""

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self.setObjectName("precision_plot")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(130)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        localize(self.setAccessibleName, "precision.view.plot")
        self._selection = selection
        self._comparison: Comparison | None = None
        self.points: Points | None = None
        self._decades = (-8, 0)
        self.range = (0.0, 1.0)
        self._picture: QPixmap | None = None
        self._hovered = -1
        self._pressed: QPointF | None = None
        self._pressed_range = self.range
        self._box: QRectF | None = None
        selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self._draw_again)

    def sizeHint(self) -> QSize:
        return QSize(700, 210)

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison, self.points = comparison, Points(comparison)
        self._decades = decade_range(self.points.levels, self.points.limits)
        self._hovered = -1
        self.show_all()

    def show_all(self) -> None:
        self._show_range((0.0, float(max(1, self.points.count if self.points else 1))))

    def scale(self) -> Scale:
        begin, end = self.range
        low, high = self._decades
        return Scale(
            begin=begin,
            end=end,
            left=MARGIN_LEFT,
            width=max(10, self.width() - MARGIN_LEFT - MARGIN_RIGHT),
            top=MARGIN_TOP,
            bottom=max(MARGIN_TOP + 20, self.height() - MARGIN_BOTTOM),
            low=low,
            high=high,
        )

    def point_of(self, call: int) -> QPointF:
        """Return where a call is drawn."""
        assert self.points is not None
        scale = self.scale()
        return QPointF(float(scale.x(call)), float(scale.y(self.points.levels[call])))

    def tooltip_of(self, call: int) -> str:
        """Return the text of a call's tooltip."""
        comparison = self._comparison
        assert comparison is not None
        name = comparison.names[call] if has_target(comparison, call) else golden_name(comparison, call)
        error, limit = (
            format_figure(float(comparison.call_error[call])),
            format_figure(float(comparison.call_allowed[call])),
        )
        verdict = verdict_word(int(comparison.call_verdict[call]))
        return t("precision.view.point", number=call + 1, name=name, verdict=verdict, error=error, limit=limit)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            if self.points is not None and self.points.count:
                if self._picture is None:
                    self._picture = self._draw_picture()
                painter.drawPixmap(0, 0, self._picture)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._paint_over(painter)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(theme.color("accent"), 2))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def _draw_picture(self) -> QPixmap:
        assert self._comparison is not None
        assert self.points is not None
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            painter.setFont(self.font())
            scale = self.scale()
            painter.setClipRect(QRectF(0, 0, scale.left + scale.width + MARGIN_RIGHT, self.height()))
            paint_plot(painter, self.points, self._comparison.passes, scale, self._flag())
        return picture

    def _paint_over(self, painter: QPainter) -> None:
        scale, flag = self.scale(), self._flag()
        first = self._comparison.first if self._comparison else None
        if first is not None and flag is not None:
            self._paint_flag(painter, flag, float(scale.x(first.call)), scale.bottom + LANE)
        for call, token in ((self._hovered, "edge"), (self._selection.call, "accent")):
            if self._is_in_view(call):
                point = self.point_of(call)
                painter.setPen(QPen(theme.color(token), 1))
                painter.drawLine(QLineF(point.x(), MARGIN_TOP - LANE - 4, point.x(), scale.bottom + LANE))
                painter.setPen(QPen(theme.color(token), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(point, 8, 8)
        if self._box is not None:
            ground = theme.color("accent")
            ground.setAlphaF(0.12)
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.setBrush(ground)
            painter.drawRect(self._box)

    def _flag(self) -> tuple[float, float] | None:
        """Return left and right of the first divergence's flag, None where it is out of view.

        The flag begins at its pole; it hangs to the left where the right edge is near."""
        first = self._comparison.first if self._comparison else None
        if first is None or not self._is_in_view(first.call):
            return None
        x = float(self.scale().x(first.call))
        width = QFontMetrics(_flag_font(self.font())).horizontalAdvance(t("precision.view.first")) + 14
        return (x - width, x) if x + width > self.width() - 2 else (x, x + width)

    def _paint_flag(self, painter: QPainter, flag: tuple[float, float], x: float, bottom: float) -> None:
        painter.setFont(_flag_font(painter.font()))
        left, right = flag
        is_right = x == left
        far, notch = (right, right - 5) if is_right else (left, left + 5)
        painter.setPen(QPen(theme.color("bad"), 1))
        painter.drawLine(QLineF(x, 4, x, bottom))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bad"))
        ends = ((x, 4), (far, 4), (notch, 12), (far, 20), (x, 20))
        painter.drawPolygon(QPolygonF([QPointF(*end) for end in ends]))
        painter.setPen(theme.color("surface"))
        box = QRectF(min(x, notch), 4, right - left - 5, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, t("precision.view.first"))

    def _is_in_view(self, call: int) -> bool:
        return self.points is not None and 0 <= call < self.points.count and self.range[0] - 1 < call < self.range[1]

    def _draw_again(self) -> None:
        self._picture = None
        self.update()

    def _show_range(self, calls: tuple[float, float]) -> None:
        self.range = calls
        self._draw_again()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw_again()

    def retranslate(self) -> None:
        self._draw_again()

    def _follow(self) -> None:
        """Bring what was selected elsewhere into view."""
        call, (begin, end) = self._selection.call, self.range
        if self.points is not None and call >= 0 and not begin <= call < end:
            self.range = clamp_range(call - (end - begin) / 2, end - begin, self.points.count)
            self._picture = None
        if call >= 0 and self._comparison is not None:
            self.setAccessibleDescription(self.tooltip_of(call))
        self.update()

    def step(self, by: int) -> None:
        """Select the next or the previous call."""
        if self.points is not None and self.points.count:
            call = self._selection.call
            self._selection.select(min(max(call + by, 0), self.points.count - 1) if call >= 0 else 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.points is None:
            return
        turned = event.angleDelta()
        begin, end = self.range
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y()):
            by = -(turned.x() or turned.y()) / 1200 * (end - begin)
            self._show_range(clamp_range(begin + by, end - begin, self.points.count))
        else:
            self._zoom(self.scale().call(event.position().x()), STEP ** (-turned.y() / 120))
        event.accept()

    def _zoom(self, at: float, factor: float) -> None:
        assert self.points is not None
        begin, end = self.range
        self._show_range(zoom_range(begin, end, min(max(at, begin), end), factor, max(1, self.points.count)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._pressed, self._pressed_range = event.position(), self.range

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            self._hover(event.position(), event.globalPosition().toPoint())
        elif self._box is not None or self._is_boxing(event):
            self._draw_box(event.position())
        elif abs(event.position().x() - self._pressed.x()) >= DRAGGED:
            self._drag(event.position().x() - self._pressed.x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, box, self._pressed, self._box = self._pressed, self._box, None, None
        if box is not None:
            self._zoom_to(box)
        elif pressed is not None and abs(event.position().x() - pressed.x()) < DRAGGED and self.points is not None:
            call = self.points.nearest(event.position().x(), event.position().y(), self.scale(), REACH)
            if call >= 0:
                self._selection.select(call)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.update()

    def _is_boxing(self, event: QMouseEvent) -> bool:
        """Return whether a drag draws a box: with Shift or the right button, or where everything is in view anyway."""
        assert self._pressed is not None
        if abs(event.position().x() - self._pressed.x()) < DRAGGED or self.points is None:
            return False
        is_all = self.range[1] - self.range[0] >= self.points.count
        with_shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        return bool(is_all or with_shift or event.buttons() & Qt.MouseButton.RightButton)

    def _draw_box(self, position: QPointF) -> None:
        assert self._pressed is not None
        scale = self.scale()
        left, right = sorted((self._pressed.x(), position.x()))
        left, right = max(left, scale.left), min(right, scale.left + scale.width)
        top = MARGIN_TOP - LANE - 4
        self._box = QRectF(left, top, max(0.0, right - left), scale.bottom + LANE - top)
        self.update()

    def _zoom_to(self, box: QRectF) -> None:
        scale = self.scale()
        begin, end = scale.call(box.left()), scale.call(box.right())
        if end - begin > 0 and self.points is not None:
            self._zoom((begin + end) / 2, (end - begin) / (scale.end - scale.begin))
            span = self.range[1] - self.range[0]
            self._show_range(clamp_range((begin + end - span) / 2, span, self.points.count))

    def _drag(self, by: float) -> None:
        assert self.points is not None
        begin, end = self._pressed_range
        self._show_range(clamp_range(begin - by * (end - begin) / self.scale().width, end - begin, self.points.count))

    def _hover(self, position: QPointF, on_screen: QPoint) -> None:
        if self.points is None or not self.points.count:
            return
        call = self.points.nearest(position.x(), position.y(), self.scale(), REACH)
        if call != self._hovered:
            self._hovered = call
            self.update()
            if call >= 0:
                QToolTip.showText(on_screen, plain_tip(self.tooltip_of(call)), self)
            else:
                QToolTip.hideText()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_PageDown: 20, Qt.Key.Key_PageUp: -20}
        zooms = {Qt.Key.Key_Plus: 1 / STEP, Qt.Key.Key_Equal: 1 / STEP, Qt.Key.Key_Minus: STEP}
        key = Qt.Key(event.key())
        if key in steps:
            self.step(steps[key])
        elif key in zooms and self.points is not None:
            at = self._selection.call if self._is_in_view(self._selection.call) else sum(self.range) / 2
            self._zoom(at, zooms[key])
        elif key == Qt.Key.Key_Home:
            self.show_all()
        else:
            super().keyPressEvent(event)


def _flag_font(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(11)
    return small
