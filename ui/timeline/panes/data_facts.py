"""Facts about the contents of a profile, as names and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from studio.texts import has, t
from ui.timeline.panes.facts_table import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.timeline.source_discovery import Remark
    from backends.timeline.tables.missing_data import Missing
    from backends.timeline.trace import Meta, Source

LINE = 42  # characters
COUNTS = {
    "events": "timeline.data.events", "slices": "timeline.data.slices", "instants": "timeline.data.instants",
    "flow_ends": "timeline.data.flow_ends", "counters": "timeline.data.counters", "metadata": "timeline.data.metadata",
    "flows": "timeline.data.flows", "dangling": "timeline.data.dangling",
}  # fmt: skip
KINDS = {
    "text": "timeline.data.text", "db": "timeline.data.db", "table": "timeline.data.table",
    "analysis": "timeline.data.analysis",
}  # fmt: skip


def source_facts(meta: Meta, remarks: Sequence[Remark]) -> Iterator[Fact]:
    yield Fact(name=t("timeline.data.sources"))
    for source in meta.sources:
        yield Fact(name=_kind(source), value=source.path, is_mono=True)
    for remark in remarks:
        yield Fact(name=t(remark.key, **remark.args), is_wide=True, token="warning")


def _kind(source: Source) -> str:
    kind = t(KINDS[source.kind]) if source.kind in KINDS else source.kind
    if source.rank is not None:
        kind = t("timeline.view.rank_process", rank=source.rank, name=kind)
    state = "timeline.data.cut" if source.truncated else "timeline.data.gaps" if source.gaps else None
    return " · ".join((kind, t(state))) if state else kind


def count_facts(meta: Meta) -> Iterator[Fact]:
    yield Fact(name=t("timeline.data.counts"))
    for field, key in COUNTS.items():
        yield Fact(name=t(key), value=f"{getattr(meta, field):,}")
    yield Fact(name=t("timeline.data.lanes"), value=f"{len(meta.lanes):,}")
    yield Fact(name=t("timeline.data.series"), value=f"{len(meta.series):,}")
    if _are_from_memory(meta):
        yield Fact(name=t("timeline.data.from_memory"), is_wide=True, token="dim")
    yield Fact(name=t("timeline.data.aside"))
    reasons = {reason: count for reason, count in meta.set_aside.items() if count}
    for reason, count in reasons.items():
        yield Fact(name=t(reason) if has(reason) else reason, value=f"{count:,}", token="warning")
    if not reasons:
        yield Fact(name=t("timeline.data.nothing_aside"), is_wide=True, token="dim")


def _are_from_memory(meta: Meta) -> bool:
    """Return whether the series come from Kineto's [memory] instants, which are drawn as counters, too."""
    return bool(meta.series) and not meta.counters and all(source.kind == "text" for source in meta.sources)


def _lines(switch: str) -> Iterator[str]:
    """Yield a long call over several lines that still form one Python call when they are copied."""
    line = ""
    for part in re.split(r"(?<=[(,])", switch):
        if line and len(line) + len(part) > LINE:
            yield line.rstrip()
            line = "    "
        line += part if line.strip() else part.lstrip()
    yield line


def missing_facts(missing: Sequence[Missing]) -> Iterator[Fact]:
    yield Fact(name=t("timeline.data.missing"))
    for view in missing:
        yield Fact(name=t(view.key), is_wide=True)
        for line in _lines(view.switch):
            yield Fact(name=line, is_wide=True, is_mono=True, token="dim")
    if not missing:
        yield Fact(name=t("timeline.data.all_there"), is_wide=True, token="dim")
