from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QKeySequence, QPainter, QShortcut, QWheelEvent
from PySide6.QtWidgets import QApplication

from backends.timeline.kinds import FAMILIES
from backends.timeline.query.notes import Mark
from studio.errors import StudioError
from studio.paths import ROOT
from studio.texts import t
from tests.timeline.memory_traces import (
    ORIGIN,
    Figures,
    LaneSpec,
    trace_of,
)
from ui.timeline.drawing.flow_arrows import _distinct_ends, draw_flows, flows_in_view
from ui.timeline.drawing.frame import LEVELS
from ui.timeline.drawing.time_text import (
    clock_text,
    exact_text,
    length_text,
    tick_step,
    ticks_of,
)
from ui.timeline.state.selection import TimeRange
from ui.timeline.state.view_state import ViewState
from ui.timeline.view.keys import GESTURES, SHORTCUTS, action_of
from ui.timeline.view.minimap import strips_of
from ui.timeline.view.picture_export import save_picture
from ui.timeline.view.timeline_view import TimelineView
from ui.widgets import theme
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from backends.timeline.kinds import Family
    from backends.timeline.trace import Trace

PYTHON, STREAM_1, STREAM_2, PLANE = range(4)
NO_BUTTON, LEFT = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
CONTROL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier,
)  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    calls = [(at * 10_000, at * 10_000 + 9_000, "aten::add") for at in range(100)]
    kernels = [(at * 10_000 + 2000, at * 10_000 + 8000, "aclnnAdd") for at in range(100)]
    lanes = [
        LaneSpec(name="Thread 1", kind="host", process="Python", slices=[(0, 1_000_000, "ProfilerStep#1"), *calls]),
        LaneSpec(name="Stream 1", slices=kernels),
        LaneSpec(name="Stream 2", slices=[(500_000, 500_000, "instant"), (600_000, 700_000, "aclnnMatMul")]),
        LaneSpec(
            name="Plane 1", kind="communication", process="Communication", slices=[(0, 300_000, "hcom_allReduce_")]
        ),
    ]
    arrows = [(PYTHON, at * 10_000 + 10, STREAM_1, at * 10_000 + 2000, "HostToDevice") for at in range(100)]
    series = [Figures(name="HBM", unit="B", process=1, samples=[(0, 1e9), (500_000, 2e9)])]
    return trace_of(tmp_path, lanes, arrows=arrows, steps=[(1, 0, 1_000_000)], series=series)


@pytest.fixture
def view(qtbot: QtBot, trace: Trace) -> TimelineView:
    view = TimelineView(ViewState())
    qtbot.addWidget(view)
    view.resize(1000, 500)
    view.show()
    view.state.set_trace(trace)
    qtbot.waitExposed(view)
    QApplication.processEvents()
    return view


