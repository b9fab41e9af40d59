"""Why a call has its verdict, in words: its error against its limit."""

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
from ui.precision.row_text import format_figure
from ui.precision.verdict_text import reason_text

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

KEYS_WITH_FIGURES = {
    EXPLAINED: "precision.operator.why_explained", FOLLOWS: "precision.operator.why_follows",
    DIFFERS: "precision.operator.why_differs", FIRST: "precision.operator.why_differs",
}  # fmt: skip
KEYS_WITHOUT_FIGURES = {
    EQUAL: "precision.operator.why_equal", EXPLAINED: "precision.operator.why_equal",
    MISSING: "precision.operator.why_missing", EXTRA: "precision.operator.why_extra",
    FOLLOWS: "precision.operator.why_no_figure", DIFFERS: "precision.operator.why_no_figure",
    FIRST: "precision.operator.why_no_figure",
}  # fmt: skip


def explain_call(comparison: Comparison, call: int) -> str:
    """Return the reason of the first divergence, and of any other call its figures."""
    first = comparison.first
    reason = reason_text(first) if first is not None and first.call == call else ""
    return reason or _figures(comparison, call)


def _figures(comparison: Comparison, call: int) -> str:
    verdict = int(comparison.call_verdict[call])
    error, limit = float(comparison.call_error[call]), float(comparison.call_allowed[call])
    if verdict not in KEYS_WITH_FIGURES or not math.isfinite(error):
        return t(KEYS_WITHOUT_FIGURES.get(verdict, "precision.operator.why_unknown"))
    before = float(comparison.call_input[call])
    key = KEYS_WITH_FIGURES[verdict]
    if verdict in (FIRST, DIFFERS) and not error > limit:
        key = "precision.operator.why_within"
    return t(
        key,
        error=format_figure(error),
        limit=format_figure(limit),
        before=_input(before),
        times=times_over_limit(error, limit),
    )


def _input(distance: float) -> str:
    return format_figure(0.0 if math.isnan(distance) else distance)


def times_over_limit(error: float, limit: float) -> str:
    """Return how many times the limit an error is: '1 600', '2.4'."""
    if not limit > 0 or not math.isfinite(error):
        return "∞"
    ratio = error / limit
    return f"{ratio:,.0f}".replace(",", "\u2009") if ratio >= 10 else f"{ratio:.1f}"
