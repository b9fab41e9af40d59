"""Single steps that are off again and again, such as each tenth of a training: too few for the mean, too small for the
limit of one step, and nothing like the steps around them. Pure.

spike          a step whose relative error is more than spike_limit, more than SPIKE_FACTOR times the median of the
               SPIKE_NEIGHBOURS steps around it, and more than so many times the median of all: normal scatter is five
               standard deviations off there
spike_limit    WINDOW_FACTOR times the limit, see `compare`
allowed        SPIKES_BY_CHANCE, and SPIKE_SHARE of the steps unless the spikes are evenly spaced, which chance is not;
               at least NOISE_FACTOR times the spikes between the golden runs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPIKE_FACTOR = 8.0
SPIKE_NEIGHBOURS = 50
SPIKES_BY_CHANCE = 2
SPIKE_SHARE = 0.02
MAX_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class Spikes:
    """`count` of them; `steps`: the first MAX_NAMED; `is_even`: each is as many steps behind the one before."""

    count: int = 0
    steps: tuple[int, ...] = ()
    is_even: bool = False


NO_SPIKES = Spikes()


def find_spikes(steps: NDArray[Any], relative: NDArray[Any], limit: float) -> Spikes:
    """`steps`: int64, ascending; `relative`: the relative error of each, finite or infinite."""
    if not len(relative):
        return NO_SPIKES
    places = np.flatnonzero(relative > max(limit, SPIKE_FACTOR * float(np.median(relative))))
    around = places[:, None] + np.arange(-SPIKE_NEIGHBOURS // 2, SPIKE_NEIGHBOURS // 2 + 1)
    is_neighbour = (around >= 0) & (around < len(relative)) & (around != places[:, None])
    errors = np.where(is_neighbour, relative[np.clip(around, 0, len(relative) - 1)], np.nan)
    if len(places) and len(relative) > 1:
        places = places[relative[places] > SPIKE_FACTOR * np.nanmedian(errors, axis=1)]
    gaps = np.diff(places)
    is_even = len(gaps) > 1 and int(gaps.min()) == int(gaps.max())
    return Spikes(count=len(places), steps=tuple(steps[places[:MAX_NAMED]].tolist()), is_even=is_even)


def allowed_spikes(spikes: Spikes, steps: int, noise_spikes: float) -> int:
    """Return how many of `steps` may be spikes. `noise_spikes`: as many are explained by the noise."""
    by_chance = SPIKES_BY_CHANCE if spikes.is_even else max(SPIKES_BY_CHANCE, SPIKE_SHARE * steps)
    return int(max(by_chance, noise_spikes))
