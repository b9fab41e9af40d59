"""Flows as arrows over the lanes: all of them at once, since one after the other takes longer than the picture."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QByteArray, QDataStream, Qt
from PySide6.QtGui import QPainterPath

from backends.timeline.query.arrows import arrows_of, visible_arrows
from ui import theme
from ui.timeline.colors import mixed
from ui.timeline.overlay import clip_to_moving

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QPainter

    from ui.timeline.state import ViewState

    Flows = NDArray[np.int64]
    Points = NDArray[np.float64]

MOST = 160
HEAD, LEAST_BEND = 5, 24.0
FARTHEST = 1e5  # px: Qt counts in small numbers
NO_FLOWS = np.empty((0, 4), np.int64)
ARROWHEAD = np.array([(0, 0), (-HEAD - 2, -HEAD + 1), (-HEAD - 2, HEAD - 1), (0, 0)], np.float64)
DOT = np.array([(-1, -1), (2, -1), (2, 2), (-1, 2), (-1, -1)], np.float64)

_T = np.linspace(0, 1, 17)
# Of a curve of Bezier, as a line through 17 places: Qt takes many times as long for the curve itself. [4, 17]
SHARES = np.array([(1 - _T) ** 3, 3 * (1 - _T) ** 2 * _T, 3 * (1 - _T) * _T**2, _T**3])
ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])  # of QPainterPath in a QDataStream


def flows_of(state: ViewState, index: int) -> Flows:
    """int64 [n, 4]: from row, from time, to row, to time. Those of a slice, both ways; ends in rows that no slice is
    in are left out."""
    if state.trace is None or index < 0:
        return NO_FLOWS
    found: list[tuple[int, int, int, int]] = []
    for one in arrows_of(state.trace, index)[:MOST]:
        if one.other >= 0:
            here = (state.trace.row_of(one.this), one.this_time)
            there = (state.trace.row_of(one.other), one.other_time)
            found.append((*there, *here) if one.incoming else (*here, *there))
    return np.array(found, np.int64).reshape(-1, 4)


def flows_in_view(state: ViewState) -> Flows:
    """Of the kinds that are switched on, as many as can be told apart."""
    trace = state.trace
    if trace is None or not state.flow_kinds:
        return NO_FLOWS
    lanes = np.unique(state.bands.track[state.bands.kind == 1]).tolist()
    found = visible_arrows(trace, int(state.begin), int(state.end), lanes, MOST, sorted(state.flow_kinds))
    ends = np.stack((found.begins_at, found.ends[:, 1], found.leads_to, found.ends[:, 3]), axis=1)
    ends = ends[(found.begins_at >= 0) & (found.leads_to >= 0)]
    ends[:, ::2] = np.searchsorted(trace.row_begin, ends[:, ::2], "right") - 1
    return ends


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Of flows, at one side: float64 [n, 2] px in the canvas. `is_there`: whether its row is shown at all, `is_pinned`:
    at the top, `is_covered`: scrolled away below the pinned ones."""

    at: Points
    is_there: NDArray[np.bool_]
    is_pinned: NDArray[np.bool_]
    is_covered: NDArray[np.bool_]


def ends_of(state: ViewState, rows: NDArray[np.int64], times: NDArray[np.int64], width: int) -> Ends:
    bands = state.bands
    number = bands.of_rows(rows)
    is_there, is_pinned = number >= 0, (number >= 0) & (number < bands.pinned)
    y = bands.top[number] - np.where(is_pinned, 0, state.scroll) + (bands.height[number] - bands.gap[number]) / 2
    x = (times + bands.offset[number] - state.begin) / state.span * width
    at = np.stack((np.clip(x, -FARTHEST, FARTHEST), y), axis=1)
    return Ends(at=at, is_there=is_there, is_pinned=is_pinned, is_covered=~is_pinned & (y < bands.pinned_height))


