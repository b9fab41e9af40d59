"""What a check found, as sentences by their keys, and as the values of --json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.events import Finding, Note
from studio.units import duration, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.check.answer import Answer
    from backends.launch.check.figures import Estimate
    from backends.launch.check.largest import Largest
    from studio.events import Number

FIGURE_KEYS = {
    "step": "launch.check.row.step", "first": "launch.check.row.first", "total": "launch.check.row.total",
    "peak": "launch.check.row.peak", "disk": "launch.check.row.disk",
    "card_peak": "launch.check.row.card_peak",
}  # fmt: skip
"""The names of the figures that a check predicts."""
BUSY = 0.15
"""Part of the cores that others may keep busy before it is said."""


def with_error(value: str, error: str | None) -> str:
    """'12.3 s ± 0.4 s'; only the value where nothing measured tells its error."""
    return value if error is None else f"{value} ± {error}"


def time_text(estimate: Estimate) -> str:
    """An error as large as the value itself says how long it takes at most: no time is negative."""
    if estimate.error is not None and estimate.error >= estimate.value:
        return f"{duration(estimate.value)} (≤ {duration(estimate.value + estimate.error)})"
    return with_error(duration(estimate.value), None if estimate.error is None else duration(estimate.error))


def memory_text(estimate: Estimate) -> str:
    """Without an error also where it is exact."""
    return with_error(size(estimate.value), size(estimate.error) if estimate.error else None)


def messages(answer: Answer) -> Iterator[Note | Finding]:
    yield from figure_notes(answer)
    disk = answer.disk
    if answer.free is not None and disk.all + disk.one > answer.free:
        args = {"needed": size(disk.all + disk.one), "free": size(answer.free)}
        yield Finding(rule="launch.check.disk_short", severity="warning", args=args)


def figure_notes(answer: Answer) -> Iterator[Note]:
    yield Note(key="launch.check.step", args={"seconds": time_text(answer.step), "count": answer.measured})
    yield Note(key="launch.check.first", args={"seconds": time_text(answer.first)})
    yield Note(key="launch.check.total", args={"seconds": time_text(answer.total), "steps": answer.steps})
    yield Note(key="launch.check.peak", args={"peak": memory_text(answer.peak), "limit": size(answer.limit)})
    if answer.card_peak is not None:
        yield Note(key="launch.check.card_peak", args={"peak": memory_text(answer.card_peak)})
    disk = answer.disk
    yield Note(
        key="launch.check.disk",
        args={"one": size(disk.one), "kept": disk.kept, "total": with_error(size(disk.all), size(disk.error))},
    )
    yield from remarks(answer)


def remarks(answer: Answer) -> Iterator[Note]:
    """What is no figure by itself."""
    if answer.largest is not None:
        yield largest(answer.largest, answer.limit)
    if answer.busy > BUSY * answer.cores:
        yield Note(key="launch.check.busy", args={"busy": f"{answer.busy:.1f}", "cores": answer.cores})
    if answer.workers > 1:
        yield Note(key="launch.check.together", args={"workers": answer.workers})


def estimated(result: Largest) -> str | None:
    """Return the estimate of the line through the peaks, in samples; None where the runs themselves say as much."""
    if result.ran >= result.most or result.estimate is None or result.estimate <= result.ran:
        return None
    return with_error(str(result.estimate), None if result.error is None else f"{max(1.0, result.error):.0f}")


def largest(result: Largest, limit: int) -> Note:
    """Never more than what was run, or than what a line through measured peaks says, called an estimate."""
    args = {"ran": result.ran, "limit": size(limit)}
    if result.ran >= result.most:
        return Note(key="launch.check.largest_most", args=args)
    estimate = estimated(result)
    if result.verified and result.failed is None:
        return Note(key="launch.check.largest_verified", args=args)
    if estimate is None and result.failed is not None:
        return Note(key="launch.check.largest_between", args={**args, "failed": result.failed})
    if estimate is None:
        return Note(key="launch.check.largest_ran", args=args)
    return Note(key="launch.check.largest", args={**args, "estimate": estimate})


def answer_values(answer: Answer) -> dict[str, Number]:
    """What --json tells; an error only where it is known."""
    figures: dict[str, Number] = {
        "step_seconds": answer.step.value, "first_seconds": answer.first.value, "total_seconds": answer.total.value,
        "peak_bytes": answer.peak.value, "limit_bytes": answer.limit, "checkpoint_bytes": answer.disk.one,
        "disk_bytes": answer.disk.all, "measured_steps": answer.measured,
    }  # fmt: skip
    errors = {
        "step_error": answer.step,
        "first_error": answer.first,
        "total_error": answer.total,
        "peak_error": answer.peak,
    }
    figures |= {name: estimate.error for name, estimate in errors.items() if estimate.error is not None}
    if answer.card_peak is not None:
        figures["card_peak_bytes"] = answer.card_peak.value
    if answer.largest is not None:
        figures["largest_batch_run"] = answer.largest.ran
        if answer.largest.estimate is not None:
            figures["largest_batch_estimate"] = answer.largest.estimate
        if answer.largest.error is not None:
            figures["largest_batch_error"] = answer.largest.error
    return figures
