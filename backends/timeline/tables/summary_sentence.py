"""Where the time went, in a few sentences: keys and arguments. Each figure has the basis that the first names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from backends.timeline.tables.announced_steps import step_names
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.timeline.tables.announced_steps import StepCoverage
    from backends.timeline.tables.idle_causes import Cause
    from backends.timeline.tables.step_table import Difference
    from backends.timeline.tables.summary import StepTimes, Summary

_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
MAX_NAMED = 8  # devices that a sentence names
_FIGURES = {
    "whole": "timeline.summary.figure.whole", "computing": "timeline.summary.figure.computing",
    "exposed": "timeline.summary.figure.exposed", "free": "timeline.summary.figure.free",
}  # fmt: skip


def texts(summary: Summary) -> list[str]:
    """Return the sentences in the current language: where the time went, the longest cause, what is in no figure."""
    headline = sentence(summary)
    keys = [*([headline] if headline else []), *(cause_sentence(summary, cause) for cause in summary.causes[:1])]
    if summary.idle_devices and summary.whole:
        keys.append(("timeline.summary.left_out", {"devices": _names(summary.idle_devices)}))
    return [t(key, **args) for key, args in keys] + _table_texts(summary.differences)


def _table_texts(differences: Sequence[Difference]) -> list[str]:
    """Return a sentence for the first step of each device whose table has other figures."""
    firsts = {difference.step.device: difference for difference in reversed(differences)}
    return [
        t(
            "timeline.summary.table_differs", table=each.table.name, where=_where(each.step),
            step="" if each.step.number is None else t("timeline.summary.of_step", number=each.step.number),
            name=t(_FIGURES[each.name]), theirs=time_text(each.theirs), ours=time_text(each.ours),
        )
        for each in list(firsts.values())[: -MAX_NAMED - 1 : -1]
    ]  # fmt: skip


def coverage_texts(coverage: StepCoverage) -> list[str]:
    """Return what is said of traces that nothing tells the length of, nothing of others."""
    if coverage.is_announced or coverage.gaps or not coverage.steps:
        return []
    return [t("timeline.summary.covered", steps=step_names(coverage.steps))]


def sentence(summary: Summary) -> tuple[str, dict[str, str]] | None:
    """Return the sentence, or None where the trace does not support one."""
    if summary.whole:
        return _of_device(summary)
    if not summary.operators:
        return None
    first = summary.operators[0]
    args = {"name": first.name, "time": time_text(first.own), "count": str(first.count), "ranks": str(summary.hosts)}
    if summary.hosts > 1:
        return "timeline.summary.hosts", args
    return "timeline.summary.host_once" if first.count == 1 else "timeline.summary.host", args


def _of_device(summary: Summary) -> tuple[str, dict[str, str]]:
    shares = {name: share_text(summary.share(name)) for name in ("computing", "exposed", "free")}
    return _key(summary.basis), shares | {"time": time_text(summary.whole)} | _basis_args(summary.basis)


def _basis_args(basis: Sequence[StepTimes]) -> dict[str, str]:
    of_device, first = Counter(step.device for step in basis), basis[0]
    counts = {"count": len(basis), "ranks": len(of_device), "steps": max(of_device.values()), "number": first.number}
    return {"where": _where(first)} | {name: str(count) for name, count in counts.items()}


def _where(step: StepTimes) -> str:
    if step.rank is not None:
        return t("timeline.summary.of_rank", rank=step.rank)
    return t("timeline.summary.of_label", name=step.label) if step.label else t("timeline.summary.of_device")


def _key(basis: Sequence[StepTimes]) -> str:
    """Return the headline that names the basis: a step or a whole trace, of a device or the mean over several."""
    of_device = Counter(step.device for step in basis)
    has_ranks = len({rank for _, rank, _ in of_device} - {None}) == len(of_device)
    numbers = {frozenset(step.number for step in basis if step.device == device) for device in of_device}
    if basis[0].number is None:
        if is_repeated(of_device):
            return "timeline.summary.wholes_again"
        return "timeline.summary.whole" if len(basis) == 1 else "timeline.summary.wholes"
    if is_repeated(of_device):
        return "timeline.summary.again"
    if len(of_device) == 1:
        return "timeline.summary.step" if len(basis) == 1 else "timeline.summary.steps"
    if len(numbers) > 1 or len(set(of_device.values())) > 1:
        return "timeline.summary.uneven"
    if len(basis) == len(of_device):
        return "timeline.summary.ranks" if has_ranks else "timeline.summary.devices"
    return "timeline.summary.steps_of_ranks"


def is_repeated(recorded: Iterable[tuple[int, int | None, str]]) -> bool:
    """Tell whether one rank was recorded more than once: a folder with several captures of a training is no folder of
    several devices. `recorded`: source, rank and label of each."""
    known = [(rank, label) for _, rank, label in recorded if rank is not None]
    return len(set(known)) < len(known)


def cause_sentence(summary: Summary, cause: Cause) -> tuple[str, dict[str, str]]:
    """Return the sentence of a cause. Where the headline is a mean, its time is said to be the same mean."""
    time = time_text(cause.ns)
    return cause.key, {"time": t("timeline.summary.same_mean", time=time) if len(summary.basis) > 1 else time}


def _names(devices: Sequence[StepTimes]) -> str:
    names = [f"rank {step.rank}" if step.rank is not None else step.label or "–" for step in devices]
    return ", ".join(names[:MAX_NAMED]) + (" …" if len(names) > MAX_NAMED else "")


def time_text(ns: int) -> str:
    """Format a time with at most four digits, as "148.8 ms"."""
    size, unit = next((candidate for candidate in _UNITS if ns >= 0.99995 * candidate[0]), _UNITS[-1])
    value = ns / size
    return f"{value:.0f} {unit}" if size == 1 or value >= 1000 else f"{value:.4g} {unit}"


def share_text(share: float) -> str:
    percent = 100 * share
    return f"{percent:.1f} %" if 0.05 <= percent < 9.95 else f"{percent:.0f} %"
