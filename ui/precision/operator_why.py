"""Why a call has its verdict: its figures against what they were held against, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import (
    DIFFERS,
    EQUAL,
    EXPLAINED,
    EXTRA,
    FIRST,
    FOLLOWS,
    MISSING,
)
from studio.texts import t
from ui.precision.row_text import figure
from ui.precision.verdict_said import reason_of

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

WITH_FIGURES = {
    EXPLAINED: "precision.operator.why_explained", FOLLOWS: "precision.operator.why_follows",
    DIFFERS: "precision.operator.why_differs", FIRST: "precision.operator.why_differs",
}  # fmt: skip
WITHOUT = {
    EQUAL: "precision.operator.why_equal", EXPLAINED: "precision.operator.why_equal",
    MISSING: "precision.operator.why_missing", EXTRA: "precision.operator.why_extra",
    FOLLOWS: "precision.operator.why_no_figure", DIFFERS: "precision.operator.why_no_figure",
    FIRST: "precision.operator.why_no_figure",
}  # fmt: skip


def why(comparison: Comparison, call: int) -> str:
    """Of the first divergence its reason, of other calls their figures."""
    first = comparison.first
    reason = reason_of(first) if first is not None and first.call == call else ""
    return reason or _figures(comparison, call)


def _figures(comparison: Comparison, call: int) -> str:
    verdict = int(comparison.call_verdict[call])
    error, limit = float(comparison.call_error[call]), float(comparison.call_allowed[call])
    if verdict not in WITH_FIGURES or not math.isfinite(error):
        return t(WITHOUT.get(verdict, "precision.operator.why_unknown"))
    before = float(comparison.call_input[call])
    key = WITH_FIGURES[verdict]
    if verdict in (FIRST, DIFFERS) and not error > limit:
        key = "precision.operator.why_within"
    return t(key, error=figure(error), limit=figure(limit), before=_input(before), times=times(error, limit))


def _input(distance: float) -> str:
    return figure(0.0 if math.isnan(distance) else distance)


def times(error: float, limit: float) -> str:
    """How many times the limit: '1 600', '2.4'."""
    if not limit > 0 or not math.isfinite(error):
        return "∞"
    ratio = error / limit
    return f"{ratio:,.0f}".replace(",", "\u2009") if ratio >= 10 else f"{ratio:.1f}"
