"""Looking at ten million slices: frames, what lies under the pointer, search, and figures over a range."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query import numba_kernels as fast_query
from backends.timeline.query.search import search
from backends.timeline.query.slice_lookup import slice_at
from backends.timeline.query.statistics import range_statistics
from tests.bench.figure import Figure, per_call
from tests.timeline.memory_traces import many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backends.timeline.trace import Trace
    from ui.timeline.drawing.frame import DrawPixelRows
    from ui.timeline.state.view_state import ViewState
    from ui.timeline.view.lanes_canvas import LanesCanvas

SLICES = 10_000_000
WIDTH, HEIGHT = 1600, 1000
SPANS = {"full": 10**10, "middle (1/100)": 10**8, "deep (1/3333)": 3 * 10**6}
BARS = {"numpy": (8.0, 6.0, 6.0), "numba": (4.0, 3.0, 3.0)}
ARROWS = 1_000_000
FRAMES = 20
ROUNDS = 4


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        trace = many(Path(name), SLICES, arrows=ARROWS)
        return [*_frames(trace), *_questions(trace), *_ranges(trace)]


def _frames(trace: Trace) -> list[Figure]:
    from ui.timeline.drawing import frame, pixel_rows

    measured: list[Figure] = []
    bare = {}
    for called, lines in (("numpy", frame.draw_pixel_rows), ("numba", pixel_rows.load_numba())):
        if lines is None:
            continue
        for (span, length), bar in zip(SPANS.items(), BARS[called], strict=True):
            value = bare[(called, span)] = _median(trace, lines, 20, length)
            what = f"frame of 10 M slices, 1600x1000, 50 rows of 20 px, {span}, {called}"
            measured.append(Figure(what=what, value=value, unit="ms CPU", bar=bar))
        bar_of_many = 20.0 if called == "numba" else None
        measured.append(Figure(what=f"frame, 500 rows of 2 px, full, {called}",
                            value=_median(trace, lines, 2, SPANS["full"]), unit="ms CPU", bar=bar_of_many))  # fmt: skip
    return measured + _painted(trace, bare)


def _painted(trace: Trace, bare: dict[tuple[str, str], float]) -> list[Figure]:
    """The canvas itself: what it costs more than the pixels are the labels, the heads of processes and what lies over
    them."""
    from PySide6.QtWidgets import QApplication

    from ui.timeline.drawing import pixel_rows
    from ui.timeline.state.view_state import ViewState
    from ui.timeline.view.lanes_canvas import LanesCanvas
    from ui.widgets import theme

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    theme.apply(app, "light")
    state = ViewState()
    canvas = LanesCanvas(state)
    canvas.resize(WIDTH, HEIGHT)
    canvas.show()
    state.set_trace(trace)
    app.processEvents()
    measured = []
    for called, lines in (("numpy", None), ("numba", pixel_rows.load_numba())):
        if lines is not None:
            canvas.numba_ready.emit(lines)
        for span, length in SPANS.items():
            whole = _median_of(partial(_repainted, canvas, state, length), length)
            what = f"labels and what lies over a frame, {span}, {called}"
            measured.append(Figure(what=what, value=whole - bare[(called, span)], unit="ms CPU", bar=4.0))
            state.set_flow_kinds(frozenset(range(len(trace.meta.flow_kinds))))
            flows = _median_of(partial(_repainted, canvas, state, length), length) - whole
            state.set_flow_kinds(frozenset())
            measured.append(Figure(what=f"flows of all kinds over a frame, {span}, {called}", value=flows,
                                unit="ms CPU", bar=4.0))  # fmt: skip
    canvas.close()
    return measured


def _repainted(canvas: LanesCanvas, state: ViewState, length: int, begin: float) -> None:
    state.viewport.show(begin, begin + length)
    canvas.repaint()


def _median(trace: Trace, lines: DrawPixelRows, height: int, length: int) -> float:
    """ms of CPU of this thread for the pixels of one frame and putting them on a picture."""
    from PySide6.QtGui import QImage, QPainter

    from ui.timeline.drawing import colors
    from ui.timeline.drawing.frame import (
        PlacedRow,
        edges_of,
        paint,
        shade_begins,
        slice_columns,
    )

    columns, begins, palette = slice_columns(trace), shade_begins(colors.shades_of(trace)), colors.table("light")
    image, background = np.zeros((HEIGHT, WIDTH), np.uint32), np.full(WIDTH, 0xFFFFFFFF, np.uint32)
    placed = [PlacedRow(row=row, offset=0, top=row * height, height=height - 1) for row in range(HEIGHT // height)]
    screen = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)

    def drawn(begin: float) -> None:
        paint(image, background, placed, columns, edges_of(begin, begin + length, WIDTH), begins, palette, lines)
        painter = QPainter(screen)
        painter.drawImage(0, 0, QImage(image.data, WIDTH, HEIGHT, WIDTH * 4, QImage.Format.Format_RGB32))
        painter.end()

    return _median_of(drawn, length)


def _median_of(draw: Callable[[float], object], length: int) -> float:
    """ms of CPU of this thread for a frame, each a little further on: the median of the quietest of a few rounds, since
    whoever else computes here shares the caches."""
    return min(_median_of_round(draw, length) for _ in range(ROUNDS))


def _median_of_round(draw: Callable[[float], object], length: int) -> float:
    spent = []
    for number in range(FRAMES):
        begin = number * 1000 if length == SPANS["full"] else int(4e9 + number * length * 0.02)
        before = time.thread_time()
        draw(begin)
        spent.append((time.thread_time() - before) * 1e3)
    return statistics.median(spent[2:])


def _questions(trace: Trace) -> list[Figure]:
    chance = random.Random(0)
    points = [(chance.randrange(50), chance.randrange(10**10)) for _ in range(1000)]
    hit = per_call(lambda: [slice_at(trace, row, at) for row, at in points], 1) / len(points)
    return [
        Figure(what="hit test in 10 M slices", value=hit * 1e3, unit="ms CPU", bar=0.1),
        Figure(what="search over 10 M slices, a 24th found", value=_ms(lambda: search(trace, "kernel_7_")),
               unit="ms CPU", bar=150),
        Figure(what="search over 10 M slices, all found", value=_ms(lambda: search(trace, "kernel")),
               unit="ms CPU", bar=150),
    ]  # fmt: skip


def _ranges(trace: Trace) -> list[Figure]:
    """Figures over nine tenths of all: with numpy, then with numba, which is loaded between. The first question of a
    trace also finds out what covers what; that is kept beside the columns."""
    measured = []
    ways = ("numpy", "numba") if fast_query.has_numba() else ("numpy",)
    for draw, bar in zip(ways, (900, 150), strict=False):
        if draw == "numba":
            fast_query.load_kernels()
        what = f"range statistics of 10 M slices, {draw}"
        fresh = _without_caches(trace)
        first = per_call(partial(_query, fresh), 1, rounds=1) * 1e3
        value = _ms(partial(_query, fresh))
        some = _ms(partial(_query, fresh, range(len(trace.row_lane) - 1)))
        measured.append(Figure(what=what, value=value, unit="ms CPU", bar=bar))
        measured.append(Figure(what=f"{what}, the first question", value=first, unit="ms CPU", bar=bar))
        measured.append(Figure(what=f"{what}, all rows but one", value=some, unit="ms CPU", bar=bar))
    return measured


def _without_caches(trace: Trace) -> Trace:
    for name in ("seen.npy", "inner.npy"):
        (trace.folder / name).unlink(missing_ok=True)
    return replace(trace)


def _query(trace: Trace, rows: Sequence[int] | None = None) -> object:
    return range_statistics(trace, 5 * 10**8, 95 * 10**8, rows)


def _ms(call: Callable[[], object]) -> float:
    return per_call(call, 1, rounds=5) * 1e3
