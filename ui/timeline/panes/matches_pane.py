"""The matches of a search in order of time; a click goes to one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from studio.texts import t
from ui.timeline.drawing.time_text import length_text
from ui.timeline.latest_question import LatestQuestion
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.lane_text import lane_text
from ui.timeline.panes.list_model import Column, ListModel
from ui.timeline.panes.list_view import ListView
from ui.timeline.panes.name_order import name_order
from ui.widgets.basic import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace
    from ui.timeline.state.view_state import ViewState

MAX_MATCHES = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed:
    """The first MAX_MATCHES hits as arrays [rows]: `slices`, and what they are sorted by and described with."""

    slices: NDArray[np.int64]
    name: NDArray[np.int64]
    by_name: NDArray[np.int64] | None
    lane: NDArray[np.int64]
    start: NDArray[np.int64]
    length: NDArray[np.int64]


class MatchesPane(QWidget):
    """`is_jumping`: the slice that is being selected was clicked here."""

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self._latest = LatestQuestion(self)
        self._hits: NDArray[np.int64] | None = None
        self.listed: Listed | None = None
        self.is_jumping = False
        self.cut = label(role="hint")
        self.cut.setObjectName("timeline_matches_cut")
        self.model = ListModel()
        self.view = ListView(self.model, "timeline_matches", "timeline.matches.table")
        self.view.chosen.connect(self._go)
        self.view.opened.connect(lambda _row: state.lanes_focus_requested.emit())
        self._hint = Hint("timeline.matches.empty")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.cut)
        column.addWidget(self._pages, 1)
        state.hits.changed.connect(self._follow)
        self.retranslate()

    def _follow(self) -> None:
        state = self._state
        if state.hits.slices is self._hits:
            self._mark()
            return
        self._hits, self.listed = state.hits.slices, None
        self.model.show_rows((), 0)
        self._latest.drop()
        if state.trace is None or not len(state.hits.slices):
            self.retranslate()
        else:
            self._latest.run(partial(_listed, state.trace, state.hits.slices[:MAX_MATCHES]), self._show)

    def _show(self, listed: Listed | None) -> None:
        self.listed = listed
        self.retranslate()

    def retranslate(self) -> None:
        listed, trace = self.listed, self._state.trace
        count = len(self._state.hits.slices)
        self.cut.setVisible(listed is not None and count > MAX_MATCHES)
        self.cut.setText(t("timeline.matches.cut", shown=f"{MAX_MATCHES:,}", count=f"{count:,}"))
        nothing = "timeline.find.none" if self._state.hits.names is not None else "timeline.matches.empty"
        self._hint.text.setText(t(nothing if trace is not None else "timeline.pane.no_trace"))
        self._pages.setCurrentIndex(0 if listed is None else 1)
        if listed is not None and trace is not None:
            self.model.show_rows(self._columns(trace, listed), len(listed.slices))
            self._mark()

    def _columns(self, trace: Trace, listed: Listed) -> tuple[Column, ...]:
        state = self._state
        return (
            Column(
                head="timeline.matches.name",
                text=lambda row: trace.name_text(int(listed.name[row])),
                order=listed.by_name,
            ),
            Column(
                head="timeline.matches.lane",
                text=lambda row: lane_text(state, int(listed.lane[row])),
                order=listed.lane,
                token="dim",
            ),
            Column(
                head="timeline.matches.start",
                text=lambda row: length_text(int(listed.start[row])),
                order=listed.start,
                is_number=True,
            ),
            Column(
                head="timeline.matches.duration",
                text=lambda row: length_text(int(listed.length[row])),
                order=listed.length,
                is_number=True,
            ),
        )

    def _mark(self) -> None:
        """Highlight the current hit."""
        if self.listed is not None and not self.is_jumping:
            self.view.show_row(self._state.hits.current)

    def _go(self, row: int) -> None:
        self.is_jumping = True
        try:
            self._state.go_to_hit(row)
        finally:
            self.is_jumping = False


def _listed(trace: Trace, slices: NDArray[np.int64]) -> Listed | None:
    try:
        name = trace.name[slices].astype(np.int64)
        different, places = np.unique(name, return_inverse=True)
        order = name_order(trace, different)
        row = np.searchsorted(trace.row_begin, slices, "right") - 1
        return Listed(
            slices=slices,
            name=name,
            by_name=None if order is None else order[places],
            lane=trace.row_lane[row].astype(np.int64),
            start=np.asarray(trace.start[slices]),
            length=trace.end[slices] - trace.start[slices],
        )
    except OSError:  # of a part that was shown first; the whole is there now
        return None
