"""The data pane: sources of the profile, its contents, what was set aside and why, and what was not collected."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.tables.missing_data import Missing, missing
from backends.timeline.tables.sheets import holds_tables_only
from ui.timeline.latest_question import LatestQuestion
from ui.timeline.panes.data_facts import count_facts, missing_facts, source_facts
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.facts_table import FactsTable

if TYPE_CHECKING:
    from backends.timeline.profile_reader import Opened
    from backends.timeline.source_discovery import Remark
    from backends.timeline.trace import Trace
    from ui.timeline.state.view_state import ViewState


class DataPane(QWidget):
    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self._latest = LatestQuestion(self)
        self._remarks: tuple[Trace, tuple[Remark, ...]] | None = None
        self.missing: tuple[Missing, ...] | None = None
        self.sources = FactsTable("timeline_sources", "timeline.data.sources", 0.7)
        self.counts = FactsTable("timeline_counts", "timeline.data.counts", 0.75)
        self.not_collected = FactsTable("timeline_missing", "timeline.data.missing")
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.sources, 4)
        row.addWidget(self.counts, 4)
        row.addWidget(self.not_collected, 5)
        body = QWidget()
        body.setLayout(row)
        self._pages = QStackedWidget()
        self._pages.addWidget(Hint("timeline.pane.no_trace"))
        self._pages.addWidget(body)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        state.trace_changed.connect(self._follow)

    def show_opened(self, opened: Opened | None) -> None:
        """Take the notes of a profile: they belong to the trace that is shown, or that is shown next. The lease is not
        held."""
        self._remarks = None if opened is None else (opened.trace, opened.notes)
        self.retranslate()

    def _follow(self) -> None:
        self.missing = None
        self._latest.drop()
        trace = self._state.trace
        if trace is not None and trace.meta.partial is None and not holds_tables_only(trace.meta):
            self._latest.run(partial(_missing, trace), self._show)
        self.retranslate()

    def _show(self, missing: tuple[Missing, ...]) -> None:
        self.missing = missing
        self.retranslate()

    def retranslate(self) -> None:
        trace = self._state.trace
        self._pages.setCurrentIndex(0 if trace is None else 1)
        if trace is None:
            return
        remarks = self._remarks[1] if self._remarks is not None and self._remarks[0] is trace else ()
        self.sources.show_facts(tuple(source_facts(trace.meta, remarks)))
        self.counts.show_facts(tuple(count_facts(trace.meta)))
        self.not_collected.show_facts(() if self.missing is None else tuple(missing_facts(self.missing)))


def _missing(trace: Trace) -> tuple[Missing, ...]:
    try:
        return missing(trace)
    except OSError:
        return ()
