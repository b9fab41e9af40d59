"""Alphabetical order of names, ignoring case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

MAX_NAMES = 200_000  # more of them take a second


def name_order(trace: Trace, names: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the alphabetical position of each name; None where there are too many names. Not for the UI thread."""
    if len(names) > MAX_NAMES:
        return None
    texts = [trace.name_text(name).lower() for name in names.tolist()]
    places = np.empty(len(texts), np.int64)
    places[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return places