def position_of(view: TimelineView, index: int) -> QPoint:
    """The middle of a slice in the canvas."""
    state = view.state
    assert state.trace is not None
    band = state.lanes.bands[state.lanes.bands.of_row(state.trace.row_of(index))]
    begin, end = state.times_of(index)
    x = ((begin + end) / 2 - state.viewport.begin) / state.viewport.span * view.canvas.width()
    return QPoint(int(x), band.top - (0 if band.is_pinned else state.viewport.scroll) + band.drawn // 2)


def mark(begin: int, end: int, text: str) -> Mark:
    return Mark(begin=ORIGIN + begin, end=ORIGIN + end, text=text, color=len(text))


def slice_named(view: TimelineView, name: str, number: int = 0) -> int:
    trace = view.state.trace
    assert trace is not None
    return int(np.flatnonzero(trace.name == trace.name_texts.index(name))[number])


def visible_tracks(view: TimelineView) -> list[int]:
    """Lanes and counters from above."""
    bands = [view.state.lanes.bands[index] for index in range(len(view.state.lanes.bands))]
    return [band.track for band in bands if band.kind != "process" and band.is_first]


def press(qtbot: QtBot, view: TimelineView, key: str) -> None:
    combination = QKeySequence(key)[0]
    qtbot.keyClick(view.canvas, combination.key(), combination.keyboardModifiers())


def drag(
    qtbot: QtBot, widget: QWidget, begin: QPoint, end: QPoint, modifier: Qt.KeyboardModifier | None = None
) -> None:
    held = modifier or Qt.KeyboardModifier.NoModifier
    qtbot.mousePress(widget, LEFT, held, begin)
    qtbot.mouseMove(widget, (begin + end) / 2)
    qtbot.mouseMove(widget, end)
    qtbot.mouseRelease(widget, LEFT, held, end)


def wheel(widget: QWidget, at: QPoint, turned: int, modifier: Qt.KeyboardModifier) -> None:
    where, everywhere = QPointF(at), QPointF(widget.mapToGlobal(at))
    event = QWheelEvent(
        where, everywhere, QPoint(), QPoint(0, turned), NO_BUTTON, modifier, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(widget, event)


def test_that_all_lanes_and_counters_are_shown_below_their_processes(view: TimelineView) -> None:
    assert visible_tracks(view) == [PYTHON, 4, STREAM_1, STREAM_2, PLANE]
    assert sum(view.state.lanes.bands[index].kind == "process" for index in range(len(view.state.lanes.bands))) == 3


def test_that_a_click_selects_the_slice_below_it_and_a_click_beside_lets_go(qtbot: QtBot, view: TimelineView) -> None:
    index = slice_named(view, "aclnnMatMul")
    with qtbot.waitSignal(view.state.selection.slice_chosen) as chosen:
        qtbot.mouseClick(view.canvas, LEFT, pos=position_of(view, index))
    assert chosen.args == [index]
    qtbot.mouseClick(view.canvas, LEFT, pos=QPoint(5, position_of(view, index).y()))
    assert view.state.selection.slice == -1


def test_that_an_instant_is_hit_a_little_beside_it(qtbot: QtBot, view: TimelineView) -> None:
    index = slice_named(view, "instant")
    qtbot.mouseClick(view.canvas, LEFT, pos=position_of(view, index) + QPoint(2, 0))
    assert view.state.selection.slice == index


def test_that_a_drag_chooses_a_range_and_escape_lets_go_of_it(qtbot: QtBot, view: TimelineView) -> None:
    drag(qtbot, view.canvas, QPoint(100, 200), QPoint(300, 220))
    chosen = view.state.selection.range
    assert chosen is not None
    assert chosen.begin == pytest.approx(view.canvas.time_at(100), abs=1)
    assert chosen.end == pytest.approx(view.canvas.time_at(300), abs=1)
    press(qtbot, view, "Esc")
    assert view.state.selection.range is None


def test_that_a_range_ends_where_the_trace_does(qtbot: QtBot, view: TimelineView) -> None:
    drag(qtbot, view.canvas, QPoint(1, 200), QPoint(300, 220))
    assert view.state.selection.range is not None
    assert view.state.selection.range.begin == 0
    drag(qtbot, view.ruler, QPoint(300, 30), QPoint(view.ruler.width() - 1, 30))
    assert view.state.selection.range.end == 1_000_000
    view.state.selection.choose_range(None)
    drag(qtbot, view.canvas, QPoint(1, 200), QPoint(9, 220))
    assert view.state.selection.range is None


@pytest.mark.parametrize("modifier", [ALT, SHIFT])
def test_that_a_box_zooms_and_backspace_goes_back(
    qtbot: QtBot, view: TimelineView, modifier: Qt.KeyboardModifier
) -> None:
    before = (view.state.viewport.begin, view.state.viewport.end)
    expected = (view.canvas.time_at(100), view.canvas.time_at(300))
    drag(qtbot, view.canvas, QPoint(100, 200), QPoint(300, 220), modifier)
    assert (view.state.viewport.begin, view.state.viewport.end) == pytest.approx(expected)
    assert view.state.selection.range is None
    press(qtbot, view, "Backspace")
    assert (view.state.viewport.begin, view.state.viewport.end) == before


def test_that_control_and_a_drag_move_the_view(qtbot: QtBot, view: TimelineView) -> None:
    view.state.viewport.show(400_000, 500_000)
    drag(qtbot, view.canvas, QPoint(300, 200), QPoint(200, 200), CONTROL)
    assert view.state.viewport.begin == pytest.approx(400_000 + 100_000 * 100 / view.canvas.width())
    assert view.state.viewport.span == pytest.approx(100_000)


def test_that_the_wheel_zooms_around_the_pointer_and_moves(qtbot: QtBot, view: TimelineView) -> None:
    at = QPoint(250, 100)
    time = view.canvas.time_at(250)
    wheel(view.canvas, at, 240, CONTROL)
    assert view.canvas.time_at(250) == pytest.approx(time)
    assert view.state.viewport.span < 1_040_000
    begin = view.state.viewport.begin
    wheel(view.canvas, at, -120, SHIFT)
    assert view.state.viewport.begin > begin


def test_that_the_wheel_scrolls_the_lanes(qtbot: QtBot, view: TimelineView) -> None:
    view.resize(1000, 200)
    qtbot.waitUntil(lambda: view.bar.maximum() > 0)
    wheel(view.canvas, QPoint(250, 50), -120, Qt.KeyboardModifier.NoModifier)
    assert view.state.viewport.scroll == view.bar.value() == 60
    wheel(view.canvas, QPoint(250, 50), -12000, Qt.KeyboardModifier.NoModifier)
    assert view.state.viewport.scroll == view.bar.maximum()


def test_that_one_can_go_down_to_nanoseconds_and_never_out_of_the_trace(view: TimelineView) -> None:
    for _ in range(200):
        view.state.viewport.zoom(0.5, 12_345.0)
    assert view.state.viewport.span == 10
    assert view.state.viewport.begin <= 12_345 <= view.state.viewport.end
    for _ in range(200):
        view.state.viewport.zoom(2, 12_345.0)
    assert view.state.viewport.is_whole
    view.state.viewport.pan(1e12)
    assert view.state.viewport.is_whole


def test_that_keys_zoom_move_and_reset(qtbot: QtBot, view: TimelineView) -> None:
    whole = view.state.viewport.span
    press(qtbot, view, "W")
    assert view.state.viewport.span < whole
    begin = view.state.viewport.begin
    press(qtbot, view, "D")
    assert view.state.viewport.begin > begin
    press(qtbot, view, "Left")
    assert view.state.viewport.begin == pytest.approx(begin)
    press(qtbot, view, "Ctrl+0")
    assert view.state.viewport.is_whole


def test_that_home_and_end_put_the_border_of_the_trace_beside_that_of_the_view(
    qtbot: QtBot, view: TimelineView
) -> None:
    view.state.viewport.show(400_000, 500_000)
    press(qtbot, view, "Home")
    assert (view.state.viewport.begin, view.state.viewport.end) == pytest.approx((-2_000, 98_000))
    press(qtbot, view, "End")
    assert (view.state.viewport.begin, view.state.viewport.end) == pytest.approx((902_000, 1_002_000))


def test_that_quick_zooms_are_one_step_back(view: TimelineView) -> None:
    for _ in range(5):
        view.state.viewport.zoom(0.8, 500_000)
    view.state.viewport.zoom_back()
    assert view.state.viewport.is_whole
    assert not view.state.viewport.can_zoom_back


def test_that_f_fits_the_slice_and_m_its_range(qtbot: QtBot, view: TimelineView) -> None:
    index = slice_named(view, "aclnnAdd", 5)
    view.state.selection.select(index)
    press(qtbot, view, "F")
    assert view.state.viewport.begin < 52_000 < 58_000 < view.state.viewport.end
    assert view.state.viewport.span < 10_000
    press(qtbot, view, "M")
    assert view.state.selection.range == TimeRange(begin=52_000, end=58_000)
    press(qtbot, view, "M")
    assert view.state.selection.range is None


def test_that_keys_walk_along_the_lane_and_along_the_flow(qtbot: QtBot, view: TimelineView) -> None:
    view.state.selection.select(slice_named(view, "aclnnAdd", 5))
    press(qtbot, view, ".")
    assert view.state.selection.slice == slice_named(view, "aclnnAdd", 6)
    press(qtbot, view, ",")
    press(qtbot, view, "G")
    assert view.state.selection.slice == slice_named(view, "aten::add", 5)
    press(qtbot, view, "Shift+G")
    assert view.state.selection.slice == slice_named(view, "aclnnAdd", 5)


def test_that_hits_are_walked_through_and_dim_the_rest(qtbot: QtBot, view: TimelineView) -> None:
    before = view.canvas.grab().toImage()
    hits = np.array([slice_named(view, "aclnnMatMul"), slice_named(view, "hcom_allReduce_")])
    view.state.set_hits(hits)
    assert view.canvas.grab().toImage() != before
    press(qtbot, view, "N")
    assert view.state.selection.slice == hits[0]
    press(qtbot, view, "N")
    press(qtbot, view, "N")
    assert view.state.selection.slice == hits[0]
    press(qtbot, view, "P")
    assert view.state.selection.slice == hits[1]
    view.state.set_hits(np.empty(0, np.int64))
    view.state.selection.select(-1)
    view.state.viewport.show_whole()
    assert view.canvas.grab().toImage() == before


def test_that_a_pinned_lane_stays_at_the_top_while_others_scroll(qtbot: QtBot, view: TimelineView) -> None:
    view.resize(1000, 220)
    view.state.lanes.pin(PLANE)
    assert visible_tracks(view)[0] == PLANE
    view.canvas.scroll_by(60)
    assert view.canvas.slice_under(QPointF(position_of(view, slice_named(view, "hcom_allReduce_")))) >= 0
    assert position_of(view, slice_named(view, "hcom_allReduce_")).y() < 20
    view.state.lanes.pin(PLANE)
    assert view.state.lanes.bands.pinned == 0


def test_that_lanes_are_hidden_filtered_folded_and_collapsed(view: TimelineView) -> None:
    state = view.state
    state.lanes.hide(STREAM_1)
    assert STREAM_1 not in visible_tracks(view)
    assert state.lanes.hidden == [STREAM_1]
    state.lanes.filter("stream")
    assert visible_tracks(view) == [STREAM_2]
    state.lanes.show_all()
    assert len(visible_tracks(view)) == 5
    rows = len(state.lanes.bands)
    state.lanes.fold(PYTHON)
    assert len(state.lanes.bands) == rows - 1
    state.lanes.collapse(0)
    assert PYTHON not in visible_tracks(view)
    state.lanes.collapse(0)
    state.lanes.fold(PYTHON)
    assert len(state.lanes.bands) == rows


def test_that_an_empty_view_says_why(view: TimelineView) -> None:
    view.state.lanes.collapse_all(True)
    for process in range(3):
        view.state.lanes.hide_process(process)
    assert not len(view.state.lanes.bands)
    hidden = lanes_of(view)
    view.state.lanes.filter("zzz")
    assert len(np.unique(hidden)) > 3  # letters, on the ground and the lines of the grid
    assert (lanes_of(view) != hidden).any()


def test_that_a_process_name_filters_all_its_lanes(view: TimelineView) -> None:
    view.state.lanes.filter("HARDWARE")
    assert {STREAM_1, STREAM_2} <= set(visible_tracks(view))
    assert PLANE not in visible_tracks(view)


def test_that_streams_are_merged_into_one_band(view: TimelineView) -> None:
    view.state.lanes.merge_streams(True)
    trace = view.state.trace
    assert trace is not None
    rows = {trace.row_of(slice_named(view, name)) for name in ("aclnnAdd", "aclnnMatMul")}
    assert len({view.state.lanes.bands.of_row(row) for row in rows}) == 1
    assert view.canvas.slice_under(QPointF(position_of(view, slice_named(view, "aclnnMatMul")))) >= 0


def test_that_the_name_of_a_folded_lane_says_how_many_rows_lie_over_each_other(view: TimelineView) -> None:
    view.state.lanes.fold(PYTHON)
    bands = view.state.lanes.bands
    assert view.gutter.note_of(bands[bands.of_track(PYTHON)]) == "2 rows"


def test_that_lanes_are_moved_among_those_of_their_process(view: TimelineView) -> None:
    view.state.lanes.move(STREAM_2, -1)
    tracks = [track for track in visible_tracks(view) if track in (STREAM_1, STREAM_2)]
    assert tracks == [STREAM_2, STREAM_1]
    view.state.lanes.move(STREAM_2, 1)
    assert [track for track in visible_tracks(view) if track in (STREAM_1, STREAM_2)] == [STREAM_1, STREAM_2]


def test_that_an_offset_moves_what_is_drawn_and_what_is_hit(view: TimelineView) -> None:
    index = slice_named(view, "aclnnMatMul")
    before = position_of(view, index)
    view.state.lanes.set_offset(STREAM_2, 200_000)
    assert position_of(view, index).x() > before.x()
    assert view.canvas.slice_under(QPointF(position_of(view, index))) == index
    assert view.canvas.slice_under(QPointF(before.x() - 30, before.y())) == -1
    view.state.lanes.clear_offsets()
    assert position_of(view, index) == before


def test_that_a_lane_is_aligned_to_the_baseline(qtbot: QtBot, view: TimelineView) -> None:
    view.state.selection.select(slice_named(view, "hcom_allReduce_"))
    press(qtbot, view, "B")
    index = slice_named(view, "aclnnMatMul")
    view.state.selection.select(index)
    press(qtbot, view, "R")
    assert view.state.times_of(index)[1] == 300_000
    press(qtbot, view, "L")
    assert view.state.times_of(index)[0] == 0


def test_that_revealing_a_slice_shows_its_hidden_lane_and_scrolls_to_it(qtbot: QtBot, view: TimelineView) -> None:
    view.resize(1000, 200)
    view.state.lanes.hide(PLANE)
    view.state.lanes.filter("python")
    index = slice_named(view, "hcom_allReduce_")
    view.state.reveal(index)
    assert PLANE in visible_tracks(view)
    qtbot.waitUntil(lambda: 0 <= position_of(view, index).y() < view.canvas.height())


def test_that_more_of_the_same_trace_keeps_lanes_and_range_in_place(view: TimelineView, trace: Trace) -> None:
    view.state.viewport.show(100_000, 200_000)
    view.state.lanes.pin(STREAM_2)
    view.state.lanes.hide(PLANE)
    view.state.set_trace(trace)
    assert (view.state.viewport.begin, view.state.viewport.end) == (100_000, 200_000)
    assert visible_tracks(view)[0] == STREAM_2
    assert PLANE not in visible_tracks(view)


def fuller(trace: Trace, folder: Path) -> Trace:
    """The same profile with an earlier event in a lane that comes first, and other flows first."""
    shift, texts = 1000, trace.name_texts
    lanes = [
        LaneSpec(name="Thread 0", kind="host", process="Loader", slices=[(0, 5, "early"), (10, 20, "aclnnMatMul")])
    ]
    for number, lane in enumerate(trace.meta.lanes):
        rows = np.flatnonzero(np.asarray(trace.row_lane) == number)
        inside = [range(int(trace.row_begin[row]), int(trace.row_begin[row + 1])) for row in rows]
        slices = [
            (int(trace.start[at]) + shift, int(trace.end[at]) + shift, texts[int(trace.name[at])])
            for each in inside
            for at in each
        ]
        process = trace.meta.processes[lane.process].name
        lanes.append(LaneSpec(name=lane.name, kind=lane.kind, process=process, slices=slices))
    arrows = [(0, 0, 1, 5000, "async_npu")] + [
        (int(a) + 1, int(b) + shift, int(c) + 1, int(d) + shift, "HostToDevice") for a, b, c, d in trace.arrow
    ]
    made = trace_of(folder, lanes, arrows=arrows)
    was = trace.meta
    processes = [made.meta.processes[0], *(msgspec.structs.replace(one, source=0) for one in was.processes)]
    named = tuple(
        msgspec.structs.replace(one, pid="new" if number == 0 else was.processes[number - 1].pid)
        for number, one in enumerate(processes)
    )
    renamed = tuple(
        msgspec.structs.replace(lane, tid="new" if number == 0 else was.lanes[number - 1].tid)
        for number, lane in enumerate(made.meta.lanes)
    )
    meta = msgspec.structs.replace(made.meta, origin_ns=ORIGIN - shift, processes=named, lanes=renamed)
    return replace(made, meta=meta, root=trace.root)


def test_that_what_was_chosen_in_the_first_lanes_stays_chosen_in_the_whole_trace(
    view: TimelineView, trace: Trace, tmp_path: Path
) -> None:
    state, sought = view.state, []
    state.selection.select(slice_named(view, "aclnnAdd", 5))
    state.selection.set_baseline(slice_named(view, "instant"))
    state.selection.choose_range(TimeRange(begin=5_000, end=6_000))
    state.set_flow_kinds(frozenset([0]))
    state.set_marks([mark(500_000, 600_000, "note")])
    state.viewport.show(100_000, 200_000)
    state.lanes.pin(STREAM_2)
    state.lanes.hide(PLANE)
    state.lanes.collapse(2)
    state.selection.slice_sought.connect(sought.append)
    whole = fuller(trace, tmp_path / "whole")
    with_numbers = [state.selection.slice, state.selection.baseline]
    state.set_trace(whole)
    assert [state.selection.slice, state.selection.baseline] != with_numbers
    assert whole.name_text(int(whole.name[state.selection.slice])) == "aclnnAdd"
    assert state.times_of(state.selection.slice) == (53_000, 59_000)
    assert state.lanes.track_name(state.lane_of(state.selection.slice)) == "Stream 1"
    assert whole.name_text(int(whole.name[state.selection.baseline])) == "instant"
    assert state.selection.range == TimeRange(begin=6_000, end=7_000)
    assert [whole.meta.flow_kinds[kind] for kind in state.flow_kinds] == ["HostToDevice"]
    assert state.times_of_mark(state.marks[0]) == (501_000, 601_000)
    assert (state.viewport.begin, state.viewport.end) == (101_000, 201_000)
    assert visible_tracks(view)[0] == STREAM_2 + 1
    assert PLANE + 1 not in visible_tracks(view)
    assert state.lanes.is_collapsed(3)
    assert not sought


def test_that_the_lane_at_the_top_stays_there_when_more_lanes_come(
    view: TimelineView, trace: Trace, tmp_path: Path
) -> None:
    view.resize(1000, 200)
    QApplication.processEvents()
    view.state.viewport.scroll_to(70)
    before = position_of(view, slice_named(view, "aten::add"))
    view.state.set_trace(fuller(trace, tmp_path / "whole"))
    assert view.state.viewport.scroll > 70
    assert position_of(view, slice_named(view, "aten::add")).y() == before.y()


def test_that_a_slice_that_is_gone_is_selected_no_more(view: TimelineView, trace: Trace, tmp_path: Path) -> None:
    view.state.selection.select(slice_named(view, "aclnnMatMul"))
    other = trace_of(tmp_path / "other", [LaneSpec(slices=[(600_000, 700_000, "aclnnMul")]) for _ in range(4)])
    view.state.set_trace(replace(other, root=trace.root))
    assert view.state.selection.slice == -1


def test_that_another_profile_begins_afresh(view: TimelineView, tmp_path: Path) -> None:
    view.state.lanes.hide(PLANE)
    view.state.lanes.pin(STREAM_2)
    view.state.viewport.show(100_000, 200_000)
    view.state.selection.choose_range(TimeRange(begin=1, end=2))
    (tmp_path / "other").mkdir()
    view.state.set_trace(trace_of(tmp_path / "other", [LaneSpec(slices=[(0, 5000, "op")])]))
    assert visible_tracks(view) == [0]
    assert view.state.viewport.is_whole
    assert view.state.selection.range is None
    assert not view.state.viewport.can_zoom_back


def test_that_a_key_of_the_view_comes_before_a_shortcut_of_the_window(qtbot: QtBot, view: TimelineView) -> None:
    keys: list[str] = []
    shortcut = QShortcut(QKeySequence("F"), view)
    shortcut.activated.connect(lambda: keys.append("F"))
    view.state.selection.select(slice_named(view, "aclnnAdd", 5))
    view.canvas.setFocus()
    press(qtbot, view, "F")
    assert view.state.viewport.span < 10_000
    assert not keys


def test_that_the_icons_beside_a_name_pin_and_hide_it(qtbot: QtBot, view: TimelineView) -> None:
    gutter, bands = view.gutter, view.state.lanes.bands
    band = bands[bands.of_track(STREAM_2)]
    number = gutter.actions_of(band).index("hide")
    qtbot.mouseClick(gutter, LEFT, pos=gutter._icon_box(number, band.top, band.drawn).center())
    assert STREAM_2 not in visible_tracks(view)
    band = view.state.lanes.bands[view.state.lanes.bands.of_track(STREAM_1)]
    number = gutter.actions_of(band).index("pin")
    qtbot.mouseClick(gutter, LEFT, pos=gutter._icon_box(number, band.top, band.drawn).center())
    assert visible_tracks(view)[0] == STREAM_1


def test_that_a_click_on_a_process_folds_it(qtbot: QtBot, view: TimelineView) -> None:
    qtbot.mouseClick(view.gutter, LEFT, pos=QPoint(40, 8))
    assert view.state.lanes.is_collapsed(0)


def test_that_the_column_of_names_is_drawn_wider(qtbot: QtBot, view: TimelineView) -> None:
    edge = view.gutter.width() - 2
    drag(qtbot, view.gutter, QPoint(edge, 100), QPoint(300, 100))
    assert view.gutter.width() == 300


def test_that_the_window_of_the_minimap_moves_the_view(qtbot: QtBot, view: TimelineView) -> None:
    view.state.viewport.show(100_000, 300_000)
    x = int(view.minimap.x_of(200_000))
    drag(qtbot, view.minimap, QPoint(x, 20), QPoint(x + 200, 20))
    assert view.state.viewport.begin > 250_000
    assert view.state.viewport.span == pytest.approx(200_000)


def test_that_the_minimap_fills_once_it_is_counted(qtbot: QtBot, view: TimelineView) -> None:
    qtbot.waitUntil(lambda: len(view.minimap._strips) == 3)
    assert [strip.kind for strip in view.minimap._strips] == ["host", "device", "communication"]
    assert "device streams, communication" in view.minimap.toolTip()


def test_that_a_stream_that_only_waits_does_not_look_busy_in_the_minimap(tmp_path: Path) -> None:
    slices = [(0, 1000, "EVENT_WAIT")], [(0, 100, "aclnnAdd"), (500, 600, "MEMCPY_ASYNC")]
    families: dict[str, Family] = {"EVENT_WAIT": "free", "MEMCPY_ASYNC": "memory"}
    (strip,) = strips_of(trace_of(tmp_path, [LaneSpec(slices=some) for some in slices], families=families))
    assert [FAMILIES[int(strip.family[at])] for at in (50, 300, 550, 900)] == ["compute", "free", "memory", "free"]
    assert (strip.level == LEVELS).all()


def test_that_the_room_beside_the_trace_does_not_count_as_in_view(view: TimelineView) -> None:
    assert view.corner.lines()[0] == "1.000 ms in view"
    view.state.viewport.show(100.2, 110.2)
    assert view.corner.lines()[0] == "11 ns in view"
    assert view.state.viewport.in_view == (100, 111)


@pytest.mark.parametrize("count", [100, 438, 20_000])
def test_that_marks_of_steps_reach_to_the_last_step_however_many_there_are(
    view: TimelineView, tmp_path: Path, count: int
) -> None:
    steps = [(number, number * 1000, number * 1000 + 1000) for number in range(count)]
    view.state.set_trace(trace_of(tmp_path / "many", [LaneSpec(slices=[(0, count * 1000, "x")])], steps=steps))
    view.state.viewport.show_whole()
    shown = [step.start for step in view.ruler.visible_steps()]
    assert shown[0] == 0
    assert count * 1000 - shown[-1] < 10 * view.state.viewport.span / view.ruler.width() + 1000
    gaps = np.diff(shown)
    assert gaps.max() <= max(1000, 2 * gaps.min())  # thinned out evenly
    assert len(shown) <= view.ruler.width()
    if count == 100:
        assert len(shown) == 100


def test_that_a_drag_in_the_ruler_chooses_a_range(qtbot: QtBot, view: TimelineView) -> None:
    drag(qtbot, view.ruler, QPoint(100, 30), QPoint(200, 30))
    assert view.state.selection.range is not None


def test_that_a_mark_is_chosen_by_its_flag(qtbot: QtBot, view: TimelineView) -> None:
    view.state.set_marks([mark(100_000, 100_000, "see"), mark(500_000, 600_000, "中文")])
    view.grab()
    with qtbot.waitSignal(view.mark_chosen) as chosen:
        qtbot.mouseClick(view.ruler, LEFT, pos=QPoint(int(view.ruler.x_of(500_000)) + 3, 6))
    assert chosen.args == [1]


def test_that_a_counter_that_is_never_but_zero_is_low(view: TimelineView, tmp_path: Path) -> None:
    series = [Figures(name=name, samples=[(0, 0.0), (5, high)]) for name, high in (("flat", 0.0), ("used", 3.0))]
    view.state.set_trace(trace_of(tmp_path / "flat", [LaneSpec(slices=[(0, 10, "op")])], series=series))
    bands = view.state.lanes.bands
    flat, used = (int(bands.height[bands.of_track(track)]) for track in (1, 2))
    assert flat < used / 1.8
    view.grab()


def test_that_a_note_is_not_written_where_its_flag_is_out_of_view(view: TimelineView) -> None:
    view.state.viewport.show(100_000, 300_000)
    before = view.ruler.grab().toImage()
    view.state.set_marks([mark(95_000, 95_000, "a note of many words")])
    assert view.ruler.grab().toImage() == before


def test_that_the_tip_names_what_is_under_the_pointer(qtbot: QtBot, view: TimelineView) -> None:
    qtbot.mouseMove(view.canvas, position_of(view, slice_named(view, "aclnnMatMul")))
    assert view.canvas._tip.lines == ("aclnnMatMul", "100.000 µs · Stream 2")
    band = view.state.lanes.bands[view.state.lanes.bands.of_track(4)]
    x = (600_000 - view.state.viewport.begin) / view.state.viewport.span * view.canvas.width()
    qtbot.mouseMove(view.canvas, QPoint(int(x), band.top + 20))
    assert view.canvas._tip.lines == ("HBM", "1.863 GiB")


def test_that_right_clicks_ask_for_menus(qtbot: QtBot, view: TimelineView) -> None:
    requests: list[tuple[str, int]] = []
    view.lane_menu_requested.connect(lambda lane, _position: requests.append(("lane", lane)))
    view.process_menu_requested.connect(lambda process, _position: requests.append(("process", process)))
    view.slice_menu_requested.connect(lambda index, _position: requests.append(("slice", index)))

    def right_click(widget: QWidget, at: QPoint) -> None:
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at))
        QApplication.sendEvent(widget, event)

    index = slice_named(view, "aclnnMatMul")
    right_click(view.canvas, position_of(view, index))
    right_click(view.gutter, QPoint(40, 8))
    right_click(view.gutter, QPoint(40, position_of(view, index).y()))
    assert requests == [("slice", index), ("process", 0), ("lane", STREAM_2)]


