"""Durations of slices, which come as numbers or as text, to whole nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.times import NEVER, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# Below it, in ns, a float64 of microseconds errs by less than a thousandth: only what is near a half is in doubt.
CLEAR = 1e12
DOUBT = 1e-3

Spoken = float | str | None


def durations_of(spoken: Sequence[Spoken], text_of: Callable[[int], str]) -> NDArray[np.int64]:
    """int64 [n], ns; none is 0; NEVER where it is negative or no finite number. `text_of`: the literal of one of them,
    for those where the float may not say what was written."""
    try:
        scaled = np.fromiter(spoken, np.float64, len(spoken)) * 1000.0
        scaled[~np.isfinite(scaled)] = -1.0
    except (ValueError, TypeError, OverflowError):
        return np.array([_exactly(each, index, text_of) for index, each in enumerate(spoken)], np.int64)
    whole = np.rint(scaled)
    sure = (scaled >= 0) & (scaled < CLEAR) & (np.abs(np.abs(scaled - whole) - 0.5) > DOUBT)
    durations = np.where(sure, whole, 0).astype(np.int64)
    for index in np.flatnonzero(~sure).tolist():
        durations[index] = _exactly(spoken[index], index, text_of)
    return durations


def _exactly(spoken: Spoken, index: int, text_of: Callable[[int], str]) -> int:
    if spoken is None:
        return 0
    text = spoken if isinstance(spoken, str) else text_of(index) if abs(spoken) * 1000 >= CLEAR else repr(spoken)
    duration = nanoseconds(text)
    return NEVER if duration is None or duration < 0 else duration
