"""The picture of the lanes: pixels from arrays with names on top. It is reused until the view changes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter

from ui.timeline.drawing import colors
from ui.timeline.drawing.counter_areas import (
    area_of,
    bounds_of,
    figure_text,
    paint_area,
)
from ui.timeline.drawing.frame import (
    PixelEdges,
    PlacedRow,
    draw_pixel_rows,
    edges_of,
    paint,
    shade_begins,
    slice_columns,
)
from ui.timeline.drawing.labels import (
    MIN_ROW_HEIGHT,
    MIN_WIDTH,
    Labels,
    longest_of,
    wide_slices,
)
from ui.timeline.drawing.time_text import ticks_of
from ui.widgets import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Series, Trace
    from ui.timeline.drawing.frame import DrawPixelRows, Owners, Pixels
    from ui.timeline.state.bands import Band
    from ui.timeline.state.view_state import ViewState

NARROWEST_STEP = 4  # px: the line of a narrower one would hide what is in it
MAX_STEPS = 80
GRID = 0.55  # how strong grid lines are


@dataclass(frozen=True, kw_only=True)
class Placement:
    """The bands in view: `tops` px from the top of the canvas, pinned ones first."""

    index: tuple[int, ...]
    tops: tuple[int, ...]


def placement_of(state: ViewState, height: int) -> Placement:
    bands, scroll = state.lanes.bands, state.viewport.scroll
    pinned = range(bands.pinned)
    fixed = bands.pinned_height
    moving = [
        index
        for index in bands.between(fixed + state.viewport.scroll, state.viewport.scroll + height)
        if index >= bands.pinned
    ]
    tops = [int(bands.top[index]) for index in pinned] + [int(bands.top[index]) - scroll for index in moving]
    return Placement(index=(*pinned, *moving), tops=tuple(tops))


@dataclass(frozen=True, kw_only=True)
class TraceStudy:
    """What takes long to compute for a trace: the shade of each name, uint8; the longest slice of each row, int64."""

    shades: NDArray[np.uint8]
    longest: NDArray[np.int64]


def study_trace(trace: Trace) -> TraceStudy:
    return TraceStudy(shades=colors.shades_of(trace), longest=longest_of(trace))


class LanesPicture:
    """The picture of one trace. `lines_of` is replaced when numba is ready. Until `use` is called all names of a family
    look alike, since computing the study of a large trace takes longer than a frame."""

    def __init__(self, trace: Trace, lines_of: DrawPixelRows = draw_pixel_rows) -> None:
        self.trace = trace
        self.columns = slice_columns(trace)
        self.lines_of = lines_of
        self._bright: NDArray[np.bool_] | None = None
        self._longest: NDArray[np.int64] | None = None
        self.shades = colors.family_shades(trace)
        self.highlight(None)
        self.labels = Labels(trace)
        self._pixels: Pixels = np.empty((0, 0), np.uint32)

    def use(self, studied: TraceStudy) -> None:
        self.shades, self._longest = studied.shades, studied.longest
        self.highlight(self._bright)

    def highlight(self, names: NDArray[np.bool_] | None) -> None:
        """Dim all but the slices of those names; None dims none."""
        self._bright = names
        self.visible_shades = self.shades if names is None else colors.dimmed(self.shades, names)
        self._begins = shade_begins(self.visible_shades)

    def renew_labels(self) -> None:
        """Rebuild the labels after the theme or the font changed."""
        self.labels = Labels(self.trace)

    def image(self, state: ViewState, width: int, height: int, ratio: float = 1.0) -> QImage:
        """Return the lanes of `state` in a canvas of that size, with `ratio` pixels per px. The image shares its pixels
        with the previous one: only one is in use at a time."""
        across, down = math.ceil(width * ratio), math.ceil(height * ratio)
        if self._pixels.shape != (down, across):
            self._pixels = np.empty((down, across), np.uint32)
        edges = edges_of(
            state.viewport.begin, state.viewport.begin + state.viewport.span * (across / (width * ratio)), across
        )
        placement = placement_of(state, height)
        bands = [state.lanes.bands[index] for index in placement.index]
        placed = placed_rows(bands, placement.tops, state.lanes.bands.pinned_height)
        table = colors.table(theme.current())
        background = self._background(state, width, across, ratio)
        owners = paint(
            self._pixels, background, _sharper(placed, ratio), self.columns, edges, self._begins, table, self.lines_of
        )  # fmt: skip
        self._paint_counters(state, bands, placement.tops, edges, background, ratio)
        self._paint_steps(state, width, ratio)
        image = QImage(self._pixels.data, across, down, across * 4, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.scale(ratio, ratio)
        self._draw(painter, state, bands, placement.tops, (width, height))
        self._draw_labels(
            painter, placed, edges_of(state.viewport.begin, state.viewport.end, width), _as_wide_as(owners, width)
        )
        painter.end()
        return image

    def _background(self, state: ViewState, width: int, across: int, ratio: float) -> NDArray[np.uint32]:
        surface = theme.color("surface")
        background = np.full(across, surface.rgb(), np.uint32)
        ticks = ticks_of(self.trace, state.time_mode, state.viewport.begin, state.viewport.end, width)
        at = (
            (np.array(ticks.times, np.float64) - state.viewport.begin) / state.viewport.span * (width * ratio)
        ).astype(np.int64)
        at = (at[:, None] + np.arange(_line_width(ratio))).ravel()
        background[at[(at >= 0) & (at < across)]] = colors.mixed(theme.color("line"), surface, GRID).rgb()
        outside = colors.mixed(theme.color("sunken"), surface, 0.6).rgb()
        first, last = (
            (np.array([0, self.trace.span]) - state.viewport.begin) / state.viewport.span * (width * ratio)
        ).tolist()
        background[: max(0, int(first))] = outside
        background[max(0, int(last) + 1) :] = outside
        return background

    def _paint_counters(
        self,
        state: ViewState,
        bands: list[Band],
        tops: tuple[int, ...],
        edges: PixelEdges,
        background: NDArray[np.uint32],
        ratio: float,
    ) -> None:
        for band, band_top in zip(bands, tops, strict=True):
            series = state.lanes.series_of(band.track) if band.kind == "counter" else None
            if series is None:
                continue
            edge = 0 if band.is_pinned else round(state.lanes.bands.pinned_height * ratio)
            top, behind = round(band_top * ratio), round((band_top + band.drawn) * ratio)
            part = np.empty((behind - top, self._pixels.shape[1]), np.uint32)
            part[:] = background
            soft, line = counter_colors(series)
            paint_area(
                part, area_of(self.trace, series, edges, band.offset_ns), bounds_of(series), soft.rgb(), line.rgb()
            )
            for _ in range(1, _line_width(ratio)):
                _thicken(part, line.rgb())
            first, last = max(edge, top), min(len(self._pixels), behind)
            if last > first:
                self._pixels[first:last] = part[first - top : last - top]

    def _paint_steps(self, state: ViewState, width: int, ratio: float) -> None:
        """Paint a dotted line where each step begins, over the slices."""
        viewport, thick = state.viewport, _line_width(ratio)
        shortest = viewport.span / width * NARROWEST_STEP
        inside = [
            step
            for step in state.steps
            if viewport.begin < step.start < viewport.end and step.end - step.start > shortest
        ]
        if len(inside) > MAX_STEPS:
            return
        dots = np.flatnonzero(np.arange(len(self._pixels)) // thick % 3 == 0)
        for step in inside:
            at = int((step.start - viewport.begin) / viewport.span * (width * ratio))
            self._pixels[dots, at : at + thick] = theme.color("edge").rgb()

    def _draw(
        self, painter: QPainter, state: ViewState, bands: list[Band], tops: tuple[int, ...], size: tuple[int, int]
    ) -> None:
        """Draw what is not pixels from arrays: heads of processes, and the scale of counters."""
        (width, height), fixed = size, state.lanes.bands.pinned_height
        if fixed < height:
            painter.setClipRect(0, fixed, width, height - fixed)
        for is_pinned in (False, True):
            if is_pinned:
                painter.setClipRect(0, 0, width, fixed)
            for band, top in zip(bands, tops, strict=True):
                if band.is_pinned == is_pinned:
                    self._draw_band(painter, state, band, top, width)
        painter.setClipping(False)
        if fixed:
            painter.fillRect(0, fixed - 3, width, 2, theme.color("rim"))

    def _may_have(self, row: int, min_length: float) -> bool:
        """Return whether a row may have slices of that length; if not, it need not be searched."""
        return self._longest is None or self._longest[row] >= min_length

    def _draw_labels(self, painter: QPainter, placed: list[PlacedRow], edges: PixelEdges, owners: Owners) -> None:
        min_length = edges.per_column * MIN_WIDTH
        high = [
            index
            for index, row in enumerate(placed)
            if row.height >= MIN_ROW_HEIGHT and self._may_have(row.row, min_length)
        ]
        if not high:
            return
        wide = wide_slices(self.columns, placed, high, edges, owners)
        self.labels.draw(painter, wide, placed, self.visible_shades, colors.texts(theme.current()))

    def _draw_band(self, painter: QPainter, state: ViewState, band: Band, top: int, width: int) -> None:
        if band.kind == "process":
            painter.fillRect(0, top, width, band.height - 1, theme.color("sunken"))
        elif band.kind == "counter" and (series := state.lanes.series_of(band.track)) is not None:
            painter.setPen(theme.color("dim"))
            painter.setFont(self.labels.font)
            text = figure_text(series.high, series.unit) if np.isfinite(series.high) else series.unit
            wide = painter.fontMetrics().horizontalAdvance(text) + 6
            painter.fillRect(1, top + 1, wide, 15, theme.color("surface"))
            painter.drawText(QPointF(4, top + 13), text)


def counter_colors(series: Series) -> tuple[QColor, QColor]:
    """Return the colours of a counter's area and of its upper line. Memory is green, as memory slices are."""
    is_memory = series.unit.casefold() in ("b", "byte", "bytes", "kb", "mb", "gb")
    line = colors.shade("memory" if is_memory else "compute", 0, theme.current())
    return colors.mixed(line, theme.color("surface"), 0.3), line