def test_that_every_key_does_something_and_is_listed_once(view: TimelineView) -> None:
    keys = [key for shortcut in SHORTCUTS for key in shortcut.keys]
    assert len(keys) == len(set(keys))
    assert {shortcut.action for shortcut in SHORTCUTS} == set(view._actions)
    for shortcut in SHORTCUTS:
        view.do(shortcut.action)
        assert t(shortcut.text)
        for key in shortcut.keys:
            combination = QKeySequence(key)[0]
            assert action_of(combination.key(), combination.keyboardModifiers()) == shortcut.action
    assert all(t(shortcut.how) and t(shortcut.text) for shortcut in GESTURES)


def test_that_keys_of_others_are_passed_on(qtbot: QtBot, view: TimelineView) -> None:
    requests: list[str] = []
    view.pane_requested.connect(lambda: requests.append("pane"))
    view.note_requested.connect(lambda: requests.append("note"))
    view.keys_requested.connect(lambda: requests.append("keys"))
    for key in ("Q", "K", "F1"):
        press(qtbot, view, key)
    assert requests == ["pane", "note", "keys"]


def lanes_of(view: TimelineView) -> np.ndarray:
    image = view.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()).copy()


def test_that_flows_of_lanes_below_the_pinned_ones_are_not_drawn_over_them(view: TimelineView) -> None:
    view.resize(1000, 200)
    view.state.lanes.pin(PLANE)
    view.state.viewport.show(0, 100_000)
    QApplication.processEvents()
    fixed, half_covered = view.state.lanes.bands.pinned_height, 0
    for scroll in range(0, view.bar.maximum() + 1, 5):
        view.state.viewport.scroll_to(scroll)
        view.state.set_flow_kinds(frozenset())
        before = lanes_of(view)
        view.state.set_flow_kinds(frozenset([0]))
        after = lanes_of(view)
        assert (after[:fixed] == before[:fixed]).all()
        begins = position_of(view, slice_named(view, "aten::add")).y()
        half_covered += begins < fixed and bool((after != before).any())
    assert half_covered


