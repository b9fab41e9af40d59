"""What statistics of any range need of all slices: made at the first question, and kept beside the trace's columns."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from backends.timeline.query import fast
from backends.timeline.query.covered import seen_before, under_all
from backends.timeline.query.span import span_of
from studio.files import written_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.query.span import Span
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]


_FAR = 1 << 62
SEEN, INNER = "seen.npy", "inner.npy"
_known: WeakKeyDictionary[Trace, dict[str, Numbers]] = WeakKeyDictionary()
_one_at_a_time = Lock()


def is_prepared(trace: Trace) -> bool:
    return SEEN in _known.get(trace, ()) or (trace.folder / SEEN).is_file()


def seen_of(trace: Trace) -> Numbers:
    """`covered.seen_before` over all rows, int64 [slices]. Off the UI thread: the first time up to 0.1 s per million
    slices. Where nothing can be written it is held in memory; a file that does not fit is written anew."""
    return _prepared(trace, SEEN, _seen)


def inner_of(trace: Trace) -> Numbers:
    """`covered.under_all`, int64 [slices]. As `seen_of`."""
    return _prepared(trace, INNER, under_all)


def _prepared(trace: Trace, name: str, make: Callable[[Trace], Numbers]) -> Numbers:
    with _one_at_a_time:
        known = _known.setdefault(trace, {})
        if name not in known:
            known[name] = _kept(trace, name, lambda: make(trace))
        return known[name]


def _seen(trace: Trace) -> Numbers:
    return seen_in(trace, span_of(trace, -_FAR, _FAR))


def seen_in(trace: Trace, span: Span) -> Numbers:
    """`covered.seen_before`, by numba where it is loaded."""
    kernels = fast.loaded()
    return (kernels.seen_before if kernels else seen_before)(trace, span)


def _kept(trace: Trace, name: str, make: Callable[[], Numbers]) -> Numbers:
    path = trace.folder / name
    found = _mapped(path, len(trace.start))
    if found is not None:
        return found
    made = make()
    with suppress(OSError):
        with written_whole(path) as file:
            np.save(file, made)
        return _mapped(path, len(made)) if len(made) else made  # type: ignore[return-value]
    return made


def _mapped(path: Path, count: int) -> Numbers | None:
    try:
        found: Numbers = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return found if found.shape == (count,) and found.dtype == np.int64 else None
