"""What can be done with a slice, by a click of the right button on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from backends.timeline.query.arrows import arrows_of
from studio.texts import t
from ui.timeline import actions
from ui.timeline.lane_menu import made_menu
from ui.timeline.times import exact_text

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QMenu

    from backends.timeline.query.arrows import Arrow
    from ui.timeline.canvas import TimelineView

MOST_FLOWS, LONGEST = 12, 48


class SliceMenu(QObject):
    """`find_wanted`: the name of the slice."""

    find_wanted = Signal(str)
    note_wanted = Signal()

    def __init__(self, view: TimelineView) -> None:
        super().__init__(view)
        self._view, self._state = view, view.state

    def open(self, index: int, place: QPoint) -> None:
        """`index`: -1 where no slice is."""
        menu = made_menu(self._view, "timeline_slice_menu")
        if index >= 0:
            self._fill(menu, index)
            menu.addSeparator()
        state = self._state
        if state.selected_range is not None:
            chosen = state.selected_range
            menu.addAction(t("timeline.slice_menu.zoom_range"), partial(state.fit, chosen.begin, chosen.end))
            menu.addAction(t("timeline.slice_menu.clear_range"), partial(state.choose_range, None))
        menu.addAction(t("timeline.slice_menu.back"), state.zoom_back).setEnabled(state.can_zoom_back)
        menu.addAction(t("timeline.tools.whole"), state.show_whole)
        menu.popup(place)

    def _fill(self, menu: QMenu, index: int) -> None:
        state, trace = self._state, self._state.trace
        assert trace is not None
        name = trace.name_text(int(trace.name[index]))
        menu.addAction(t("timeline.slice_menu.zoom"), partial(state.fit, *state.times_of(index)))
        menu.addAction(t("timeline.slice_menu.range"), partial(actions.mark_range, state))
        menu.addAction(t("timeline.slice_menu.find"), partial(self.find_wanted.emit, name)).setEnabled(bool(name))
        self._add_flows(menu, index)
        base = "timeline.slice_menu.no_baseline" if state.baseline == index else "timeline.slice_menu.baseline"
        menu.addAction(t(base), partial(actions.toggle_baseline, state))
        menu.addSeparator()
        menu.addAction(t("timeline.slice_menu.copy"), partial(self._copy, index))
        menu.addAction(t("timeline.slice_menu.note"), self.note_wanted.emit)

    def _add_flows(self, menu: QMenu, index: int) -> None:
        trace = self._state.trace
        assert trace is not None
        below = menu.addMenu(t("timeline.slice_menu.follow"))
        found = [arrow for arrow in arrows_of(trace, index) if arrow.other >= 0]
        below.setEnabled(bool(found))
        for arrow in found[:MOST_FLOWS]:
            below.addAction(self._flow_text(arrow), partial(self._state.reveal, arrow.other))

    def _flow_text(self, arrow: Arrow) -> str:
        """'← aten::add · python 3212 (async_npu)'"""
        trace = self._state.trace
        assert trace is not None
        name = short(trace.name_text(int(trace.name[arrow.other])))
        lane = short(self._state.track_name(arrow.other_lane))
        sign = "←" if arrow.incoming else "→"
        return f"{sign} {name} · {lane} ({arrow.kind})".replace("&", "&&")

    def _copy(self, index: int) -> None:
        """What is known without reading the source: its arguments are in the pane."""
        trace = self._state.trace
        assert trace is not None
        start, end = int(trace.start[index]), int(trace.end[index])
        lines = (
            (t("timeline.slice_menu.name"), trace.name_text(int(trace.name[index]))),
            (t("timeline.slice_menu.lane"), self._state.track_name(trace.lane_of(index))),
            (t("timeline.slice_menu.start"), f"{start + trace.meta.origin_ns} ns"),
            (t("timeline.slice_menu.length"), exact_text(end - start)),
        )
        QGuiApplication.clipboard().setText("\n".join(f"{what}\t{value}" for what, value in lines))


def short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
