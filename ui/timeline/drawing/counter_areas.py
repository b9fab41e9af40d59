"""Counters as areas: for each pixel column the lowest and the highest value, drawn as steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Series, Trace
    from ui.timeline.drawing.frame import PixelEdges, Pixels

_PREFIXES = ("", "K", "M", "G", "T", "P")
# Units that take a prefix, and may have one already. Decimal: a profiler does not say what its K is.
_PREFIXED = re.compile(r"(?P<prefix>[kKMGT]?)(?P<base>(?:B|b|Hz|FLOPS|FLOP|OPS|W|V|A|bps|)(?:/s)?)")
BYTE_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
HEADROOM = 3  # px above the highest value


@dataclass(frozen=True, kw_only=True)
class Area:
    """float64 [width], nan before the first sample, where no value is known yet."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def area_of(trace: Trace, series: Series, edges: PixelEdges, offset: int = 0) -> Area:
    """Return the area of a counter. A value holds until the next sample; values that are not finite count as
    unknown."""
    time = trace.sample_time[series.begin : series.end]
    value = trace.sample_value[series.begin : series.end]
    width = len(edges.cuts) - 1
    at = np.searchsorted(time, edges.cuts - offset)
    low = np.full(width, np.nan)
    carried = np.flatnonzero(at[:-1] > 0)
    low[carried] = _finite(value[at[:-1][carried] - 1])
    high = low.copy()
    behind = np.flatnonzero(edges.cuts[:-1] - offset > trace.span)  # nothing is known of then
    low[behind] = high[behind] = np.nan
    new = np.flatnonzero(at[1:] > at[:-1])
    if len(new):
        first, last = int(at[0]), int(at[-1])
        inside, begins = _finite(value[first:last]), at[:-1][new] - first
        low[new] = np.fmin(low[new], np.fmin.reduceat(inside, begins))
        high[new] = np.fmax(high[new], np.fmax.reduceat(inside, begins))
    return Area(low=low, high=high)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, np.nan)


def value_at(trace: Trace, series: Series, time: float, offset: int = 0) -> float | None:
    """Return the value of a counter at a time; None before its first sample."""
    at = int(np.searchsorted(trace.sample_time[series.begin : series.end], int(np.floor(time)) - offset, "right"))
    return float(trace.sample_value[series.begin + at - 1]) if at else None


def bounds_of(series: Series) -> tuple[float, float]:
    """Return what the height of a band stands for: from zero, unless there are lower values."""
    low = min(0.0, series.low) if np.isfinite(series.low) else 0.0
    high = series.high if np.isfinite(series.high) else 1.0
    return low, high if high > low else low + 1.0


def paint_area(part: Pixels, area: Area, bounds: tuple[float, float], soft: int, line: int) -> None:
    """Paint into the pixels of a band [height, width]: the area up to the lowest value, and from there to the
    highest."""
    height = len(part)
    scale = (height - HEADROOM) / (bounds[1] - bounds[0])
    is_finite = np.isfinite(area.low) & np.isfinite(area.high)
    low = np.where(is_finite, height - (np.nan_to_num(area.low) - bounds[0]) * scale, height + 1)
    high = np.where(is_finite, height - (np.nan_to_num(area.high) - bounds[0]) * scale, height + 1)
    top, bottom = np.floor(high).astype(np.int64), np.floor(low).astype(np.int64)
    top, bottom = _joined(top, bottom, height)
    y = np.arange(height)[:, None]
    np.copyto(part, np.uint32(soft), where=y >= bottom)
    np.copyto(part, np.uint32(line), where=(y >= np.minimum(top, height - 1)) & (y <= bottom) & is_finite)


def _joined(
    top: NDArray[np.int64], bottom: NDArray[np.int64], height: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join steps by upright lines: the line of each column reaches to that of the previous column."""
    lower = bottom.copy()
    before = np.minimum(top[:-1], height)
    lower[1:] = np.where(before > bottom[1:], np.where(before < height, before, bottom[1:]), bottom[1:])
    upper = top.copy()
    upper[1:] = np.where(bottom[:-1] < top[1:], bottom[:-1], top[1:])
    return upper, lower


def figure_text(value: float, unit: str) -> str:
    """Format a value as '1.25 GiB' or '1,650 MHz'."""
    if unit in ("B", "Byte", "Bytes", "bytes"):
        divisor, name = next(((divisor, name) for divisor, name in BYTE_UNITS if abs(value) >= divisor), (1, "B"))
        return f"{value / divisor:.4g} {name}"
    if abs(value) >= 1e6 and (raised := _with_higher_prefix(value, unit)):
        return raised
    digits = f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.4g}"
    return f"{digits} {unit}".strip()


def _with_higher_prefix(value: float, unit: str) -> str:
    """Return a large value with the prefix that fits: 2.164e6 KB are 2.164 GB; empty where the unit has none."""
    match = _PREFIXED.fullmatch(unit)
    if match is None:
        return ""
    level = _PREFIXES.index((match["prefix"] or "").upper())
    higher = next((step for step in (4, 3, 2, 1) if level + step < len(_PREFIXES) and abs(value) >= 1e3**step), 0)
    text = f"{value / 1e3**higher:.4g}" if higher else f"{value:,.0f}"
    return f"{text} {_PREFIXES[level + higher]}{match['base']}".strip() if higher else f"{text} {unit}"
