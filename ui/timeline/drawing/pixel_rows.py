"""Loading of the numba version of `draw_pixel_rows`, about three times as fast as numpy.

Compiling takes seconds the first time and is cached under the cache home; nothing waits for it.
"""

from __future__ import annotations

import gc
import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.query import numba_kernels as statistics
from ui.timeline.drawing.frame import (
    FAINTEST,
    LEVELS,
    NO_BACKGROUND,
    SEAM,
    PixelEdges,
    SliceColumns,
    blank,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ui.timeline.drawing.frame import DrawPixelRows, Pixels


NO_COLLECTION = (1 << 30,) * 3
_loading = threading.Lock()


def load_numba() -> DrawPixelRows | None:
    """Compile in the calling thread. Returns None where numba is missing or does not work here."""
    if not statistics.has_numba():
        return None
    statistics.choose_cache()
    try:
        from ui.timeline.drawing.pixel_rows_numba import draw_pixel_rows as compiled

        lines = _with(compiled)
        _try(lines)
    except Exception:  # a numba that does not fit this numpy or processor: whatever it raises, there is a way without
        return None
    return lines


def load_in_background(answer: Callable[[DrawPixelRows], object]) -> None:
    """Call `answer` in a separate thread once the compiled version is ready; never where numba is missing. The range
    statistics are compiled next in the same thread: two compilations at once would slow each other down."""

    def wait() -> None:
        with _loading, nullcontext() if "numba" in sys.modules else _unsearched():
            compiled_rows = load_numba()
            if compiled_rows is not None:
                answer(compiled_rows)
                statistics.load_kernels()

    threading.Thread(target=wait, name="timeline-fast", daemon=True).start()


@contextmanager
def _unsearched() -> Iterator[None]:
    """Suspend garbage collection while numba is imported. Its objects, a hundred thousand and more, stay for good:
    searching them for cycles takes 0.1 s at a time of the UI thread (`ui.shell.garbage`). Existing objects are frozen
    afterwards."""
    before = gc.get_threshold()
    gc.set_threshold(*NO_COLLECTION)
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*before)


def _with(compiled: Any) -> DrawPixelRows:
    def lines(
        columns: SliceColumns,
        rows: NDArray[np.int64],
        offsets: NDArray[np.int64],
        edges: PixelEdges,
        shades: NDArray[np.int32],
        colors: NDArray[np.uint32],
        background: NDArray[np.uint32] = NO_BACKGROUND,
    ) -> Pixels:
        pixels = blank(len(rows), edges, background)
        compiled(
            columns.start, columns.name, columns.cover, columns.row_begin, rows, offsets,
            edges.base, edges.rel, edges.cuts, edges.per_column, shades, colors.ravel(), pixels, LEVELS, FAINTEST, SEAM,
        )  # fmt: skip
        return pixels

    return lines


def _try(lines: DrawPixelRows) -> None:
    """Run on a single slice, so that the first frame does not wait for the compiler."""
    from ui.timeline.drawing.frame import edges_of

    single_slice = {"start": np.array([2]), "cover": np.array([0, 5]), "row_begin": np.array([0, 1])}
    columns = SliceColumns(name=np.zeros(1, np.int32), **single_slice)
    for column in (columns.start, columns.name, columns.cover, columns.row_begin):
        column.flags.writeable = False
    zero = np.zeros(1, np.int64)
    shades, colors = np.zeros(1, np.int32), np.ones((1, LEVELS + 1), np.uint32)
    lines(columns, zero, zero, edges_of(0.0, 10.0, 10), shades, colors)
