"""How much of an output's difference its inputs and its rounding explain.

For an output o of an operator with the inputs i,

    allowed(o) = ULPS · eps · max(1, κ) + G · max over i of ( f_i · D_i )

D_i: relative error of an input, of its own statistics or of what produced it, whichever is more. f_i: by how much the
operator scales it, from the sizes of the tensors (amax, rms, n elements; `factors`). κ: the largest of them; where sums
cancel, the rounding of what was summed is as large beside the result. G: `kinds.GROWTH`, times `kinds.BACKWARD` for a
backward. eps: one ulp of 1 in the coarser of both sides' dtypes of that output.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from backends.precision.compare.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

ULPS = 8.0
"""Two kernels that both round each output correctly but for a few ulp: 1 to 4 each."""
LOW_ULPS = 4.0
"""For formats of 16 bits and fewer: their sums are kept in float32, and only the result is rounded."""
LOW = 2.0**-10

HOT = 64.0
LARGEST = 1e15
"""Beyond that a result is nothing but rounding."""


class Size(NamedTuple):
    """Of a tensor: largest and typical element by size, the largest less the smallest, the number of elements. A tuple,
    since there is one for each row."""

    amax: float
    rms: float
    spread: float
    elements: float


def rounding(eps: float) -> float:
    """The relative difference of one result in two kernels that round."""
    return (LOW_ULPS if eps >= LOW else ULPS) * eps


def kappa(kind: Kind, found: Sequence[float]) -> float:
    """κ, from the factors. What is further than HOT from the largest of what is exponentiated counts nothing."""
    most = max(found, default=1.0)
    return max(1.0, min(most, HOT) if kind is Kind.SOFT else most)


def factors(kind: Kind, inputs: Sequence[Size], output: Size) -> list[float]:
    """f of each input, by the kind's formula below; 1 where the sizes are not known."""
    return [_bounded(one) for one in _FACTORS[kind](inputs, output)]


def _bounded(factor: float) -> float:
    return min(factor, LARGEST) if factor == factor else 1.0


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else 1.0


def _sum(inputs: Sequence[Size], output: Size) -> list[float]:
    """|Δo| <= Σ |Δi|, so f = amax(i) / amax(o)."""
    return [_ratio(one.amax, output.amax) for one in inputs]


def _product(inputs: Sequence[Size], output: Size) -> list[float]:
    """With K summands, K = sqrt(n_a · n_b / n_o): |Δo| ~ sqrt(K) · |a| · |b| · D. What is added to the product, the
    smaller tensors, as in a sum."""
    order = sorted(range(len(inputs)), key=lambda n: -inputs[n].elements)[:2]
    found = _sum(inputs, output)
    if len(order) == 2:
        one, other = (inputs[n] for n in order)
        summands = math.sqrt(max(one.elements * other.elements / max(output.elements, 1.0), 1.0))
        factor = max(1.0, _ratio(one.rms * other.rms * math.sqrt(summands), output.rms))
        found = [factor if n in order else each for n, each in enumerate(found)]
    return found


def _scale(inputs: Sequence[Size], output: Size) -> list[float]:
    """A relative error stays what it is; of two tensors the largest elements need not meet."""
    if len(inputs) == 2:
        return [max(1.0, _ratio(inputs[0].amax * inputs[1].amax, output.amax))] * 2
    return [1.0] * len(inputs)


def _norm(inputs: Sequence[Size], output: Size) -> list[float]:
    """The mean is taken off: f = amax(i) / (max - min of i, halved). Weights as they are."""
    return [max(1.0, _ratio(2 * inputs[0].amax, inputs[0].spread)), *([1.0] * (len(inputs) - 1))] if inputs else []


def _soft(inputs: Sequence[Size], output: Size) -> list[float]:
    """exp(x (1 + D)) = exp(x) · (1 + x D): f = amax of what is exponentiated. A mask of -10000 is in amax, and in D."""
    if len(inputs) >= 3:
        heat = inputs[0].amax * inputs[1].amax * math.sqrt(max(_ratio(inputs[0].elements, 1.0), 1.0)) ** 0.25
        return [max(1.0, heat), max(1.0, heat), *([1.0] * (len(inputs) - 2))]
    return [max(1.0, one.amax) for one in inputs]


def _reduce(inputs: Sequence[Size], output: Size) -> list[float]:
    """Sums of n_i / n_o elements that cancel: f = amax(i) · k / amax(o), with k = sqrt(n_i / n_o), or 1 / k in a mean:
    which of them, the sizes tell."""
    found = []
    for one in inputs:
        k = math.sqrt(max(one.elements / max(output.elements, 1.0), 1.0))
        mean = _ratio(one.rms / k, output.amax)
        found.append(max(1.0, mean if output.amax <= one.amax else _ratio(one.rms * k, output.amax)))
    return found


def _other(inputs: Sequence[Size], output: Size) -> list[float]:
    return [max(1.0, min(_ratio(one.amax, output.amax), 16.0)) for one in inputs]


def cancelled(inputs: Sequence[Size], siblings: Sequence[Size], output: Size) -> float:
    """κ of a gradient: that of a bias is the sum of what comes in, over the batch, and is nothing but rounding where
    something behind it takes the mean off (the bias of a convolution before a batch norm, or of attention's keys).
    Held against what was summed, or the largest gradient of the same module."""
    summed = (one.rms * math.sqrt(one.elements / output.elements) for one in inputs if one.elements > output.elements)
    return _bounded(max((1.0, *(_ratio(each, output.amax) for each in (*summed, *(one.amax for one in siblings))))))


_FACTORS = {
    Kind.PRODUCT: _product, Kind.SUM: _sum, Kind.SCALE: _scale, Kind.NORM: _norm, Kind.SOFT: _soft,
    Kind.REDUCE: _reduce, Kind.STEEP: _other, Kind.OTHER: _other,
}  # fmt: skip
