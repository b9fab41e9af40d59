"""Flows as arrows over the lanes. All are drawn at once, since one after the other takes longer than the whole
picture."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QByteArray, QDataStream, Qt
from PySide6.QtGui import QPainterPath

from backends.timeline.query.arrows import arrows_of, visible_arrows
from ui.timeline.drawing.colors import mixed
from ui.timeline.drawing.overlay import clip_to_moving
from ui.widgets import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QPainter

    from ui.timeline.state.view_state import ViewState

    Flows = NDArray[np.int64]
    Points = NDArray[np.float64]

MAX_ARROWS = 160
HEAD_PX, MIN_BEND = 5, 24.0
FARTHEST_PX = 1e5  # px: Qt counts in small numbers
NO_FLOWS = np.empty((0, 4), np.int64)
ARROWHEAD = np.array([(0, 0), (-HEAD_PX - 2, -HEAD_PX + 1), (-HEAD_PX - 2, HEAD_PX - 1), (0, 0)], np.float64)
DOT = np.array([(-1, -1), (2, -1), (2, 2), (-1, 2), (-1, -1)], np.float64)

_T = np.linspace(0, 1, 17)
# Of a curve of Bezier, as a line through 17 places: Qt takes many times as long for the curve itself. [4, 17]
SHARES = np.array([(1 - _T) ** 3, 3 * (1 - _T) ** 2 * _T, 3 * (1 - _T) * _T**2, _T**3])
ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])  # of QPainterPath in a QDataStream


def flows_of(state: ViewState, index: int) -> Flows:
    """Return the flows of a slice in both directions, int64 [n, 4]: from row, from time, to row, to time. Ends that no
    slice belongs to are left out."""
    if state.trace is None or index < 0:
        return NO_FLOWS
    ends: list[tuple[int, int, int, int]] = []
    for arrow in arrows_of(state.trace, index)[:MAX_ARROWS]:
        if arrow.other >= 0:
            near = (state.trace.row_of(arrow.this), arrow.this_time)
            far = (state.trace.row_of(arrow.other), arrow.other_time)
            ends.append((*far, *near) if arrow.incoming else (*near, *far))
    return np.array(ends, np.int64).reshape(-1, 4)


def flows_in_view(state: ViewState) -> Flows:
    """Return the flows of the enabled kinds, as many as can be told apart."""
    trace = state.trace
    if trace is None or not state.flow_kinds:
        return NO_FLOWS
    lanes = np.unique(state.lanes.bands.track[state.lanes.bands.kind == 1]).tolist()
    arrows = visible_arrows(
        trace, int(state.viewport.begin), int(state.viewport.end), lanes, MAX_ARROWS, sorted(state.flow_kinds)
    )
    ends: Flows = np.stack((arrows.begins_at, arrows.ends[:, 1], arrows.leads_to, arrows.ends[:, 3]), axis=1)
    ends = ends[(arrows.begins_at >= 0) & (arrows.leads_to >= 0)]
    ends[:, ::2] = np.searchsorted(trace.row_begin, ends[:, ::2], "right") - 1
    return ends


@dataclass(frozen=True, kw_only=True)
class Ends:
    """One side of some flows: float64 [n, 2] px in the canvas. `is_visible`: its row is shown at all; `is_pinned`: at
    the top; `is_covered`: scrolled away below the pinned lanes."""

    at: Points
    is_visible: NDArray[np.bool_]
    is_pinned: NDArray[np.bool_]
    is_covered: NDArray[np.bool_]


def ends_of(state: ViewState, rows: NDArray[np.int64], times: NDArray[np.int64], width: int) -> Ends:
    bands, viewport = state.lanes.bands, state.viewport
    number = bands.of_rows(rows)
    is_visible, is_pinned = number >= 0, (number >= 0) & (number < bands.pinned)
    y = bands.top[number] - np.where(is_pinned, 0, viewport.scroll) + (bands.height[number] - bands.gap[number]) / 2
    x = (times + bands.offset[number] - viewport.begin) / viewport.span * width
    at = np.stack((np.clip(x, -FARTHEST_PX, FARTHEST_PX), y), axis=1)
    return Ends(at=at, is_visible=is_visible, is_pinned=is_pinned, is_covered=~is_pinned & (y < bands.pinned_height))


def draw_flows(
    painter: QPainter, state: ViewState, flows: Flows, size: tuple[int, int], style: tuple[str, float]
) -> None:
    """Draw flows. `size`: of the canvas; `style`: a theme token and its strength. Arrows lie over pinned lanes only if
    they begin or end there; those that coincide to the pixel are drawn once."""
    if not len(flows) or not len(state.lanes.bands):
        return
    begin, end = _distinct_ends(state, flows, size[0])
    color = mixed(theme.color(style[0]), theme.color("surface"), style[1])  # a see-through pen is ten times as slow
    for clips in (False, True) if state.lanes.bands.pinned else (True,):
        painter.save()
        if clips:
            clip_to_moving(painter, state, *size)
        curves = _curves(begin, end, state.lanes.bands.pinned_height, clips)
        for lines, line, fill in (
            (curves, color, None), (_shapes(ARROWHEAD, end, clips), color, color),
            (_shapes(DOT, begin, clips), None, color),
        ):  # fmt: skip
            painter.setPen(line or Qt.PenStyle.NoPen)
            painter.setBrush(fill or Qt.BrushStyle.NoBrush)
            painter.drawPath(_path(lines))
        painter.restore()


def _distinct_ends(state: ViewState, flows: Flows, width: int) -> tuple[Ends, Ends]:
    begin, end = (ends_of(state, flows[:, side], flows[:, side + 1], width) for side in (0, 2))
    x = np.stack((begin.at[:, 0], end.at[:, 0]))
    is_in_view = begin.is_visible & end.is_visible & (x.max(axis=0) >= 0) & (x.min(axis=0) <= width)
    is_in_view &= ~(begin.is_covered & end.is_covered)
    visible = np.flatnonzero(is_in_view)
    _, first = np.unique(np.rint(np.hstack((begin.at, end.at))[visible]), axis=0, return_index=True)
    return _some(begin, visible[first]), _some(end, visible[first])


def _some(ends: Ends, which: NDArray[np.int64]) -> Ends:
    return Ends(
        at=ends.at[which], is_visible=ends.is_visible[which], is_pinned=ends.is_pinned[which],
        is_covered=ends.is_covered[which],
    )  # fmt: skip


def _curves(begin: Ends, end: Ends, fixed: int, clips: bool) -> Points:
    """float64 [n, 17, 2]. Arrows with a pinned end are not clipped: where the other end is covered they lead to the
    border of the pinned lanes."""
    chosen = np.flatnonzero((begin.is_pinned | end.is_pinned) != clips)
    (x, y), (x_to, y_to) = (
        (side.at[chosen, 0], np.where(side.is_covered[chosen] & (not clips), fixed, side.at[chosen, 1]))
        for side in (begin, end)
    )
    x_to = x_to - HEAD_PX
    bend = np.maximum(MIN_BEND, np.abs(x_to + HEAD_PX - x) / 3)
    across = np.stack((x, x + bend, x_to - bend, x_to), axis=1) @ SHARES
    down = np.stack((y, y, y_to, y_to), axis=1) @ SHARES
    return np.stack((across, down), axis=2)


def _shapes(shape: Points, ends: Ends, clips: bool) -> Points:
    """float64 [n, points, 2]: the shape at each visible end."""
    points: Points = ends.at[(ends.is_pinned != clips) & ~ends.is_covered][:, None] + shape
    return points


def _path(lines: Points) -> QPainterPath:
    """Return lines float64 [n, points, 2] as one path, in Qt's serialized form: a call for each point takes
    too long."""
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
