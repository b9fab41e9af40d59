"""The same figures, counted by numba where it is installed and was loaded: several times as fast.

Compiling takes seconds the first time and is kept under the cache's home. Nothing waits for it: whoever has a thread to
spare calls `load`, and until it is ready everything goes by numpy.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.query.bounds import slices_in
from backends.timeline.query.compiled import BUCKETS
from backends.timeline.query.covered import rows_with_calls
from backends.timeline.query.span import window_edges
from backends.timeline.query.tally import LEAST, NEVER
from studio.places import cache_home

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.query.span import Span
    from backends.timeline.query.tally import Tally
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """`_tally`, `_see`: of `compiled`. Arrays are passed as read-only ones, so that one version will do."""

    _tally: Any
    _see: Any

    def tally(self, trace: Trace, span: Span, seen: Numbers, tally: Tally) -> None:
        """Adds all parts of the slices of a range."""
        table = np.zeros((len(trace.name_family), 6), np.int64)
        table[:, LEAST] = NEVER
        calls = rows_with_calls(trace)[span.rows]
        below, below_high = np.zeros((2, len(span.rows)), np.int64)
        below[calls], below_high[calls] = slices_in(trace, span.rows[calls] + 1, span.begin[calls], span.end[calls])
        columns = below, below_high, trace.start, trace.end, trace.name, seen
        self._tally(*map(_fixed, (span.low, span.high, span.begin, span.end, *columns)), table)
        tally.merge(table.T)

    def seen_before(self, trace: Trace, span: Span) -> Numbers:
        """As `covered.seen_before`."""
        seen = np.empty(len(trace.start), np.int64)
        edges = window_edges(trace.start, span, BUCKETS)
        latest = np.full(len(trace.name_family), edges[0], np.int64)
        pieces = span.low, span.high, span.begin, span.end, span.shift
        self._see(*map(_fixed, (*pieces, trace.start, trace.end, trace.name, edges)), latest, seen)
        return seen


_kernels: list[Kernels] = []


def is_there() -> bool:
    return importlib.util.find_spec("numba") is not None


def loaded() -> Kernels | None:
    return _kernels[0] if _kernels else None


def load() -> Kernels | None:
    """Compiles, in the thread of the caller. None where numba is not there or does not work here."""
    if not _kernels and is_there():
        os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_home() / "numba"))
        try:
            _kernels.append(_compiled())
        except Exception:  # a numba that does not fit this numpy or processor: whatever it raises, numpy does it too
            return None
    return loaded()


def _compiled() -> Kernels:
    import numba

    from backends.timeline.query import compiled

    jit = numba.njit(cache=True, nogil=True)
    kernels = Kernels(_tally=jit(compiled.tally), _see=jit(compiled.see))
    _try(kernels)
    return kernels


def _try(kernels: Kernels) -> None:
    """One slice: so that the first question does not wait for the compiler."""
    zero, one, name = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32)
    pieces = tuple(map(_fixed, (zero, one, zero, one, zero)))
    columns = tuple(map(_fixed, (zero, one, name)))
    kernels._tally(*pieces, _fixed(zero), *columns, _fixed(zero), np.zeros((1, 6), np.int64))
    kernels._see(*pieces, *columns, _fixed(np.arange(2)), np.zeros(1, np.int64), np.zeros(1, np.int64))


def _fixed(values: Any) -> NDArray[Any]:
    view: NDArray[Any] = np.ascontiguousarray(values).view(np.ndarray)
    view.flags.writeable = False
    return view
