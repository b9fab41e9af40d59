"""Marks of what happened at a step, in rows at the upper edge of a chart: each kind has its row, shape and colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg

from studio.texts import has, t
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.common.marks import Kind, Mark

SHAPES: dict[Kind, str] = {"resume": "t2", "nan": "x", "overflow": "t1", "checkpoint": "s"}
"""The kinds of marks, the uppermost row first."""
COLORS = {"resume": "accent", "nan": "bad", "overflow": "warning", "checkpoint": "dim"}
SIZE = 8
ROW = 0.06
"""Height of a row, in parts of the chart's."""


def sentence(mark: Mark) -> str:
    """The sentence of a mark. Options that differ are named as in the form."""
    args = dict(mark.args)
    if isinstance(differing := args.get("differing"), str):
        args["differing"] = t("launch.listed").join(_option(name) for name in differing.split(", "))
    return t(mark.key, **args)


def _option(name: str) -> str:
    if name == "state":
        return t("mark.state")
    key = f"launch.field.{name}"
    return t(key) if has(key) else name


def kinds_of(marks: Iterable[Mark]) -> list[Kind]:
    """The kinds that occur, in the order of their rows."""
    kinds = {mark.kind for mark in marks}
    return [kind for kind in SHAPES if kind in kinds]


class EventMarks:
    """The marks of one chart."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        self._marks: Sequence[Mark] = ()
        self._drawn: tuple[Sequence[Mark], tuple[float, float], tuple[float, float], int] | None = None
        self._items = {kind: pg.ScatterPlotItem(size=SIZE, pxMode=True, hoverable=True, tip=_tip) for kind in SHAPES}
        for kind, item in self._items.items():
            item.setSymbol(SHAPES[kind])
            plot.addItem(item, ignoreBounds=True)
            item.setZValue(10)
            item.hide()
        self.recolour()

    def recolour(self) -> None:
        for kind, item in self._items.items():
            item.setPen(pg.mkPen(theme.color(COLORS[kind])))
            item.setBrush(pg.mkBrush(theme.color("surface" if kind == "checkpoint" else COLORS[kind])))

    def show_marks(self, marks: Sequence[Mark]) -> None:
        self._marks = marks

    def draw(self, view: tuple[float, float], heights: tuple[float, float], pixels: int) -> float:
        """Draws those in view; returns how high the picture has to reach, so that no curve runs through them."""
        kinds = kinds_of(self._marks)
        low, high = heights
        top = high + (high - low) * ROW * len(kinds)
        if (self._marks, view, heights, pixels) == self._drawn:
            return top
        self._drawn = (self._marks, view, heights, pixels)
        for kind, item in self._items.items():
            item.setData([])
            item.setVisible(kind in kinds)
            if kind in kinds:
                height = top - (top - low) * ROW * (kinds.index(kind) + 0.5)
                chosen = _apart([mark for mark in self._marks if mark.kind == kind], view, pixels)
                item.setData([{"pos": (mark.step, height), "data": (mark, more)} for mark, more in chosen])
        return top


def _apart(marks: list[Mark], view: tuple[float, float], pixels: int) -> list[tuple[Mark, int]]:
    """Return the marks in view that do not overlap, each with the number of those it hides."""
    room = (view[1] - view[0]) * (SIZE + 1) / max(1, pixels)
    kinds: list[tuple[Mark, int]] = []
    last = -np.inf
    for mark in sorted(marks, key=lambda mark: mark.step):
        if not view[0] <= mark.step <= view[1]:
            continue
        if mark.step - last >= room:
            kinds.append((mark, 0))
            last = mark.step
        else:
            kinds[-1] = (kinds[-1][0], kinds[-1][1] + 1)
    return kinds


def _tip(x: float, y: float, data: tuple[Mark, int]) -> str:
    mark, more = data
    others = t("mark.more", count=more) if more else ""
    return f"{sentence(mark)} {others}".strip()
