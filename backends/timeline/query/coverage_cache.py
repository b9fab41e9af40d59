"""Columns that statistics of any range need for all slices: computed once and stored with the trace's columns."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from backends.timeline.build.seal import check_file_seal, write_file_seal
from backends.timeline.query import numba_kernels
from backends.timeline.query.coverage_numpy import covered_below_all, covered_until
from backends.timeline.query.row_span import span_of
from studio.files import written_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.query.row_span import RowSpan
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]


_FAR = 1 << 62
COVERED_UNTIL, COVERED_BELOW = "seen.npy", "inner.npy"
_by_trace: WeakKeyDictionary[Trace, dict[str, Numbers]] = WeakKeyDictionary()
_computing = Lock()


def is_prepared(trace: Trace) -> bool:
    return COVERED_UNTIL in _by_trace.get(trace, ()) or (trace.folder / COVERED_UNTIL).is_file()


def stored_covered_until(trace: Trace) -> Numbers:
    """Return `coverage_numpy.covered_until` over all rows, int64 [slices], computed once per trace.

    Computing takes up to 0.1 s per million slices, so not on the UI thread. Where nothing can be written the column is
    held in memory; a stored file that does not fit is written again.
    """
    return _prepared(trace, COVERED_UNTIL, _compute_covered_until)


def stored_covered_below(trace: Trace) -> Numbers:
    """Return `coverage_numpy.covered_below_all`, int64 [slices], stored as `stored_covered_until` is."""
    return _prepared(trace, COVERED_BELOW, covered_below_all)


def _prepared(trace: Trace, name: str, compute: Callable[[Trace], Numbers]) -> Numbers:
    with _computing:
        columns = _by_trace.setdefault(trace, {})
        if name not in columns:
            columns[name] = _stored(trace, name, lambda: compute(trace))
        return columns[name]


def _compute_covered_until(trace: Trace) -> Numbers:
    return covered_until_in(trace, span_of(trace, -_FAR, _FAR))


def covered_until_in(trace: Trace, span: RowSpan) -> Numbers:
    """Return `coverage_numpy.covered_until` of a range, computed by numba where it is loaded."""
    kernels = numba_kernels.loaded()
    return (kernels.covered_until if kernels else covered_until)(trace, span)


def _stored(trace: Trace, name: str, compute: Callable[[], Numbers]) -> Numbers:
    path = trace.folder / name
    stored = _mapped(path, len(trace.start))
    if stored is not None:
        return stored
    computed = compute()
    with suppress(OSError):
        with written_whole(path) as file:
            np.save(file, computed)
        write_file_seal(path)
        return _mapped(path, len(computed)) if len(computed) else computed  # type: ignore[return-value]
    return computed


def _mapped(path: Path, count: int) -> Numbers | None:
    try:
        check_file_seal(path)
        column: Numbers = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError, msgspec.MsgspecError):
        return None
    return column if column.shape == (count,) and column.dtype == np.int64 else None
