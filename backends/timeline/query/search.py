"""Search for slices by name: names are searched first, then slices by the numbers of their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.bounds import all_rows
from backends.timeline.query.coverage_numpy import pieces
from backends.timeline.query.name_search import names_matching, names_with
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

_CHUNK = 1 << 18  # slices looked at together: what is made on the way stays in the processor's cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """`indexes` int64, ascending: by row, and by start within a row (`in_time` sorts them). `names` bool [names]:
    matching names, for drawing. `row_begin` int64 [rows + 1]: the hits of row r begin at `row_begin[r]`. `problem`: why
    the search itself failed."""

    text: str
    indexes: NDArray[np.int64]
    names: NDArray[np.bool_]
    row_begin: NDArray[np.int64]
    problem: StudioError | None = None


def search(
    trace: Trace, text: str, *, regex: bool = False, case: bool = False, rows: Sequence[int] | None = None
) -> Hits:
    """Return all slices whose name contains `text` or matches it as a regular expression; an empty text matches
    nothing. `rows`: of those only. Regular expressions run in a child process (see `name_search`)."""
    none = np.zeros(len(trace.name_family), bool)
    try:
        names = none if not text else (names_matching if regex else names_with)(trace, text, case=case)
    except StudioError as error:
        return _hits(trace, text, none, np.empty(0, np.int64), error)
    parts = [_matching(trace, names, at) for at in _pieces(trace, rows)] if names.any() else []
    indexes = np.concatenate([np.empty(0, np.int64), *parts])
    if (indexes[1:] < indexes[:-1]).any():  # short rows come behind the long ones
        indexes.sort()
    return _hits(trace, text, names, indexes)


def _hits(
    trace: Trace, text: str, names: NDArray[np.bool_], indexes: NDArray[np.int64], problem: StudioError | None = None
) -> Hits:
    row_begin = np.searchsorted(indexes, trace.row_begin).astype(np.int64)
    return Hits(text=text, indexes=indexes, names=names, row_begin=row_begin, problem=problem)


def _matching(trace: Trace, names: NDArray[np.bool_], at: slice | NDArray[np.int64]) -> NDArray[np.int64]:
    matching = np.flatnonzero(names[trace.name[at]])
    return matching + at.start if isinstance(at, slice) else at[matching]


def _pieces(trace: Trace, rows: Sequence[int] | None) -> Iterator[slice | NDArray[np.int64]]:
    chosen = all_rows(trace) if rows is None else np.unique(np.array(rows, np.int64))
    return pieces(trace.row_begin[chosen], trace.row_begin[chosen + 1], _CHUNK)


def in_time(trace: Trace, hits: Hits) -> NDArray[np.int64]:
    """Return the hits in order of start; those that start together are in order of their rows. Sorting ten million
    takes a second: for a table, off the UI thread."""
    order = np.argsort(trace.start[hits.indexes], kind="stable")
    return hits.indexes[order]
