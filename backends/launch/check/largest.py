"""The largest micro batch that fits: a line through measured peaks, and a run of what the line says. Pure but for
`attempt`, which runs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_TRIALS = 6
GROWTH = 4
CLEAR = 0.05
"""Peaks must differ by this part of the smallest before a line through them means anything: the process itself takes
hundreds of megabytes and varies by a few."""
CLOSE = 0.03
SAFE = 0.98
"""Of the limit: what a line says is not exact."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A micro batch that was run: its peak in octets, or that it did not fit (its peak is then where it was ended)."""

    batch: int
    peak: int
    fits: bool = True


@dataclass(frozen=True, kw_only=True)
class Line:
    """peak = base + slope * batch, octets; `residual`: root of the mean square of what the points are off by."""

    base: float
    slope: float
    residual: float

    def peak(self, batch: int) -> float:
        return self.base + self.slope * batch

    def batch(self, octets: float) -> int:
        return max(0, int((octets - self.base) / self.slope))


@dataclass(frozen=True, kw_only=True)
class Largest:
    """`ran`: the largest that was run and fitted; `failed`: the smallest that did not fit, None where none was run;
    `estimate` and `error` in samples, from the line, None where the points make none or contradict it; `most`: more is
    not possible."""

    ran: int
    failed: int | None
    most: int
    estimate: int | None
    error: float | None
    points: tuple[Point, ...]


def fit(points: Sequence[Point]) -> Line | None:
    """Least squares through the points that fitted; None where their peaks do not clearly rise with the batch."""
    known = [point for point in points if point.fits]
    peaks = [point.peak for point in known]
    if len({point.batch for point in known}) < 2 or max(peaks) - min(peaks) < CLEAR * min(peaks):
        return None
    mean_x, mean_y = sum(point.batch for point in known) / len(known), sum(peaks) / len(known)
    spread = sum((point.batch - mean_x) ** 2 for point in known)
    slope = sum((point.batch - mean_x) * (point.peak - mean_y) for point in known) / spread
    if slope <= 0:
        return None
    base = mean_y - slope * mean_x
    residual = (sum((point.peak - base - slope * point.batch) ** 2 for point in known) / len(known)) ** 0.5
    return Line(base=base, slope=slope, residual=residual)


def next_batch(points: Sequence[Point], limit: float, most: int) -> int | None:
    """What to run next; None where more would not tell more."""
    ran = max(point.batch for point in points if point.fits)
    failed = min((point.batch for point in points if not point.fits), default=None)
    highest = most if failed is None else min(most, failed - 1)
    line = fit(points)
    # One that failed although the line allows it: the line is too steep there, so the middle.
    wanted = GROWTH * ran if line is None else line.batch(SAFE * limit)
    if failed is not None and wanted >= failed:
        wanted = (ran + failed) // 2
    wanted = min(wanted, highest)
    return wanted if wanted > ran * (1 + CLOSE) else None


def search(
    points: Sequence[Point],
    limit: float,
    most: int,
    is_affordable: Callable[[int], bool],
    attempt: Callable[[int], Point | None],
) -> Largest:
    """`points`: what was run already, at least one that fitted; `limit`: octets; `most`: samples. `attempt` gives None
    where a batch failed for another reason than memory, which ends the search."""
    found = list(points)
    for _ in range(MOST_TRIALS):
        batch = next_batch(found, limit, most)
        if batch is None or not is_affordable(batch):
            break
        point = attempt(batch)
        if point is None:
            break
        found.append(point)
    return summed_up(found, limit, most)


def summed_up(points: Sequence[Point], limit: float, most: int) -> Largest:
    line = fit(points)
    failed = min((point.batch for point in points if not point.fits), default=None)
    if line is not None and failed is not None and line.batch(limit) >= failed:
        line = None  # it allows what did not fit
    return Largest(
        ran=max(point.batch for point in points if point.fits),
        failed=failed,
        most=most,
        estimate=None if line is None else min(most, line.batch(limit)),
        error=None if line is None else _error(points, line),
        points=tuple(sorted(points, key=lambda point: point.batch)),
    )


def _error(points: Sequence[Point], line: Line) -> float | None:
    """In samples: what the line is off by at the points. Two points are on their line whatever they are, so nothing is
    known of them."""
    known = [point for point in points if point.fits]
    return line.residual / line.slope if len({point.batch for point in known}) > 2 else None
