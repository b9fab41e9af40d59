"""How much of an output's difference its inputs and its rounding explain.

For an output o of an operator with the inputs i,

    allowed(o) = κ · rounding(eps) + G · max over i of ( f_i · level_i )

f_i: by how much the operator scales the relative error of an input, from the sizes of the tensors (amax, rms, n
elements; `factors`). κ: the largest of them, the condition number; where sums cancel, the rounding of what was summed
is as large beside the result. G and rounding: `tolerances`. First-order error analysis: Higham, Accuracy and Stability
of Numerical Algorithms, chapters 1 (condition numbers) and 3 (inner products).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from backends.precision.compare.judgement.operators import Kind, adds_up, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.compare.tolerances import Tolerances

MAX_FACTOR = 1e15
"""Beyond that a result is nothing but rounding."""


class Size(NamedTuple):
    """Sizes of a tensor: its largest and its typical element by absolute value, the largest less the smallest, and the
    number of elements."""

    amax: float
    rms: float
    spread: float
    elements: float


def kappa(kind: Kind, factors: Sequence[float], tolerances: Tolerances) -> float:
    """Return κ, the largest of the factors; that of an exponential has a bound."""
    largest = max(factors, default=1.0)
    return max(1.0, min(largest, tolerances.max_kappa_of_exponent) if kind is Kind.SOFT else largest)


def factors(api: str, inputs: Sequence[Size], output: Size, tolerances: Tolerances) -> list[float]:
    """Return f of each input, by the formula of the operator's kind below; 1 where the sizes are not known."""
    formula = _summed if adds_up(api) else _FORMULAS.get(kind_of(api))
    if formula is None:
        max_factor = tolerances.max_unknown_factor
        scales = [max(1.0, min(_ratio(size.amax, output.amax), max_factor)) for size in inputs]
    else:
        scales = formula(inputs, output)
    return [_bounded(factor) for factor in scales]


def shift_factors(api: str, inputs: Sequence[Size], output: Size) -> list[float]:
    """Return f of a reduction where errors do not cancel: a norm's rounding moves all that a mean is taken of by as
    much. Of n_i / n_o elements that is sqrt(n_i / n_o) times what errors at random leave of a sum that cancels. 0 of
    other operators."""
    if kind_of(api) is not Kind.REDUCE:
        return [0.0] * len(inputs)
    is_mean = not adds_up(api)
    shifts = []
    for size in inputs:
        count = max(size.elements / max(output.elements, 1.0), 1.0)
        summands = 1.0 if is_mean and output.amax <= size.amax else count
        shifts.append(_bounded(_ratio(size.rms * summands, output.amax)))
    return shifts


def _bounded(factor: float) -> float:
    return min(factor, MAX_FACTOR) if factor == factor else 1.0


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else 1.0


def _sum(inputs: Sequence[Size], output: Size) -> list[float]:
    """|Δo| <= Σ |Δi|, so f = amax(i) / amax(o)."""
    return [_ratio(size.amax, output.amax) for size in inputs]


def _product(inputs: Sequence[Size], output: Size) -> list[float]:
    """With K summands, K = sqrt(n_a · n_b / n_o): |Δo| ~ sqrt(K) · |a| · |b| · D. What is added to the product, the
    smaller tensors, as in a sum."""
    multiplied = sorted(range(len(inputs)), key=lambda n: -inputs[n].elements)[:2]
    scales = _sum(inputs, output)
    if len(multiplied) == 2:
        a, b = (inputs[n] for n in multiplied)
        summands = math.sqrt(max(a.elements * b.elements / max(output.elements, 1.0), 1.0))
        factor = max(1.0, _ratio(a.rms * b.rms * math.sqrt(summands), output.rms))
        scales = [factor if n in multiplied else scale for n, scale in enumerate(scales)]
    return scales


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
        exponent = inputs[0].amax * inputs[1].amax * math.sqrt(max(_ratio(inputs[0].elements, 1.0), 1.0)) ** 0.25
        return [max(1.0, exponent), max(1.0, exponent), *([1.0] * (len(inputs) - 2))]
    return [max(1.0, size.amax) for size in inputs]


def _reduce(inputs: Sequence[Size], output: Size) -> list[float]:
    """A mean, or a sum, of n_i / n_o elements: f as of a sum, and divided by their number in a mean. Where the name
    does not tell, the sizes say which of them it is: no mean is larger than what it is taken of."""
    scales = []
    for size, of_sum in zip(inputs, _summed(inputs, output), strict=True):
        count = max(size.elements / max(output.elements, 1.0), 1.0)
        scales.append(max(1.0, of_sum / count) if output.amax <= size.amax else of_sum)
    return scales


def _summed(inputs: Sequence[Size], output: Size) -> list[float]:
    """Sums of n_i / n_o elements, which may cancel: f = rms(i) · sqrt(n_i / n_o) / amax(o)."""
    summed = (size.rms * math.sqrt(max(size.elements / max(output.elements, 1.0), 1.0)) for size in inputs)
    return [max(1.0, _ratio(size, output.amax)) for size in summed]


def cancelled(inputs: Sequence[Size], siblings: Sequence[Size], output: Size) -> float:
    """Return κ of a gradient. That of a bias is the sum of what comes in, over the batch, and is nothing but rounding
    where something behind it takes the mean off (the bias of a convolution before a batch norm, or of attention's
    keys). It is held against what was summed, or the largest gradient of the same module."""
    summed = (
        size.rms * math.sqrt(size.elements / output.elements) for size in inputs if size.elements > output.elements
    )
    scales = (*summed, *(size.amax for size in siblings))
    return _bounded(max((1.0, *(_ratio(scale, output.amax) for scale in scales))))


_FORMULAS = {
    Kind.PRODUCT: _product, Kind.SUM: _sum, Kind.SCALE: _scale, Kind.NORM: _norm, Kind.SOFT: _soft,
    Kind.REDUCE: _reduce,
}  # fmt: skip
"""Of the kinds whose scaling is known; the others take the ratio of the largest elements, within a bound."""
