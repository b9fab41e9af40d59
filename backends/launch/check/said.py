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

BUSY = 0.15
"""Part of the cores that others may keep busy before it is said."""


def with_error(value: str, error: str | None) -> str:
    """'12.3 s ± 0.4 s'; only the value where nothing measured tells its error."""
    return value if error is None else f"{value} ± {error}"


def time(estimate: Estimate) -> str:
    return with_error(duration(estimate.value), None if estimate.error is None else duration(estimate.error))


def memory(estimate: Estimate) -> str:
    """Without an error also where it is exact."""
    return with_error(size(estimate.value), size(estimate.error) if estimate.error else None)


def said(found: Answer) -> Iterator[Note | Finding]:
    yield from notes(found)
    disk = found.disk
    if found.free is not None and disk.all + disk.one > found.free:
        args = {"needed": size(disk.all + disk.one), "free": size(found.free)}
        yield Finding(rule="launch.check.disk_short", severity="warning", args=args)


def notes(found: Answer) -> Iterator[Note]:
    yield Note(key="launch.check.step", args={"seconds": time(found.step), "count": found.measured})
    yield Note(key="launch.check.first", args={"seconds": time(found.first)})
    yield Note(key="launch.check.total", args={"seconds": time(found.total), "steps": found.steps})
    yield Note(key="launch.check.peak", args={"peak": memory(found.peak), "limit": size(found.limit)})
    if found.card_peak is not None:
        yield Note(key="launch.check.card_peak", args={"peak": memory(found.card_peak)})
    disk = found.disk
    yield Note(key="launch.check.disk", args={"one": size(disk.one), "kept": disk.kept, "total": size(disk.all)})
    yield from remarks(found)


def remarks(found: Answer) -> Iterator[Note]:
    """What is no figure by itself."""
    if found.largest is not None:
        yield largest(found.largest, found.limit)
    if found.busy > BUSY * found.cores:
        yield Note(key="launch.check.busy", args={"busy": f"{found.busy:.1f}", "cores": found.cores})
    if found.workers > 1:
        yield Note(key="launch.check.one_worker", args={"workers": found.workers})


def estimated(found: Largest) -> str | None:
    """Of the line through the peaks, in samples; None where it says no more than what was run."""
    if found.ran >= found.most or found.estimate is None or found.estimate <= found.ran:
        return None
    return with_error(str(found.estimate), None if found.error is None else f"{max(1.0, found.error):.0f}")


def largest(found: Largest, limit: int) -> Note:
    """Never more than what was run, or than what a line through measured peaks says, called an estimate."""
    args = {"ran": found.ran, "limit": size(limit)}
    if found.ran >= found.most:
        return Note(key="launch.check.largest_most", args=args)
    estimate = estimated(found)
    if estimate is None and found.failed is not None:
        return Note(key="launch.check.largest_between", args={**args, "failed": found.failed})
    if estimate is None:
        return Note(key="launch.check.largest_ran", args=args)
    return Note(key="launch.check.largest", args={**args, "estimate": estimate})


def values(found: Answer) -> dict[str, Number]:
    """What --json tells; an error only where it is known."""
    told: dict[str, Number] = {
        "step_seconds": found.step.value, "first_seconds": found.first.value, "total_seconds": found.total.value,
        "peak_bytes": found.peak.value, "limit_bytes": found.limit, "checkpoint_bytes": found.disk.one,
        "disk_bytes": found.disk.all, "measured_steps": found.measured,
    }  # fmt: skip
    errors = {
        "step_error": found.step,
        "first_error": found.first,
        "total_error": found.total,
        "peak_error": found.peak,
    }
    told |= {name: one.error for name, one in errors.items() if one.error is not None}
    if found.card_peak is not None:
        told["card_peak_bytes"] = found.card_peak.value
    if found.largest is not None:
        told["largest_batch_run"] = found.largest.ran
        if found.largest.estimate is not None:
            told["largest_batch_estimate"] = found.largest.estimate
        if found.largest.error is not None:
            told["largest_batch_error"] = found.largest.error
    return told
