"""Facts about a slice, as names and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t
from ui.timeline.drawing.time_text import clock_text, date_text, exact_text
from ui.timeline.panes.facts_table import Fact
from ui.timeline.panes.lane_text import lane_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.timeline.query.details import Details
    from backends.timeline.query.tensors import Tensor
    from ui.timeline.state.view_state import ViewState


def slice_facts(state: ViewState, details: Details) -> tuple[Fact, ...]:
    """Return where a slice is, and how long it takes."""
    return tuple(Fact(name=t(key), value=value) for key, value in _places(state, details) if value)


def _places(state: ViewState, details: Details) -> Iterator[tuple[str, str]]:
    assert state.trace is not None
    is_instant = details.end == details.start
    yield "timeline.slice.duration", t("timeline.view.instant") if is_instant else exact_text(details.duration)
    yield "timeline.slice.own", "" if is_instant or details.own == details.duration else exact_text(details.own)
    yield "timeline.slice.start", exact_text(details.start)
    yield "timeline.slice.offset", _offset_text(state.lanes.offset_of(details.lane))
    if state.trace.meta.is_epoch:
        yield "timeline.slice.absolute", clock_text(details.absolute)
        yield "timeline.slice.date", date_text(details.absolute)
    yield "timeline.slice.raw", details.raw_start
    yield "timeline.slice.lane", lane_text(state, details.lane)
    yield "timeline.slice.rank", "" if details.rank is None else str(details.rank)
    yield "timeline.slice.source", str(details.source)


def _offset_text(ns: int) -> str:
    return f"{'+' if ns > 0 else '-'}{exact_text(abs(ns))}" if ns else ""


def argument_facts(details: Details) -> tuple[Fact, ...]:
    """Return arguments, metrics, tensors and rows of companion tables, one group each."""
    return (*_arguments(details), *_metrics(details), *_tensors(details.tensors), *_tables(details))


def _arguments(details: Details) -> Iterator[Fact]:
    yield Fact(name=t("timeline.slice.args"))
    for name, value in details.args:
        yield Fact(name=name, value=value, is_mono=True)
    if details.problem is not None:
        yield Fact(name=str(details.problem), is_wide=True, token="warning")
    elif not details.args:
        yield Fact(name=t("timeline.slice.no_args"), is_wide=True, token="dim")


def _metrics(details: Details) -> Iterator[Fact]:
    if details.metrics:
        yield Fact(name=t("timeline.slice.metrics"))
    for name, value in details.metrics:
        yield Fact(name=name, value=value, is_mono=True)


def _tensors(tensors: tuple[Tensor, ...]) -> Iterator[Fact]:
    if tensors:
        yield Fact(name=t("timeline.slice.tensors"))
    for tensor in tensors:
        name = t("timeline.slice.output" if tensor.is_output else "timeline.slice.input", place=tensor.position)
        yield Fact(name=name, value="  ".join(filter(None, (tensor.shape, tensor.dtype, tensor.format))), is_mono=True)


def _tables(details: Details) -> Iterator[Fact]:
    for joined in details.tables:
        yield Fact(name=joined.table)
        for name, value in joined.cells.items():
            yield Fact(name=name, value=value, is_mono=True)
