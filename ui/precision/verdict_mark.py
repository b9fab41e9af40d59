"""Verdicts as words, colours and small shapes: the shape says what the colour says."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPen, QPixmap, QPolygonF

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
from ui.widgets import theme

SIZE = 14
VERDICT_WORDS = (
    "precision.verdict.equal", "precision.verdict.explained", "precision.verdict.follows",
    "precision.verdict.differs", "precision.verdict.first", "precision.verdict.missing", "precision.verdict.extra",
    "precision.verdict.unknown",
)  # fmt: skip
VERDICT_HINTS = (
    "precision.verdict.equal_hint", "precision.verdict.explained_hint", "precision.verdict.follows_hint",
    "precision.verdict.differs_hint", "precision.verdict.first_hint", "precision.verdict.missing_hint",
    "precision.verdict.extra_hint", "precision.verdict.unknown_hint",
)  # fmt: skip
VERDICT_TOKENS = ("dim", "good", "warning", "bad", "bad", "accent", "accent", "dim")
WORST_FIRST = (FIRST, DIFFERS, MISSING, EXTRA, FOLLOWS, UNKNOWN, EXPLAINED, EQUAL)
"""The order in which verdicts matter: a module has the worst verdict of its calls."""
NOTABLE = (FIRST, DIFFERS, MISSING, EXTRA)
"""The verdicts that F8 goes to."""


def verdict_word(verdict: int) -> str:
    return t(VERDICT_WORDS[verdict])


def paint_mark(painter: QPainter, box: QRectF, verdict: int, ground: str = "surface") -> None:
    """Paint the mark of a verdict: a dot, ring, triangle, square, diamond, ring with a minus or plus, or a cross."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    color = theme.color(VERDICT_TOKENS[verdict])
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if verdict == EQUAL:
        painter.drawEllipse(_inside(box, 0.28))
    elif verdict in SHAPES:
        painter.drawPolygon(QPolygonF([_at(box, x, y) for x, y in SHAPES[verdict]]))
    elif verdict != UNKNOWN:
        painter.setPen(QPen(color, 1.6))
        painter.setBrush(theme.color(ground))
        painter.drawEllipse(_inside(box, 0.22 if verdict == EXPLAINED else 0.1))
    painter.setPen(QPen(color, 1.6, c=Qt.PenCapStyle.RoundCap))
    for ends in STROKES.get(verdict, ()):
        painter.drawPolyline([_at(box, x, y) for x, y in ends])
    painter.restore()


SHAPES = {
    FOLLOWS: ((0.5, 0.12), (0.94, 0.88), (0.06, 0.88)),
    DIFFERS: ((0.14, 0.14), (0.86, 0.14), (0.86, 0.86), (0.14, 0.86)),
    FIRST: ((0.5, -0.04), (1.04, 0.5), (0.5, 1.04), (-0.04, 0.5)),
}
STROKES = {
    MISSING: (((0.32, 0.5), (0.68, 0.5)),),
    EXTRA: (((0.32, 0.5), (0.68, 0.5)), ((0.5, 0.32), (0.5, 0.68))),
    UNKNOWN: (((0.3, 0.3), (0.7, 0.7)), ((0.7, 0.3), (0.3, 0.7))),
}


def _inside(box: QRectF, share: float) -> QRectF:
    by = box.width() * share
    return box.adjusted(by, by, -by, -by)


def _at(box: QRectF, x: float, y: float) -> QPointF:
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height())


def mark_pixmap(verdict: int, size: int = SIZE, ratio: int = 2) -> QPixmap:
    """Return the mark in the colours of the current theme."""
    return _pixmap(verdict, size, ratio, theme.current())


@lru_cache(maxsize=64)
def _pixmap(verdict: int, size: int, ratio: int, _theme: str) -> QPixmap:
    picture = QPixmap(size * ratio, size * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        paint_mark(painter, QRectF(1, 1, size - 2, size - 2), verdict)
    return picture


def mark_icon(verdict: int) -> QIcon:
    """Return the mark as an icon; the caller asks again when the theme changes."""
    icon = QIcon(mark_pixmap(verdict))
    icon.addPixmap(mark_pixmap(verdict), QIcon.Mode.Selected)
    return icon
