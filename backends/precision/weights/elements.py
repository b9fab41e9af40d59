"""Elements of a tensor that are further off than what is allowed of the whole tensor explains.

The distance of a whole tensor hides what happens to one element of many: a sign that is turned in one of a million
weights moves the norm by a thousandth of it. With `allow` the relative distance that is accepted,

    |target - golden| <= allow * (|golden| + 2 * rms(golden))

has to hold for each element. Rounding does: it is in proportion to the element itself. So does noise that is spread
over the tensor, up to about two fifths of `allow` in the norm. An element that changed its sign does not, where it is
larger than about allow * rms(golden).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.measure.formats import widened
from backends.precision.measure.measures import pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.measure.formats import Array
    from backends.precision.measure.measures import Measures, Tensor

RMS_FACTOR = 2.0


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """How many elements are further off than allowed, and how many of these have the other sign."""

    count: int = 0
    turned: int = 0


def count_outliers(
    target: Tensor, golden: Tensor, measures: Measures, allow: float, report: Callable[[], object] = lambda: None
) -> Outliers:
    """Count the outliers of two tensors of one shape, see the module. The tensors are read again only where their
    measures leave it open. Raises what reading raises, and what `report` does."""
    base = RMS_FACTOR * measures.golden_rms
    if measures.max_rel <= allow or measures.max_abs <= allow * base:
        return Outliers()
    count = turned = 0
    for target_piece, golden_piece in pieces(target, golden):
        is_complex = "c" in (target_piece.dtype.kind, golden_piece.dtype.kind)
        ours = _wide(target_piece, target.dtype, is_complex=is_complex)
        others = _wide(golden_piece, golden.dtype, is_complex=is_complex)
        with np.errstate(all="ignore"):
            is_beyond = np.abs(ours - others) > allow * (np.abs(others) + base)
            count += int(np.count_nonzero(is_beyond))
            turned += int(np.count_nonzero(is_beyond & (ours * others < 0)))
        report()
    return Outliers(count=count, turned=turned)


def _wide(piece: Array, dtype: str, *, is_complex: bool) -> Array:
    """Return a piece as float64, the parts of complex numbers one by one."""
    if is_complex:
        return piece.astype(np.complex128).view(np.float64)
    return widened(piece, dtype).astype(np.float64)