def draw_flows(
    painter: QPainter, state: ViewState, flows: Flows, size: tuple[int, int], look: tuple[str, float]
) -> None:
    """`size` of the canvas; `look`: a token of the theme and how much of it. Arrows never lie over pinned lanes, unless
    they begin or end there; those that cover each other to the pixel are drawn once."""
    if not len(flows) or not len(state.bands):
        return
    begin, end = _told_apart(state, flows, size[0])
    color = mixed(theme.color(look[0]), theme.color("surface"), look[1])  # a see-through pen is ten times as slow
    for clips in (False, True) if state.bands.pinned else (True,):
        painter.save()
        if clips:
            clip_to_moving(painter, state, *size)
        curves = _curves(begin, end, state.bands.pinned_height, clips)
        for lines, line, fill in (
            (curves, color, None), (_shapes(ARROWHEAD, end, clips), color, color),
            (_shapes(DOT, begin, clips), None, color),
        ):  # fmt: skip
            painter.setPen(line or Qt.PenStyle.NoPen)
            painter.setBrush(fill or Qt.BrushStyle.NoBrush)
            painter.drawPath(_path(lines))
        painter.restore()


def _told_apart(state: ViewState, flows: Flows, width: int) -> tuple[Ends, Ends]:
    begin, end = (ends_of(state, flows[:, side], flows[:, side + 1], width) for side in (0, 2))
    x = np.stack((begin.at[:, 0], end.at[:, 0]))
    seen = begin.is_there & end.is_there & (x.max(axis=0) >= 0) & (x.min(axis=0) <= width)
    seen &= ~(begin.is_covered & end.is_covered)
    kept = np.flatnonzero(seen)
    _, first = np.unique(np.rint(np.hstack((begin.at, end.at))[kept]), axis=0, return_index=True)
    return _some(begin, kept[first]), _some(end, kept[first])


def _some(ends: Ends, which: NDArray[np.int64]) -> Ends:
    return Ends(
        at=ends.at[which], is_there=ends.is_there[which], is_pinned=ends.is_pinned[which],
        is_covered=ends.is_covered[which],
    )  # fmt: skip


def _curves(begin: Ends, end: Ends, fixed: int, clips: bool) -> Points:
    """Float64 [n, 17, 2]. Those with a pinned end are not clipped: they leave for the border of the pinned lanes where
    the other end is covered."""
    chosen = np.flatnonzero((begin.is_pinned | end.is_pinned) != clips)
    (x, y), (x_to, y_to) = (
        (one.at[chosen, 0], np.where(one.is_covered[chosen] & (not clips), fixed, one.at[chosen, 1]))
        for one in (begin, end)
    )
    x_to = x_to - HEAD
    bend = np.maximum(LEAST_BEND, np.abs(x_to + HEAD - x) / 3)
    across = np.stack((x, x + bend, x_to - bend, x_to), axis=1) @ SHARES
    down = np.stack((y, y, y_to, y_to), axis=1) @ SHARES
    return np.stack((across, down), axis=2)


def _shapes(shape: Points, ends: Ends, clips: bool) -> Points:
    """Float64 [n, points, 2]: one at each end that is seen."""
    return ends.at[(ends.is_pinned != clips) & ~ends.is_covered][:, None] + shape


def _path(lines: Points) -> QPainterPath:
    """Lines float64 [n, points, 2] as one path, by way of how Qt writes it: a call for each point takes too long."""
    count, points = lines.shape[:2]
    elements = np.empty((count, points), ELEMENT)
    elements["kind"] = np.arange(points) > 0  # QPainterPath.ElementType: move to the first, line to the others
    elements["x"], elements["y"] = lines[:, :, 0], lines[:, :, 1]
    begins, winding = max(0, (count - 1) * points), Qt.FillRule.WindingFill.value
    data = struct.pack(">i", count * points) + elements.tobytes() + struct.pack(">ii", begins, winding)
    path = QPainterPath()
    if count:
        QDataStream(QByteArray(data)) >> path
    return path
