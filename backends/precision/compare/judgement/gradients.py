"""What the optimizer was given, parameter by parameter: the backward agreed, so its gradients have to agree as well.

Between the backward and the update lie clipping, hooks, accumulation and the reduction across ranks. Most of these
change all gradients alike (`updates` judges that); what changes a single one of them is seen here:

    d of the gradient <= min(base, 4096 · x) + 8 · x + rounding

x is the median distance of what the backward made, and where the backward captured this parameter's gradient the
distance of that. Where it did not, x is 64 times the median, at most the level of the last outputs, and eps at least.
Then a gradient that is nothing but rounding can be told only by its size beside the others, and 16 · max(eps, median)
times the rms of the largest gradient / its own is allowed as well. The sums over all elements of a large parameter are
off by up to 4 / sqrt(n) where elements differ at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.judgement.moves import gradient_noise
from backends.precision.dump.dump import GRADIENT, NORM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backends.precision.compare.judgement.evidence import Value
    from backends.precision.compare.judgement.state import Walk
    from backends.precision.compare.values.joined import JoinedDumps

CAPTURED = "parameters_grad"
"""The direction of the calls in which msprobe dumps what the backward gave to a module's parameters."""


@dataclass(frozen=True, kw_only=True)
class BackwardNoise:
    """What two backwards that agree differ by: `median` of the distances of all that they made, and `captured`: the
    largest distance of each parameter's gradient, by its name, of those that were dumped."""

    median: float
    captured: Mapping[str, float]


def backward_noise(joined: JoinedDumps) -> BackwardNoise:
    captured: dict[str, float] = {}
    for row in np.flatnonzero(joined.rows.role == GRADIENT).tolist():
        name = joined.names[int(joined.rows.call[row])]
        distance = float(joined.distance[row])
        if name.direction == CAPTURED and distance == distance:
            parameter = f"{name.api}.{joined.rows.items[joined.rows.item[row]]}"
            captured[parameter] = max(captured.get(parameter, 0.0), distance)
    return BackwardNoise(median=gradient_noise(joined), captured=captured)


def unexplained_gradient(
    walk: Walk, gradients: Sequence[tuple[str, Value]], sums: Sequence[tuple[str, Value]]
) -> tuple[str, Value] | None:
    """Return the first parameter whose gradient differs by more than the backward explains, with the row that shows it,
    None without. `gradients`: parameters with the rows of their sampled gradients, `sums` with those of the sums."""
    noise = backward_noise(walk.evidence.joined)
    for group, is_summed in ((gradients, False), (sums, True)):
        largest = max((_size(walk, value) for _, value in group), default=0.0)
        for name, value in group:
            own = _size(walk, value)
            limit = _limit(walk, value, noise, name, largest / own if own > 0 else math.inf)
            if is_summed:
                limit += walk.evidence.tolerances.sums_factor / math.sqrt(value.size.elements)
            walk.values[value.row].allowed = limit
            if value.distance > limit:
                return name, value
    return None


def _limit(walk: Walk, value: Value, noise: BackwardNoise, parameter: str, times: float) -> float:
    """Return what a gradient may differ by. `times`: the largest gradient as a multiple of this one."""
    tolerances = walk.evidence.tolerances
    captured = noise.captured.get(parameter)
    if captured is None:
        level = max(value.eps, min(walk.recent_level(), tolerances.update_growth * noise.median))
    else:
        level = max(captured, noise.median)
    base = min(tolerances.update_base, tolerances.update_base_growth * level)
    size = tolerances.rounded_gradient * max(value.eps, noise.median)
    hidden = size * times if captured is None else 0.0
    of_golden_runs = tolerances.update_ways * value.noise
    return base + tolerances.gradient_growth * level + hidden + tolerances.rounding(value.eps) + of_golden_runs


def _size(walk: Walk, value: Value) -> float:
    """Return the rms of a golden gradient, 0 where it is unknown."""
    norm = float(walk.evidence.joined.golden_stats[value.row, NORM])
    return norm / math.sqrt(value.size.elements) if math.isfinite(norm) else 0.0
