"""The columns of the statistics of a range."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ui.timeline.panes.list_model import Column
from ui.timeline.times import length_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ui.timeline.panes.reckoned import Reckoned

HINT = "timeline.range.hint"


def columns_of(found: Reckoned) -> tuple[Column, ...]:
    trace, figures = found.trace, found.statistics
    texts: dict[str, NDArray[Any]] = {
        "timeline.range.wall": figures.wall, "timeline.range.total": figures.total, "timeline.range.own": figures.own,
        "timeline.range.mean": figures.mean, "timeline.range.least": figures.least, "timeline.range.most": figures.most,
    }  # fmt: skip
    return (
        Column(
            head="timeline.range.name",
            text=lambda row: trace.name_text(int(figures.name[row])),
            order=found.by_name,
            hint=HINT,
        ),
        Column(
            head="timeline.range.count",
            text=lambda row: f"{int(figures.count[row]):,}",
            order=figures.count,
            is_number=True,
        ),
        *(
            Column(head=head, text=partial(_length, values), order=values, is_number=True, hint=HINT)
            for head, values in texts.items()
        ),
    )


def _length(values: NDArray[Any], row: int) -> str:
    return length_text(float(values[row]))
