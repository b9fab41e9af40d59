"""What a person is to know of a comparison beside its verdicts, and the verdict for those who read the command's
output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump.dump import MAX, NORM
from studio.events import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.comparison import Comparison
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps

MAX_PAIRS = 4
"""So many pairs of dtypes are named."""


def pass_notes(
    joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the keys of the notes of one pass, and their arguments."""
    if judgement.product_error:
        yield "precision.compare.product_error", {}
    if pairs := sorted(joined.other_dtypes):
        yield "precision.compare.other_dtypes", {"pairs": ", ".join("/".join(pair) for pair in pairs[:MAX_PAIRS])}
    if _has_no_norms(joined):
        yield "precision.compare.no_norms", {}
    yield from unmatched.notes


def _has_no_norms(joined: JoinedDumps) -> bool:
    """Whether float64 tensors have a largest element and no norm."""
    for side, stats, rows in (
        (joined.target, joined.stats, joined.rows.target),
        (joined.golden, joined.golden_stats, joined.rows.golden),
    ):
        if "float64" in side.dtypes:
            is_double = np.append(side.dtype, -1)[rows] == side.dtypes.index("float64")
            if (is_double & ~np.isnan(stats[:, MAX]) & np.isnan(stats[:, NORM])).any():
                return True
    return False


def verdict_notes(comparison: Comparison) -> Iterator[Note]:
    """Yield the verdict of a whole comparison."""
    first = comparison.first
    if first is None:
        args = {"calls": len(comparison.names), "rows": len(comparison.verdict)}
        yield Note(key="precision.compare.none", args=args)
        return
    named = ("name", "place", "index", "step", "rank", "source")
    yield Note(key="precision.compare.found", args={name: getattr(first, name) for name in named})
    yield Note(key=f"precision.first.{first.reason}", args=first.args)
