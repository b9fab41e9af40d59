"""An answer of a check, with whatever a test changes in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backends.launch.check import figures, largest
from backends.launch.check.answer import Answer
from backends.launch.check.largest import Point

if TYPE_CHECKING:
    from collections.abc import Callable


MB = 10**6


def on_a_line(limit: int) -> Callable[[int], Point]:
    return lambda batch: Point(batch=batch, peak=500 * MB + batch * MB, fits=500 * MB + batch * MB <= limit)


def search_result(limit: int, most: int = 65536, attempt: Any = None, affordable: Any = None) -> largest.Largest:
    begin = on_a_line(limit)(8)
    is_affordable = affordable or (lambda batch: True)
    return largest.search_largest([begin], limit, most, is_affordable, attempt or on_a_line(limit))


def answer(**changes: Any) -> Answer:
    estimate = figures.Estimate
    made = Answer(
        device="cpu", batch=32, steps=20, measured=2, step=estimate(value=0.01, error=0.001), first=estimate(value=1.0),
        peak=estimate(value=500e6), card_peak=None, limit=10**9, total=estimate(value=9.0, error=0.5),
        disk=figures.Disk(one=1000, kept=2), free=10**6, workers=1, busy=0.1, cores=2, largest=search_result(2000 * MB),
    )  # fmt: skip
    return replace(made, **changes)
