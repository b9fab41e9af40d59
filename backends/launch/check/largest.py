"""The largest micro batch that fits: a line through measured peaks, and a run of what the line says. Pure but for
`attempt`, which runs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.check.figures import NORMAL, student

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_TRIALS = 6
GROWTH = 4
CLEAR = 0.05
"""Peaks must differ by this part of the smallest before a line through them means anything: the process itself takes
hundreds of megabytes and varies by a few."""
CLOSE = 0.03
SAFE = 0.98
"""Share of the limit that is aimed at: what a line says is not exact."""
NOISE = 0.01
"""Part of the smallest peak by which one and the same training differs from run to run, at least."""
VAGUE = 0.3
"""Part of an estimate that its error may be: what is less certain is not told."""
REACH = 16
"""Times the largest batch that was run that an estimate may be: beyond it nothing tells that the line goes on."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A micro batch that was run: its peak in bytes, or that it did not fit (its peak is then where it was ended)."""

    batch: int
    peak: int
    fits: bool = True


@dataclass(frozen=True, kw_only=True)
class Line:
    """peak = base + slope * batch, bytes; `residual`: root of the mean square of what the points are off by."""

    base: float
    slope: float
    residual: float

    def peak(self, batch: int) -> float:
        return self.base + self.slope * batch

    def batch(self, peak_bytes: float) -> int:
        return max(0, int((peak_bytes - self.base) / self.slope))


@dataclass(frozen=True, kw_only=True)
class Largest:
    """`ran`: the largest that was run and fitted; `failed`: the smallest that did not fit, None where none was run;
    `estimate` and `error` in samples, from the line, None where the points make none, contradict it, or leave it vague;
    `most`: more is not possible; `verified`: what the line says was run."""

    ran: int
    failed: int | None
    most: int
    estimate: int | None
    error: float | None
    points: tuple[Point, ...]
    verified: bool = False


def fit(points: Sequence[Point]) -> Line | None:
    """Least squares through the points that fitted; None where their peaks do not clearly rise with the batch."""
    fitting = [point for point in points if point.fits]
    peaks = [point.peak for point in fitting]
    if len({point.batch for point in fitting}) < 2 or max(peaks) - min(peaks) < CLEAR * min(peaks):
        return None
    mean_x, mean_y = sum(point.batch for point in fitting) / len(fitting), sum(peaks) / len(fitting)
    spread = sum((point.batch - mean_x) ** 2 for point in fitting)
    slope = sum((point.batch - mean_x) * (point.peak - mean_y) for point in fitting) / spread
    if slope <= 0:
        return None
    base = mean_y - slope * mean_x
    residual = (sum((point.peak - base - slope * point.batch) ** 2 for point in fitting) / len(fitting)) ** 0.5
    return Line(base=base, slope=slope, residual=residual)


def next_batch(points: Sequence[Point], limit: float, max_batch: int) -> int | None:
    """What to run next; None where more would not tell more."""
    ran = max(point.batch for point in points if point.fits)
    failed = min((point.batch for point in points if not point.fits), default=None)
    highest = max_batch if failed is None else min(max_batch, failed - 1)
    line = fit(points)
    # One that failed although the line allows it: the line is too steep there, so the middle.
    target_batch = GROWTH * ran if line is None else line.batch(SAFE * limit)
    if failed is not None and target_batch >= failed:
        target_batch = (ran + failed) // 2
    target_batch = min(target_batch, highest)
    return target_batch if target_batch > ran * (1 + CLOSE) else None


def search_largest(
    points: Sequence[Point],
    limit: float,
    max_batch: int,
    is_affordable: Callable[[int], bool],
    attempt: Callable[[int], Point | None],
) -> Largest:
    """`points`: what was run already, at least one that fitted; `limit`: bytes; `most`: samples. `attempt` gives None
    where a batch failed for another reason than memory, which ends the search."""
    tried = list(points)
    for _ in range(MAX_TRIALS):
        batch = _affordable(next_batch(tried, limit, max_batch), tried, is_affordable)
        if batch is None:
            break
        point = attempt(batch)
        if point is None:
            break
        tried.append(point)
    return summed_up(tried, limit, max_batch)


def _affordable(batch: int | None, points: Sequence[Point], is_affordable: Callable[[int], bool]) -> int | None:
    """The next batch, or a smaller one that can be run and still tells more: at least twice the largest so far."""
    ran = max(point.batch for point in points if point.fits)
    while batch is not None and not is_affordable(batch):
        smaller = int((ran * batch) ** 0.5)
        batch = smaller if 2 * ran <= smaller < batch else None
    return batch


def summed_up(points: Sequence[Point], limit: float, max_batch: int) -> Largest:
    line = fit(points)
    failed = min((point.batch for point in points if not point.fits), default=None)
    if line is not None and failed is not None and line.batch(limit) >= failed:
        line = None  # it allows what did not fit
    ran = max(point.batch for point in points if point.fits)
    estimate = None if line is None else line.batch(limit)
    error = None if line is None or estimate is None else _error(points, line, estimate)
    if estimate is not None and error is not None and (error > VAGUE * estimate or estimate > REACH * ran):
        estimate = error = None
    return Largest(
        ran=ran,
        failed=failed,
        most=max_batch,
        estimate=None if estimate is None else min(max_batch, estimate),
        error=error,
        points=tuple(sorted(points, key=lambda point: point.batch)),
        verified=line is not None and ran >= (1 - CLOSE) * min(max_batch, line.batch(SAFE * limit)),
    )


def _error(points: Sequence[Point], line: Line, batch: int) -> float:
    """In samples, in nine of ten cases: how far the line may be off at a batch, the further beyond what was run
    the more (inverse prediction, as in Draper and Smith, Applied Regression Analysis, section 3.2). Two points are on
    their line whatever they are, so peaks are off by `NOISE` at least."""
    fitting = [point for point in points if point.fits]
    count, mean = len(fitting), sum(point.batch for point in fitting) / len(fitting)
    spread = sum((point.batch - mean) ** 2 for point in fitting)
    measured = student(count - 1) * line.residual * (count / (count - 2)) ** 0.5 if count > 2 else 0.0
    noise = max(measured, NORMAL * NOISE * min(point.peak for point in fitting))
    return float(noise / line.slope * (1 / count + (batch - mean) ** 2 / spread) ** 0.5)
