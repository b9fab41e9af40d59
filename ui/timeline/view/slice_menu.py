"""The context menu of a slice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from backends.timeline.query.arrows import arrows_of
from studio.output.spreadsheet import tab_separated
from studio.texts import t
from ui.timeline.drawing.time_text import exact_text
from ui.timeline.view import key_actions
from ui.timeline.view.lane_menu import create_menu

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QMenu

    from backends.timeline.query.arrows import Arrow
    from ui.timeline.view.timeline_view import TimelineView

MAX_FLOWS, MAX_LETTERS = 12, 48


class SliceMenu(QObject):
    """`find_requested`: the name of the slice."""

    find_requested = Signal(str)
    note_requested = Signal()

    def __init__(self, view: TimelineView) -> None:
        super().__init__(view)
        self._view, self._state = view, view.state

    def open(self, index: int, position: QPoint) -> None:
        """Open the menu. `index`: -1 where there is no slice."""
        menu = create_menu(self._view, "timeline_slice_menu")
        if index >= 0:
            self._fill(menu, index)
            menu.addSeparator()
        state = self._state
        if state.selection.range is not None:
            chosen = state.selection.range
            menu.addAction(t("timeline.slice_menu.zoom_range"), partial(state.viewport.fit, chosen.begin, chosen.end))
            menu.addAction(t("timeline.slice_menu.clear_range"), partial(state.selection.choose_range, None))
        menu.addAction(t("timeline.slice_menu.back"), state.viewport.zoom_back).setEnabled(state.viewport.can_zoom_back)
        menu.addAction(t("timeline.tools.whole"), state.viewport.show_whole)
        menu.popup(position)

    def _fill(self, menu: QMenu, index: int) -> None:
        state, trace = self._state, self._state.trace
        assert trace is not None
        name = trace.name_text(int(trace.name[index]))
        menu.addAction(t("timeline.slice_menu.zoom"), partial(state.viewport.fit, *state.times_of(index)))
        menu.addAction(t("timeline.slice_menu.range"), partial(key_actions.mark_range, state))
        menu.addAction(t("timeline.slice_menu.find"), partial(self.find_requested.emit, name)).setEnabled(bool(name))
        self._add_flows(menu, index)
        base = (
            "timeline.slice_menu.no_baseline" if state.selection.baseline == index else "timeline.slice_menu.baseline"
        )
        menu.addAction(t(base), partial(key_actions.toggle_baseline, state))
        menu.addSeparator()
        menu.addAction(t("timeline.slice_menu.copy"), partial(self._copy, index))
        menu.addAction(t("timeline.slice_menu.note"), self.note_requested.emit)

    def _add_flows(self, menu: QMenu, index: int) -> None:
        trace = self._state.trace
        assert trace is not None
        below = menu.addMenu(t("timeline.slice_menu.follow"))
        arrows = [arrow for arrow in arrows_of(trace, index) if arrow.other >= 0]
        below.setEnabled(bool(arrows))
        for arrow in arrows[:MAX_FLOWS]:
            below.addAction(self._flow_text(arrow), partial(self._state.reveal, arrow.other))

    def _flow_text(self, arrow: Arrow) -> str:
        """Return '← aten::add · python 3212 (async_npu)'."""
        trace = self._state.trace
        assert trace is not None
        name = shortened(trace.name_text(int(trace.name[arrow.other])))
        lane = shortened(self._state.lanes.track_name(arrow.other_lane))
        sign = "←" if arrow.incoming else "→"
        return f"{sign} {name} · {lane} ({arrow.kind})".replace("&", "&&")

    def _copy(self, index: int) -> None:
        """Copy what is known without reading the source file; the pane shows the arguments."""
        trace = self._state.trace
        assert trace is not None
        start, end = int(trace.start[index]), int(trace.end[index])
        lines = (
            (t("timeline.slice_menu.name"), trace.name_text(int(trace.name[index]))),
            (t("timeline.slice_menu.lane"), self._state.lanes.track_name(trace.lane_of(index))),
            (t("timeline.slice_menu.start"), f"{start + trace.meta.origin_ns} ns"),
            (t("timeline.slice_menu.length"), exact_text(end - start)),
        )
        QGuiApplication.clipboard().setText(tab_separated(lines))


def shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= MAX_LETTERS else f"{plain[: MAX_LETTERS - 1]}…"