def _line_width(ratio: float) -> int:
    return max(1, round(ratio))


def _sharper(placed: list[PlacedRow], ratio: float) -> list[PlacedRow]:
    """Return the rows at the pixels of a screen that has `ratio` of them per px."""
    if ratio == 1:
        return placed
    edges = [(round(row.top * ratio), round((row.top + row.height) * ratio)) for row in placed]
    return [replace(row, top=top, height=behind - top) for row, (top, behind) in zip(placed, edges, strict=True)]


def _as_wide_as(owners: Owners, width: int) -> Owners:
    """Reduce to one value per px rather than per pixel."""
    return {under: owner[np.arange(width) * len(owner) // width] for under, owner in owners.items()}


def _thicken(part: Pixels, line: int) -> None:
    """Extend a line downwards by one pixel."""
    is_line = part[:-1] == np.uint32(line)
    np.copyto(part[1:], np.uint32(line), where=is_line)


def placed_rows(bands: list[Band], tops: tuple[int, ...], fixed: int) -> list[PlacedRow]:
    """Return the rows to paint, cut off where the pinned ones cover them."""
    placed: list[PlacedRow] = []
    for band, top in zip(bands, tops, strict=True):
        edge = top if band.is_pinned else max(top, fixed)
        height = top + band.drawn - edge
        if band.kind == "rows" and height > 0:
            placed += [
                PlacedRow(row=row, offset=band.offset_ns, top=edge, height=height, is_over=number > 0)
                for number, row in enumerate(band.rows)
            ]
    return placed