def test_that_a_flow_from_a_pinned_lane_ends_at_their_border_where_the_other_end_is_covered(view: TimelineView) -> None:
    view.resize(1000, 250)
    view.state.lanes.pin(STREAM_1)
    view.state.viewport.show(0, 100_000)
    QApplication.processEvents()
    view.state.viewport.scroll_to(view.bar.maximum())
    number = view.state.lanes.bands.of_row(1)
    assert view.state.lanes.bands[number].top - view.state.viewport.scroll < view.state.lanes.bands.pinned_height
    view.state.set_flow_kinds(frozenset())
    before = lanes_of(view)
    view.state.set_flow_kinds(frozenset([0]))
    changed = np.flatnonzero((lanes_of(view) != before).any(axis=1))
    assert changed.min() < view.state.lanes.bands.height[0]
    assert changed.max() <= view.state.lanes.bands.pinned_height


def test_that_the_frame_of_a_slice_is_not_drawn_over_the_pinned_lanes(view: TimelineView) -> None:
    view.resize(1000, 250)
    view.state.lanes.pin(PLANE)
    index = slice_named(view, "aclnnAdd", 3)
    view.state.viewport.show(20_000, 50_000)
    QApplication.processEvents()
    fixed = view.state.lanes.bands.pinned_height
    band = view.state.lanes.bands[view.state.lanes.bands.of_row(view.state.trace.row_of(index))]  # type: ignore[union-attr]
    view.state.viewport.scroll_to(band.top - fixed + band.drawn // 2)
    before = lanes_of(view)
    view.state.selection.select(index)
    after = lanes_of(view)
    assert (after[:fixed] == before[:fixed]).all()
    assert (after != before).any()


def test_that_arrows_upon_each_other_are_drawn_once(view: TimelineView) -> None:
    view.state.set_flow_kinds(frozenset([0]))
    flows = flows_in_view(view.state)
    assert len(flows) == 100
    images = []
    for some in (flows, np.repeat(flows, 3, axis=0)):
        image = QImage(900, 400, QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        draw_flows(painter, view.state, some, (900, 400), ("text", 1.0))
        painter.end()
        images.append(image)
    assert images[0] == images[1]
    assert len(_distinct_ends(view.state, np.repeat(flows, 3, axis=0), 900)[0].at) == 100


@pytest.mark.parametrize("ratio", [1.25, 1.5, 2.0])
def test_that_lanes_have_as_many_pixels_as_the_screen(view: TimelineView, ratio: float) -> None:
    painting, state = view.canvas.painting, view.state
    assert painting is not None
    state.viewport.show(400_000, 800_000)
    image = painting.image(state, 400, 300, ratio).copy()
    sharp = painting.image(state, round(400 * ratio), 300).copy()
    assert (image.width(), image.height()) == (400 * ratio, 300 * ratio)
    for name in ("aclnnMatMul", "aten::add"):
        y = position_of(view, slice_named(view, name)).y() - 9  # above its name
        differ = sum(image.pixel(x, round(y * ratio)) != sharp.pixel(x, y) for x in range(image.width()))
        assert differ <= 12 * ratio, name  # lines of the grid are as thick as the ratio is


SHARP = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from tests.timeline.memory_traces import LaneSpec, trace_of
from ui.widgets import theme
from ui.timeline.view.timeline_view import TimelineView
from ui.timeline.view.picture_export import save_picture
from ui.timeline.state.view_state import ViewState
app = QApplication([])
theme.apply(app, "light")
folder = Path(sys.argv[1])
view = TimelineView(ViewState())
view.resize(600, 300)
view.show()
view.state.set_trace(trace_of(folder, [LaneSpec(slices=[(at * 10, at * 10 + 5, "op") for at in range(1000)])]))
app.processEvents()
view.state.viewport.show(0, view.canvas.width() * 10)
grabbed = view.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
band = view.state.lanes.bands[1]
y = band.top + band.drawn // 2
line = [grabbed.pixel(x, 2 * y) for x in range(grabbed.width())]
save_picture(view, folder / "a.png")
saved = QImage(str(folder / "a.png"))
print(json.dumps({
    "ratio": view.devicePixelRatioF(), "grabbed": [grabbed.width(), grabbed.height()],
    "saved": [saved.width(), saved.height()], "canvas": [view.canvas.width(), view.canvas.height()],
    "line": line[:200], "under": [view.canvas.slice_under(QPointF(x + 0.25, y)) for x in range(20)],
    "same": all(saved.pixel(x + 2 * view.canvas.x(), 2 * (y + view.canvas.y())) & 0xffffff == line[x] & 0xffffff
                for x in range(200)),
}))
"""


def test_that_a_slice_of_half_a_point_is_one_pixel_of_a_sharp_screen(tmp_path: Path) -> None:
    """One point of the window is 10 ns: slices of 5 ns with 5 ns between are pixels by turns."""
    process = subprocess.run(
        [sys.executable, "-c", SHARP, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    measured = json.loads(process.stdout)
    width, height = measured["canvas"]
    assert measured["ratio"] == 2
    assert measured["grabbed"] == [2 * width, 2 * height]
    assert measured["saved"] == [1200, 600]
    assert measured["same"]
    line = measured["line"]
    assert line[4] == line[6] == line[8] != line[5] == line[7] == line[9]
    assert measured["under"] == list(range(20))


@pytest.mark.parametrize("mode", ["relative", "absolute", "step"])
def test_that_both_themes_languages_and_all_times_are_painted(view: TimelineView, mode: str) -> None:
    view.state.set_time_mode(mode)
    view.state.set_marks([mark(500_000, 600_000, "中文")])
    view.state.selection.select(slice_named(view, "aclnnAdd", 5))
    view.state.selection.choose_range(TimeRange(begin=5, end=400_000))
    view.state.set_flow_kinds(frozenset([0]))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    light = view.grab().toImage()
    try:
        theme.apply(app, "dark")
        change_language("zh")
        assert view.grab().toImage() != light
    finally:
        theme.apply(app, "light")
        change_language("en")
    for begin, end in ((52_000, 52_010), (-10_000, 10_000), (999_990, 1_000_010)):
        view.state.viewport.show(begin, end)
        view.grab()


def test_that_very_long_names_are_not_looked_through_before_the_first_picture(qtbot: QtBot, tmp_path: Path) -> None:
    view = TimelineView(ViewState())
    qtbot.addWidget(view)
    view.state.set_trace(trace_of(tmp_path, [LaneSpec(slices=[(0, 50, "x" * 3_000_000), (60, 90, "y")])]))
    assert view.canvas.painting is not None
    assert view.canvas.painting._longest is None
    qtbot.waitUntil(lambda: view.canvas.painting is not None and view.canvas.painting._longest is not None)


def test_that_nothing_fails_without_a_trace_or_with_an_empty_one(qtbot: QtBot, tmp_path: Path) -> None:
    view = TimelineView(ViewState())
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    for shortcut in SHORTCUTS:
        view.do(shortcut.action)
    view.grab()
    view.state.set_trace(trace_of(tmp_path, [LaneSpec(slices=[])], last=0))
    for shortcut in SHORTCUTS:
        view.do(shortcut.action)
    qtbot.mouseMove(view.canvas, QPoint(50, 40))
    view.grab()


def test_that_rows_are_made_low_and_high(qtbot: QtBot, view: TimelineView) -> None:
    for _ in range(20):
        press(qtbot, view, "Ctrl+Down")
    assert view.state.lanes.arrangement.row_height == 2
    view.grab()
    for _ in range(30):
        press(qtbot, view, "Ctrl+Up")
    assert view.state.lanes.arrangement.row_height == 40


def test_that_very_many_lanes_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    lanes = [LaneSpec(name=f"Stream {number}", slices=[(number, number + 5, "op")]) for number in range(20_000)]
    view = TimelineView(ViewState())
    qtbot.addWidget(view)
    view.resize(800, 400)
    view.show()
    view.state.set_trace(trace_of(tmp_path, lanes))
    view.canvas.scroll_by(10**9)
    view.grab()
    index = len(lanes) - 1
    assert view.canvas.slice_under(QPointF(position_of(view, index))) == index


def test_that_the_view_is_saved_as_png_and_svg(view: TimelineView, tmp_path: Path) -> None:
    view.state.viewport.show(0, 100_000)
    view.state.selection.select(slice_named(view, "aclnnAdd", 2))
    save_picture(view, tmp_path / "a.png")
    image = QImage(str(tmp_path / "a.png"))
    assert (image.width(), image.height()) == (view.width(), view.height())
    grabbed = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    assert image.pixel(500, 150) == grabbed.pixel(500, 150)
    save_picture(view, tmp_path / "a.svg")
    texts = "".join(ET.parse(tmp_path / "a.svg").getroot().itertext())
    assert "Stream 1" in texts
    assert "Ascend Hardware" in texts


def test_that_an_svg_is_xml_whatever_lanes_are_called(qtbot: QtBot, tmp_path: Path) -> None:
    view = TimelineView(ViewState())
    qtbot.addWidget(view)
    view.resize(600, 300)
    names = ["a\x00b", "a\x1b[1m", "a\ufffeb", "中文 <&> 😀"]
    view.state.set_trace(trace_of(tmp_path, [LaneSpec(name=name, slices=[(0, 9, name)]) for name in names]))
    save_picture(view, tmp_path / "a.svg")
    texts = "".join(ET.parse(tmp_path / "a.svg").getroot().itertext())
    assert "[1m" in texts
    assert "中文 <&>" in texts


def test_that_a_picture_that_cannot_be_written_says_why(view: TimelineView, tmp_path: Path) -> None:
    with pytest.raises(StudioError):
        save_picture(view, tmp_path / "none" / "a.png")


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "0 ns"), (312, "312 ns"), (1500, "1.500 µs"), (148_800_000, "148.800 ms"), (2e9, "2.000 s")]
)
def test_that_lengths_are_read_easily(ns: float, text: str) -> None:
    assert length_text(ns) == text


def test_that_no_digit_of_a_time_is_lost() -> None:
    assert exact_text(74_123_456) == "74.123\u2009456 ms"
    assert exact_text(-1_000_000_001) == "-1.000\u2009000\u2009001 s"
    assert clock_text(1_763_660_000_123_456_789).endswith(".123456789")


@pytest.mark.parametrize("mode", ["relative", "absolute", "step"])
@pytest.mark.parametrize("span", [10, 333, 5_000, 10**6, 10**9, 10**13, 10**17])
def test_that_ticks_differ_from_each_other_at_every_zoom(trace: Trace, mode: str, span: int) -> None:
    for begin in (0.0, 123_456_789.5, -span / 3):
        ticks = ticks_of(trace, mode, begin, begin + span, 900)
        assert 1 <= len(ticks.times) <= 12
        assert list(ticks.times) == sorted(set(ticks.times))
        if span < 10**13:
            assert len(set(ticks.labels)) == len(ticks.labels)
        assert all(begin <= time <= begin + span for time in ticks.times)


def test_that_steps_of_ticks_are_1_2_or_5() -> None:
    assert [tick_step(span, 1000, 100) for span in (10, 100, 1500, 2.1e6, 4e9)] == [1, 10, 200, 500_000, 500_000_000]
