"""One sentence about where the time went: its key and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.timeline.tables.idle_causes import Cause
    from backends.timeline.tables.summary import Summary

_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def sentence(summary: Summary) -> tuple[str, dict[str, str]] | None:
    """Return the sentence, or None where the trace does not support one."""
    if summary.whole:
        return _of_device(summary)
    if not summary.operators:
        return None
    first = summary.operators[0]
    args = {"name": first.name, "time": time_text(first.own), "count": str(first.count)}
    return "timeline.summary.host_once" if first.count == 1 else "timeline.summary.host", args


def _of_device(summary: Summary) -> tuple[str, dict[str, str]]:
    steps = [step for step in summary.steps if step.number is not None and step.whole]
    args = {name: share_text(summary.share(name)) for name in ("computing", "exposed", "free")}
    if not steps:
        return "timeline.summary.whole", args | {"time": time_text(summary.whole)}
    args |= {"time": time_text(summary.whole // len(steps)), "count": str(len(steps))}
    if len(steps) == 1:
        return "timeline.summary.step", args
    return "timeline.summary.ranks" if len({step.number for step in steps}) == 1 else "timeline.summary.steps", args


def cause_sentence(cause: Cause) -> tuple[str, dict[str, str]]:
    return cause.key, {"time": time_text(cause.ns)}


def time_text(ns: int) -> str:
    """Format a time with at most four digits, as "148.8 ms"."""
    size, unit = next((candidate for candidate in _UNITS if ns >= 0.99995 * candidate[0]), _UNITS[-1])
    value = ns / size
    return f"{value:.0f} {unit}" if size == 1 or value >= 1000 else f"{value:.4g} {unit}"


def share_text(share: float) -> str:
    percent = 100 * share
    return f"{percent:.1f} %" if 0.05 <= percent < 9.95 else f"{percent:.0f} %"
