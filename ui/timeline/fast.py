"""The same lines as `frame.lines`, compiled by numba where it is installed: about three times as fast.

Compiling takes seconds the first time and is kept under the cache's home; nothing waits for it.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.query import fast as statistics
from studio.places import cache_home
from ui.timeline.frame import FAINTEST, LEVELS, NOTHING, SEAM, Columns, Edges, blank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ui.timeline.frame import Lines, Pixels


NEVER = (1 << 30,) * 3
_loading = threading.Lock()


def is_there() -> bool:
    return importlib.util.find_spec("numba") is not None


def load() -> Lines | None:
    """Compiles, in the thread of the caller. None where numba is not there or does not work here."""
    if not is_there():
        return None
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_home() / "numba"))
    try:
        from ui.timeline.compiled import lines as compiled

        lines = _with(compiled)
        _try(lines)
    except Exception:  # a numba that does not fit this numpy or processor: whatever it raises, there is a way without
        return None
    return lines


def load_in_background(answer: Callable[[Lines], object]) -> None:
    """Calls `answer` in a thread of its own, once it is ready; never where there is no numba. What counts statistics
    follows in the same thread: two that compile at once would be in each other's way."""

    def wait() -> None:
        with _loading, nullcontext() if "numba" in sys.modules else _unsearched():
            made = load()
            if made is not None:
                answer(made)
                statistics.load()

    threading.Thread(target=wait, name="timeline-fast", daemon=True).start()


@contextmanager
def _unsearched() -> Iterator[None]:
    """What numba makes stays, a hundred thousand objects and more: looking for rings among them takes 0.1 s at a time
    of the UI thread (`ui.garbage`). So nobody looks meanwhile, nor ever at what is there then."""
    before = gc.get_threshold()
    gc.set_threshold(*NEVER)
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*before)


def _with(compiled: Any) -> Lines:
    def lines(
        columns: Columns,
        rows: NDArray[np.int64],
        offsets: NDArray[np.int64],
        edges: Edges,
        shades: NDArray[np.int32],
        colors: NDArray[np.uint32],
        background: NDArray[np.uint32] = NOTHING,
    ) -> Pixels:
        made = blank(len(rows), edges, background)
        compiled(
            columns.start, columns.name, columns.cover, columns.row_begin, rows, offsets,
            edges.base, edges.rel, edges.cuts, edges.per_column, shades, colors.ravel(), made, LEVELS, FAINTEST, SEAM,
        )  # fmt: skip
        return made

    return lines


def _try(lines: Lines) -> None:
    """One slice: so that the first frame does not wait for the compiler."""
    from ui.timeline.frame import edges_of

    one = {"start": np.array([2]), "cover": np.array([0, 5]), "row_begin": np.array([0, 1])}
    columns = Columns(name=np.zeros(1, np.int32), **one)
    for column in (columns.start, columns.name, columns.cover, columns.row_begin):
        column.flags.writeable = False
    zero = np.zeros(1, np.int64)
    shades, colors = np.zeros(1, np.int32), np.ones((1, LEVELS + 1), np.uint32)
    lines(columns, zero, zero, edges_of(0.0, 10.0, 10), shades, colors)
