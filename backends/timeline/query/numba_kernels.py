"""Range statistics compiled by numba where it is installed and loaded: several times as fast as numpy.

Compiling takes seconds the first time and is cached under the cache home. Nothing waits for it: a caller with a spare
thread calls `load_kernels`, and until then numpy does the work.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.query.bounds import slices_in
from backends.timeline.query.coverage_numpy import rows_with_calls
from backends.timeline.query.row_span import window_edges
from backends.timeline.query.statistics_numba import BUCKETS, RangeRows, SliceColumns
from backends.timeline.query.tally import NO_SLICE, SHORTEST
from studio import files
from studio.paths import cache_home

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.query.row_span import RowSpan
    from backends.timeline.query.tally import Tally
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class StatisticsKernels:
    """The compiled loops of `statistics_numba`. Arrays are passed read-only, so that one compiled version suffices."""

    _tally: Any
    _covered_until: Any

    def tally(self, trace: Trace, span: RowSpan, until: Numbers, tally: Tally) -> None:
        """Add all parts of the slices of a range."""
        table = np.zeros((len(trace.name_family), 6), np.int64)
        table[:, SHORTEST] = NO_SLICE
        calls = rows_with_calls(trace)[span.rows]
        below, below_high = np.zeros((2, len(span.rows)), np.int64)
        below[calls], below_high[calls] = slices_in(trace, span.rows[calls] + 1, span.begin[calls], span.end[calls])
        self._tally(_rows(span), _fixed(below), _fixed(below_high), _slices(trace), _fixed(until), table)
        tally.merge(table.T)

    def covered_until(self, trace: Trace, span: RowSpan) -> Numbers:
        """Return the same as `coverage_numpy.covered_until`."""
        until = np.empty(len(trace.start), np.int64)
        edges = window_edges(trace.start, span, BUCKETS)
        latest = np.full(len(trace.name_family), edges[0], np.int64)
        self._covered_until(_rows(span), _slices(trace), _fixed(edges), latest, until)
        return until


_kernels: list[StatisticsKernels] = []
_temporary: list[tempfile.TemporaryDirectory[str]] = []


def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def loaded() -> StatisticsKernels | None:
    return _kernels[0] if _kernels else None


def choose_cache() -> None:
    """Name the folder of numba's cache. Numba runs what it finds there, so one that somebody else may have written
    to is left alone, and what is compiled is kept for this process only."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    folder = cache_home() / "numba"
    if not files.make_own_folder(folder):
        _temporary.append(tempfile.TemporaryDirectory(prefix="ascend-studio-", ignore_cleanup_errors=True))
        folder = Path(_temporary[-1].name)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


def load_kernels() -> StatisticsKernels | None:
    """Compile in the calling thread. Returns None where numba is missing or does not work here."""
    if not _kernels and has_numba():
        choose_cache()
        try:
            _kernels.append(_compiled())
        except Exception:  # a numba that does not fit this numpy or processor: whatever it raises, numpy does it too
            return None
    return loaded()


def _compiled() -> StatisticsKernels:
    import numba

    from backends.timeline.query import statistics_numba

    jit = numba.njit(cache=True, nogil=True)
    kernels = StatisticsKernels(_tally=jit(statistics_numba.tally), _covered_until=jit(statistics_numba.covered_until))
    _try(kernels)
    return kernels


def _try(kernels: StatisticsKernels) -> None:
    """Run on a single slice, so that the first query does not wait for the compiler."""
    zero, ones, name = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32)
    rows = RangeRows(*map(_fixed, (zero, ones, zero, ones, zero)))
    slices = SliceColumns(*map(_fixed, (zero, ones, name)))
    kernels._tally(rows, _fixed(zero), _fixed(zero), slices, _fixed(zero), np.zeros((1, 6), np.int64))
    kernels._covered_until(rows, slices, _fixed(np.arange(2)), np.zeros(1, np.int64), np.zeros(1, np.int64))


def _rows(span: RowSpan) -> RangeRows:
    return RangeRows(*map(_fixed, (span.low, span.high, span.begin, span.end, span.shift)))


def _slices(trace: Trace) -> SliceColumns:
    return SliceColumns(*map(_fixed, (trace.start, trace.end, trace.name)))


def _fixed(values: Any) -> NDArray[Any]:
    view: NDArray[Any] = np.ascontiguousarray(values).view(np.ndarray)
    view.flags.writeable = False
    return view
