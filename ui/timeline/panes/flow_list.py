"""The flows of a slice; a click follows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.texts import t
from ui.timeline.drawing.time_text import length_text
from ui.timeline.panes.lane_text import lane_text
from ui.timeline.panes.list_model import Column, ListModel
from ui.timeline.panes.list_view import ROW, ListView
from ui.widgets.basic import label

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from ui.timeline.panes.slice_lookup import NamedFlow
    from ui.timeline.state.view_state import ViewState

GAP = 2
ROOM_FOR_KIND = 420  # px
KIND = 1  # the column


class FlowList(QWidget):
    """Hidden where there are no flows, and no taller than they are."""

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self.flows: tuple[NamedFlow, ...] = ()
        self.title = label(role="strong")
        self.model = ListModel()
        self.view = ListView(self.model, "timeline_flows", "timeline.slice.flows")
        self.view.horizontalHeader().hide()
        self.view.chosen.connect(self._go)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.title)
        column.addWidget(self.view, 1)
        self.hide()

    def show_flows(self, flows: tuple[NamedFlow, ...], count: int) -> None:
        """Show some flows. `count`: their total number, which may be larger."""
        self.flows = flows
        self.setVisible(bool(flows))
        title = t("timeline.slice.flows")
        self.title.setText(title if count == len(flows) else f"{title} ({len(flows):,} / {count:,})")
        self.model.show_rows(self._columns(), len(flows))
        self.view.setColumnHidden(KIND, self.width() < ROOM_FOR_KIND)
        self.setMaximumHeight(self.title.sizeHint().height() + 2 * GAP + ROW * len(flows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the column of kinds where the list is too narrow for it; the tooltip still shows the kind."""
        super().resizeEvent(event)
        self.view.setColumnHidden(KIND, self.width() < ROOM_FOR_KIND)

    def _columns(self) -> tuple[Column, ...]:
        head = "timeline.slice.flows"
        return (
            Column(head=head, text=self._name, tip=self._tip),
            Column(head=head, text=lambda row: self.flows[row].arrow.kind, token="dim"),
            Column(head=head, text=self._delay, is_number=True, token="dim"),
            Column(
                head=head,
                text=lambda row: t("timeline.slice.go") if self.flows[row].arrow.other >= 0 else "",
                token="accent",
            ),
        )

    def _name(self, row: int) -> str:
        flow = self.flows[row]
        name = flow.name if flow.arrow.other >= 0 else t("timeline.slice.nothing")
        return t("timeline.slice.comes" if flow.arrow.incoming else "timeline.slice.leads", name=name)

    def _tip(self, row: int) -> str:
        arrow = self.flows[row].arrow
        return f"{self._name(row)}\n{lane_text(self._state, arrow.other_lane)}\n{arrow.kind}"

    def _delay(self, row: int) -> str:
        """Return the time from one end to the other."""
        arrow = self.flows[row].arrow
        return length_text(abs(arrow.other_time - arrow.this_time))

    def _go(self, row: int) -> None:
        arrow = self.flows[row].arrow
        if arrow.other >= 0:
            self.go_to(arrow.this, arrow.other)

    def go_to(self, this: int, other: int) -> None:
        """Select the other slice and show both."""
        state = self._state
        state.lanes.show_lane(state.lane_of(other))
        (begin, end), (other_begin, other_end) = state.times_of(this), state.times_of(other)
        state.viewport.fit(min(begin, other_begin), max(end, other_end))
        state.selection.select(other)
        state.lanes_focus_requested.emit()
