"""The order of names in a list, as people sort them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

MOST = 200_000  # more of them take a second


def name_order(trace: Trace, names: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """For each name its place among them, by text; None where they are too many. Off the UI thread."""
    if len(names) > MOST:
        return None
    texts = [trace.name_text(name).lower() for name in names.tolist()]
    places = np.empty(len(texts), np.int64)
    places[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return places
