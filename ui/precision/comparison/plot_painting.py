"""Paints the axes, the band of explained errors and the calls; the picture is cached until the range in view
changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

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
from studio.texts import t
from ui.precision.comparison.plot_points import MAX_MARKS
from ui.precision.comparison.plot_scale import LANE
from ui.precision.row_text import format_count
from ui.precision.verdict_mark import VERDICT_TOKENS, mark_pixmap
from ui.widgets import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Pass
    from ui.precision.comparison.plot_points import Points, Region
    from ui.precision.comparison.plot_scale import Scale

PAINTED = (EQUAL, UNKNOWN, EXPLAINED, FOLLOWS, EXTRA, MISSING, DIFFERS, FIRST)
"""The worst verdict is painted last, on top."""
SIZES = {EQUAL: 9, UNKNOWN: 9, EXPLAINED: 10, FOLLOWS: 10, EXTRA: 13, MISSING: 13, DIFFERS: 11, FIRST: 15}
MAX_REGIONS = 60
TICK = 11
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 54, 14, 40, 40


def paint_plot(
    painter: QPainter, points: Points, passes: tuple[Pass, ...], scale: Scale, flag: tuple[float, float] | None
) -> None:
    """Paint the plot. `flag` is the span in px, left to right, of the flag above it, which no name may run under."""
    _paint_limit(painter, points, scale)
    _paint_grid(painter, scale)
    _paint_regions(painter, points, passes, scale, flag)
    for verdict in PAINTED:
        _paint_calls(painter, points, scale, verdict)
    _paint_ticks(painter, scale)


def _paint_limit(painter: QPainter, points: Points, scale: Scale) -> None:
    """Paint the band of explained errors and the line above it."""
    x, y = points.limit(scale)
    if len(x) < 2:
        return
    line = QPolygonF([QPointF(at, height) for at, height in zip(x.tolist(), y.tolist(), strict=True)])
    band = QPolygonF(line)
    band.append(QPointF(float(x[-1]), scale.bottom + LANE))
    band.append(QPointF(float(x[0]), scale.bottom + LANE))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("good_soft"))
    painter.drawPolygon(band)
    painter.setPen(QPen(_soft("good", 0.6), 1))
    painter.drawPolyline(line)


def _paint_grid(painter: QPainter, scale: Scale) -> None:
    right = scale.left + scale.width
    painter.setPen(QPen(theme.color("line"), 1))
    for level in (*_ticks(scale), -np.inf, np.inf):
        y = float(scale.y(np.float64(level)))
        painter.drawLine(QLineF(scale.left, y, right, y))


def _paint_ticks(painter: QPainter, scale: Scale) -> None:
    font = painter.font()
    font.setPixelSize(TICK)
    painter.setFont(font)
    painter.setPen(theme.color("dim"))
    labels = [(level, f"1e{level}" if level else "1") for level in _ticks(scale)]
    for level, text in (*labels, (-np.inf, "0"), (np.inf, "∞")):
        y = float(scale.y(np.float64(level)))
        box = QRectF(0, y - 8, scale.left - 8, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
    _paint_numbers(painter, scale)


def _ticks(scale: Scale) -> list[int]:
    room = max(1, (scale.bottom - scale.top) // 22)
    every = max(1, -(-(scale.high - scale.low + 1) // room))
    return [level for level in range(scale.low, scale.high + 1) if level % every == 0]


def _paint_numbers(painter: QPainter, scale: Scale) -> None:
    """Paint the numbers of calls below the plot."""
    span, y = scale.end - scale.begin, scale.bottom + LANE + 6
    step = _round_step(span / max(2, scale.width / 110))
    first = int(np.ceil(scale.begin / step)) * step
    for number in range(first, int(scale.end) + 1, step):
        x = float(scale.x(number - 1))
        if number and scale.left + 4 <= x <= scale.left + scale.width:
            text = format_count(number)
            half = painter.fontMetrics().horizontalAdvance(text) / 2 + 1
            middle = min(x, scale.left + scale.width + MARGIN_RIGHT - half)
            painter.drawText(QRectF(middle - half, y, 2 * half, 16), Qt.AlignmentFlag.AlignHCenter, text)


def _round_step(minimum: float) -> int:
    power = 10 ** max(0, int(np.floor(np.log10(max(minimum, 1)))))
    return int(max(1, next(times * power for times in (1, 2, 5, 10) if times * power >= minimum)))


def _paint_regions(
    painter: QPainter, points: Points, passes: tuple[Pass, ...], scale: Scale, flag: tuple[float, float] | None
) -> None:
    """Paint a line where the direction changes or a pass begins, and its name above it where there is room."""
    visible = [region for region in points.regions if region.end > scale.begin and region.begin < scale.end]
    if len(visible) > MAX_REGIONS:
        visible = [region for region in visible if region.is_new]
    font = painter.font()
    font.setPixelSize(12)
    painter.setFont(font)
    for region in visible[:MAX_REGIONS]:
        _paint_region(painter, region, passes, scale, flag or (0.0, 0.0))


def _paint_region(
    painter: QPainter, region: Region, passes: tuple[Pass, ...], scale: Scale, flag: tuple[float, float]
) -> None:
    left = float(scale.x(region.begin - 0.5))
    begin, end = max(left, scale.left), min(float(scale.x(region.end - 0.5)), scale.left + scale.width)
    if left > scale.left:
        style = Qt.PenStyle.SolidLine if region.is_new else Qt.PenStyle.DashLine
        painter.setPen(QPen(theme.color("edge" if region.is_new else "rim"), 1, style))
        painter.drawLine(QLineF(left, 4, left, scale.bottom + LANE))
    painter.setPen(theme.color("dim"))
    rooms = ((begin, end),) if flag[1] < begin or flag[0] > end else ((begin, flag[0]), (flag[1], end))
    for text in _region_texts(region, passes):
        for left, right in rooms:
            if painter.fontMetrics().horizontalAdvance(text) + 12 <= right - left:
                painter.drawText(QRectF(left + 6, 3, right - left - 8, 18), Qt.AlignmentFlag.AlignVCenter, text)
                return


def _region_texts(region: Region, passes: tuple[Pass, ...]) -> tuple[str, ...]:
    """Return the names that fit a region, the longest first."""
    direction = t("precision.view.backward") if region.is_backward else t("precision.view.forward")
    if len(passes) < 2:
        return (direction,)
    dump_pass = passes[region.number]
    named = t("precision.view.pass", step=dump_pass.step, rank=dump_pass.rank)
    if not region.is_new:
        return (f"{named} · {direction}", direction)
    is_step = len({other.rank for other in passes}) == 1
    short = (
        t("precision.view.only_step", step=dump_pass.step)
        if is_step
        else t("precision.view.only_rank", rank=dump_pass.rank)
    )
    return (f"{named} · {direction}", named, short)


def _paint_calls(painter: QPainter, points: Points, scale: Scale, verdict: int) -> None:
    calls = points.in_view(verdict, scale)
    if not len(calls):
        return
    if len(calls) > MAX_MARKS:
        _paint_columns(painter, points, scale, verdict, calls)
    if len(calls) <= MAX_MARKS or verdict in (FIRST, DIFFERS, MISSING, EXTRA):
        marked = points.marks(verdict, calls, scale)
        size = SIZES[verdict]
        picture = mark_pixmap(verdict, size)
        x, y = scale.x(marked) - size / 2, scale.y(points.levels[marked]) - size / 2
        for left, top in zip(x.tolist(), y.tolist(), strict=True):
            painter.drawPixmap(QPointF(left, top), picture)


def _paint_columns(painter: QPainter, points: Points, scale: Scale, verdict: int, calls: NDArray[np.int64]) -> None:
    columns = points.columns(calls, scale)
    painter.setPen(QPen(_soft(VERDICT_TOKENS[verdict], 0.55), 1))
    top, bottom = columns.top - 0.5, columns.bottom + 0.5
    painter.drawLines(
        [
            QLineF(x, high, x, low)
            for x, high, low in zip(columns.x.tolist(), top.tolist(), bottom.tolist(), strict=True)
        ]
    )
    zero = float(scale.bottom + LANE)
    breaks = np.flatnonzero(np.diff(columns.zeros) > 1)
    begins, ends = np.r_[columns.zeros[:1], columns.zeros[breaks + 1]], np.r_[columns.zeros[breaks], columns.zeros[-1:]]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        painter.fillRect(QRectF(begin, zero - 1.5, end - begin + 1, 3), theme.color(VERDICT_TOKENS[verdict]))


def _soft(token: str, share: float) -> QColor:
    color = theme.color(token)
    color.setAlphaF(share)
    return color
