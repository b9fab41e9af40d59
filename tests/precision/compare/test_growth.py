"""By how much an operator scales the relative error of its inputs."""

from __future__ import annotations

import pytest

from backends.precision.compare.judgement.growth import Size, factors
from backends.precision.compare.tolerances import TOLERANCES

SUMMANDS = Size(amax=0.1, rms=0.05, spread=0.2, elements=400.0)
CANCELLED = Size(amax=0.01, rms=0.005, spread=0.02, elements=100.0)


@pytest.mark.parametrize(("api", "factor"), [("sum", 10.0), ("ReduceSum", 10.0), ("mean", 2.5), ("mse_loss", 2.5)])
def test_that_a_sum_that_cancels_is_no_mean(api: str, factor: float) -> None:
    """A sum of four, smaller than its summands, looks like a mean by its size alone."""
    assert factors(api, [SUMMANDS], CANCELLED, TOLERANCES) == pytest.approx([factor])
