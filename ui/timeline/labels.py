"""Names on the slices that are wide enough for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText

from ui import theme
from ui.timeline.frame import Edges, last_begun

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QColor, QPainter

    from backends.timeline.trace import Trace
    from ui.timeline.frame import Columns, Owners, Placed

LEAST = 26  # px of a slice that has a label
LOWEST = 13  # px of a row with labels
MOST = 420
CHUNK = 1 << 20  # slices looked at together
PAD = 4
LONGEST = 300  # letters
MOST_KEPT = 6000
ELLIPSIS = "\u2026"


@dataclass(frozen=True, kw_only=True)
class Wide:
    """Slices that are wide enough: which, where in `placed`, and from where to where they are seen, px."""

    index: NDArray[np.int64]
    place: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]


def wide_slices(columns: Columns, placed: list[Placed], high: list[int], edges: Edges, owners: Owners) -> Wide:
    """Of the rows `high`, places in `placed`. Looks every half of LEAST px: a slice that wide is at one of those
    places. Of rows over each other only what is seen of them counts."""
    every = LEAST // 2
    few = Edges(base=edges.base, rel=edges.rel[::every], cuts=edges.cuts[::every], per_column=edges.per_column * every)
    rows = np.array([placed[index].row for index in high], np.int64)
    offsets = np.array([placed[index].offset for index in high], np.int64)
    last = last_begun(columns, rows, offsets, few)
    new = last >= columns.row_begin[rows][:, None]
    new[:, 1:] &= last[:, 1:] != last[:, :-1]
    place, at = np.nonzero(new)
    index = last[place, at]
    start = columns.start.take(index) - (edges.base - offsets[place])
    length = columns.cover.take(index + 1) - columns.cover.take(index)
    width = len(edges.rel) - 1
    left = np.maximum((start - edges.rel[0]) / edges.per_column, 0.0)
    right = np.minimum((start + length - edges.rel[0]) / edges.per_column, width)
    keep = np.flatnonzero(right - left >= LEAST)
    if len(keep) > MOST:
        keep = keep[np.argpartition((left - right)[keep], MOST)[:MOST]]
    found = Wide(index=index[keep], place=np.array(high, np.int64)[place[keep]], left=left[keep], right=right[keep])
    if owners:
        _keep_what_is_seen(found, placed, owners)
    return found


def _keep_what_is_seen(wide: Wide, placed: list[Placed], owners: Owners) -> None:
    """Narrows slices to the widest part of them that no row on top of theirs covers."""
    under = np.maximum.accumulate([0 if one.is_over else index for index, one in enumerate(placed)])
    for number, place in enumerate(wide.place.tolist()):
        owner = owners.get(int(under[place]))
        if owner is not None:
            first, last = int(wide.left[number]), math.ceil(wide.right[number])
            begin, end = _longest(owner[first:last] == place)
            wide.left[number], wide.right[number] = first + begin, first + end


def _longest(there: NDArray[np.bool_]) -> tuple[int, int]:
    """From where to where the longest run of True reaches."""
    turns = np.flatnonzero(np.diff(np.concatenate(([False], there, [False])).astype(np.int8)))
    if not len(turns):
        return 0, 0
    begins, ends = turns[::2], turns[1::2]
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest])


def longest_of(trace: Trace) -> NDArray[np.int64]:
    """int64 [rows]: the length of the longest slice of each; 0.1 s for 10 M slices."""
    begins = np.asarray(trace.row_begin)
    found = np.zeros(len(begins) - 1, np.int64)
    first = 0
    while first < len(found):
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + CHUNK, "right")) - 1)
        low, high = begins[first], begins[last]
        filled = first + np.flatnonzero(begins[first + 1 : last + 1] > begins[first:last])
        if len(filled):
            length = trace.end[low:high] - trace.start[low:high]
            found[filled] = np.maximum.reduceat(length, begins[filled] - low)
        first = last
    return found


class Labels:
    """Texts laid out once and kept: laying out is what costs. `trace`: whose names are shown."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.font = label_font()
        self._metrics = QFontMetricsF(self.font)
        self._whole: dict[int, tuple[str, float]] = {}
        self._laid: dict[tuple[int, int], QStaticText] = {}

    def draw(
        self,
        painter: QPainter,
        wide: Wide,
        placed: list[Placed],
        shades: NDArray[np.uint8],
        colors: tuple[QColor, ...],
    ) -> None:
        """A name begins where its slice does, or at the left of the view where that is outside."""
        painter.setFont(self.font)
        names = self._trace.name[wide.index]
        shade = shades[names]
        order = np.argsort(shade, kind="stable").tolist()
        shown = -1
        names_, lefts, rights, places, shade_ = (
            array.tolist() for array in (names, wide.left, wide.right, wide.place, shade)
        )
        height = self._metrics.height()
        for number in order:
            text = self._text(names_[number], rights[number] - lefts[number] - 2 * PAD)
            if text is None:
                continue
            if shade_[number] != shown:
                shown = shade_[number]
                painter.setPen(colors[shown])
            one = placed[places[number]]
            painter.drawStaticText(QPointF(lefts[number] + PAD, one.top + (one.height - height) / 2), text)

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
        text = " ".join(self._trace.name_text(name)[:LONGEST].split())
        if len(self._whole) > MOST_KEPT:
            self._whole.clear()
        self._whole[name] = (text, self._metrics.horizontalAdvance(text))
        return self._whole[name]

    def _lay_out(self, name: int, text: str, letters: int) -> QStaticText:
        made = QStaticText(text if letters >= len(text) else text[:letters] + ELLIPSIS)
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        made.prepare(font=self.font)
        if len(self._laid) > MOST_KEPT:
            self._laid.clear()
        self._laid[name, letters] = made
        return made


def label_font() -> QFont:
    font = theme.text_font()
    font.setPixelSize(12)
    return font
