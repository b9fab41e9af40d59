"""Names on the slices that are wide enough for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText

from ui.timeline.drawing.frame import PixelEdges, last_begun
from ui.widgets import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QColor, QPainter

    from backends.timeline.trace import Trace
    from ui.timeline.drawing.frame import Owners, PlacedRow, SliceColumns

MIN_WIDTH = 26  # px of a slice that has a label
MIN_ROW_HEIGHT = 13  # px of a row with labels
MAX_LABELS = 420
CHUNK = 1 << 20  # slices looked at together
PADDING = 4
MAX_LETTERS = 300  # letters
MAX_CACHED = 6000
ELLIPSIS = "\u2026"


@dataclass(frozen=True, kw_only=True)
class WideSlices:
    """Slices that are wide enough for a label: their index, their position in `placed`, and their visible
    extent in px."""

    index: NDArray[np.int64]
    position: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]


def wide_slices(
    columns: SliceColumns, placed: list[PlacedRow], high: list[int], edges: PixelEdges, owners: Owners
) -> WideSlices:
    """Return the wide slices of the rows `high`, positions in `placed`. Samples every half of MIN_WIDTH px: a slice
    that wide covers one of these points. Of rows on top of each other only the visible parts count."""
    every = MIN_WIDTH // 2
    few = PixelEdges(
        base=edges.base, rel=edges.rel[::every], cuts=edges.cuts[::every], per_column=edges.per_column * every
    )
    rows = np.array([placed[index].row for index in high], np.int64)
    offsets = np.array([placed[index].offset for index in high], np.int64)
    last = last_begun(columns, rows, offsets, few)
    new = last >= columns.row_begin[rows][:, None]
    new[:, 1:] &= last[:, 1:] != last[:, :-1]
    position, at = np.nonzero(new)
    index = last[position, at]
    start = columns.start.take(index) - (edges.base - offsets[position])
    length = columns.cover.take(index + 1) - columns.cover.take(index)
    width = len(edges.rel) - 1
    left = np.maximum((start - edges.rel[0]) / edges.per_column, 0.0)
    right = np.minimum((start + length - edges.rel[0]) / edges.per_column, width)
    keep = np.flatnonzero(right - left >= MIN_WIDTH)
    if len(keep) > MAX_LABELS:
        keep = keep[np.argpartition((left - right)[keep], MAX_LABELS)[:MAX_LABELS]]
    wide = WideSlices(
        index=index[keep], position=np.array(high, np.int64)[position[keep]], left=left[keep], right=right[keep]
    )
    if owners:
        _narrow_to_uncovered(wide, placed, owners)
    return wide


def _narrow_to_uncovered(wide: WideSlices, placed: list[PlacedRow], owners: Owners) -> None:
    """Narrow slices to the widest part that no row on top of theirs covers."""
    under = np.maximum.accumulate([0 if row.is_over else index for index, row in enumerate(placed)])
    for number, position in enumerate(wide.position.tolist()):
        owner = owners.get(int(under[position]))
        if owner is not None:
            first, last = int(wide.left[number]), math.ceil(wide.right[number])
            begin, end = _longest(owner[first:last] == position)
            wide.left[number], wide.right[number] = first + begin, first + end


def _longest(is_uncovered: NDArray[np.bool_]) -> tuple[int, int]:
    """Return begin and end of the longest run of True."""
    turns = np.flatnonzero(np.diff(np.concatenate(([False], is_uncovered, [False])).astype(np.int8)))
    if not len(turns):
        return 0, 0
    begins, ends = turns[::2], turns[1::2]
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest])


def longest_of(trace: Trace) -> NDArray[np.int64]:
    """int64 [rows]: the length of the longest slice of each row; 0.1 s for 10 M slices."""
    begins = np.asarray(trace.row_begin)
    longest = np.zeros(len(begins) - 1, np.int64)
    first = 0
    while first < len(longest):
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + CHUNK, "right")) - 1)
        low, high = begins[first], begins[last]
        filled = first + np.flatnonzero(begins[first + 1 : last + 1] > begins[first:last])
        if len(filled):
            length = trace.end[low:high] - trace.start[low:high]
            longest[filled] = np.maximum.reduceat(length, begins[filled] - low)
        first = last
    return longest


class Labels:
    """Labels of the names of `trace`. Texts are laid out once and cached, since layout is what takes time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.font = label_font()
        self._metrics = QFontMetricsF(self.font)
        self._whole: dict[int, tuple[str, float]] = {}
        self._laid: dict[tuple[int, int], QStaticText] = {}

    def draw(
        self,
        painter: QPainter,
        wide: WideSlices,
        placed: list[PlacedRow],
        shades: NDArray[np.uint8],
        colors: tuple[QColor, ...],
    ) -> None:
        """Draw names at the start of their slices, or at the left edge of the view where that is outside."""
        painter.setFont(self.font)
        names = self._trace.name[wide.index]
        shade = shades[names]
        order = np.argsort(shade, kind="stable").tolist()
        current_shade = -1
        names_, lefts, rights, places, shade_ = (
            array.tolist() for array in (names, wide.left, wide.right, wide.position, shade)
        )
        height = self._metrics.height()
        for number in order:
            text = self._text(names_[number], rights[number] - lefts[number] - 2 * PADDING)
            if text is None:
                continue
            if shade_[number] != current_shade:
                current_shade = shade_[number]
                painter.setPen(colors[current_shade])
            row = placed[places[number]]
            painter.drawStaticText(QPointF(lefts[number] + PADDING, row.top + (row.height - height) / 2), text)

    def _text(self, name: int, room: float) -> QStaticText | None:
        text, width = self._whole.get(name) or self._measure(name)
        letters = len(text)
        if width > room:
            letters = int(room / (width / letters) * 0.96) - 1 if letters else 0
            if letters < 2:
                return None
        laid = self._laid.get((name, letters))
        return laid or self._lay_out(name, text, letters)

    def _measure(self, name: int) -> tuple[str, float]:
        text = " ".join(self._trace.name_text(name)[:MAX_LETTERS].split())
        if len(self._whole) > MAX_CACHED:
            self._whole.clear()
        self._whole[name] = (text, self._metrics.horizontalAdvance(text))
        return self._whole[name]

    def _lay_out(self, name: int, text: str, letters: int) -> QStaticText:
        layout = QStaticText(text if letters >= len(text) else text[:letters] + ELLIPSIS)
        layout.setTextFormat(Qt.TextFormat.PlainText)
        layout.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        layout.prepare(font=self.font)
        if len(self._laid) > MAX_CACHED:
            self._laid.clear()
        self._laid[name, letters] = layout
        return layout


def label_font() -> QFont:
    font = theme.text_font()
    font.setPixelSize(12)
    return font
