"""What the range pane shows, reckoned off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.query.busy import Busy, busy
from backends.timeline.query.statistics import Statistics, range_statistics
from backends.timeline.tables.sentence import share_text
from studio.texts import t
from ui.timeline.panes.name_order import name_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

MOST_SAID = 64
PARTS = ("computing", "exposed", "free")


@dataclass(frozen=True, kw_only=True)
class Question:
    """`is_chosen`: the range was drawn, else it is what is in view. `rows`: None for all."""

    begin: int
    end: int
    is_chosen: bool
    rows: Sequence[int] | None
    offsets: Mapping[int, int] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Reckoned:
    """`devices`: empty where no device was traced, or lanes were moved against each other. `by_name`: the order of the
    names."""

    trace: Trace
    question: Question
    statistics: Statistics
    devices: tuple[Busy, ...]
    by_name: NDArray[np.int64] | None


def reckon(trace: Trace, question: Question) -> Reckoned:
    statistics = range_statistics(trace, question.begin, question.end, question.rows, question.offsets)
    return Reckoned(
        trace=trace,
        question=question,
        statistics=statistics,
        devices=() if question.offsets else busy(trace, question.begin, question.end),
        by_name=name_order(trace, statistics.name),
    )


def devices_text(devices: Sequence[Busy]) -> str:
    """One sentence, of several devices their mean; empty where there are none."""
    if not devices:
        return ""
    if len(devices) == 1:
        return device_text(devices[0])
    whole = sum(map(_whole, devices))
    shares = {name: share_text(sum(getattr(one, name) for one in devices) / whole) for name in PARTS}
    return t("timeline.range.devices", count=len(devices), **shares)


def device_text(one: Busy) -> str:
    shares = {name: share_text(getattr(one, name) / _whole(one)) for name in PARTS}
    said = t("timeline.range.device", name=one.label or "–", **shares)
    return said if one.rank is None else t("timeline.view.rank_process", rank=one.rank, name=said)


def devices_tip(devices: Sequence[Busy]) -> str:
    return "\n".join(map(device_text, devices[:MOST_SAID])) if len(devices) > 1 else ""


def _whole(one: Busy) -> int:
    return max(1, one.computing + one.exposed + one.free)
