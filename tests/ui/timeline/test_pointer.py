"""Where the keys go after a jump, what folding gives, and what the search says, with real clicks in a whole window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from studio.texts import t
from tests.timeline.other_traces import chrome_pairs
from tests.timeline.profile_folders import rank_folder
from tests.timeline.torch_npu_trace import KERNELS, write_array
from tests.ui.looks import faults, settle
from tests.ui.timeline.clicks import open_profile, press_key, trace_of
from ui.timeline.panes.slice_facts import slice_facts
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QTableView
    from pytestqt.qtbot import QtBot

    from ui.shell.window import Shell
    from ui.timeline.page import TimelinePage

LEFT, NO_KEYS = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def page(qtbot: QtBot, shell: Shell, tmp_path: Path) -> TimelinePage:
    shell.resize(1280, 800)
    shell.activateWindow()
    return open_profile(qtbot, shell, rank_folder(tmp_path / "rank0_ascend_pt"))


def kernel(page: TimelinePage) -> int:
    trace = trace_of(page)
    return next(index for index in range(len(trace.start)) if trace.name_text(int(trace.name[index])) == KERNELS[0])


def has_keys(page: TimelinePage) -> bool:
    return QApplication.focusWidget() is page.view.canvas


def show_slice(page: TimelinePage, qtbot: QtBot, index: int) -> None:
    page.state.reveal(index)
    pane = page.panes.slice
    qtbot.waitUntil(lambda: pane.lookup is not None and pane.lookup.details.index == index)
    settle()


def twice(view: QTableView, row: int) -> None:
    position = view.visualRect(view.model().index(row, 0)).center()
    QTest.mouseClick(view.viewport(), LEFT, NO_KEYS, position)
    QTest.mouseDClick(view.viewport(), LEFT, NO_KEYS, position)


def type_name(page: TimelinePage, text: str) -> None:
    page.tools.search.focus()
    QTest.keyClicks(page.tools.search.field, text)


# Where the keys go


def test_that_after_going_to_the_host_call_the_keys_are_those_of_the_lanes(page: TimelinePage, qtbot: QtBot) -> None:
    show_slice(page, qtbot, kernel(page))
    before = (page.state.viewport.begin, page.state.viewport.end)
    QTest.mouseClick(page.panes.slice.host_call, LEFT)
    assert has_keys(page)
    assert (page.state.viewport.begin, page.state.viewport.end) != before
    press_key(page.view.canvas, Qt.Key.Key_Backspace)
    assert (page.state.viewport.begin, page.state.viewport.end) == before


def test_that_a_match_is_walked_to_in_the_list_and_gone_to_by_a_double_click(page: TimelinePage, qtbot: QtBot) -> None:
    matches = page.panes.matches
    page.panes.show_tab("search")
    page.tools.search.find_name(KERNELS[0])
    qtbot.waitUntil(lambda: matches.listed is not None)
    settle()
    position = matches.view.visualRect(matches.view.model().index(0, 0)).center()
    QTest.mouseClick(matches.view.viewport(), LEFT, NO_KEYS, position)
    assert QApplication.focusWidget() is matches.view
    begin = page.state.viewport.begin
    page.state.viewport.zoom(0.5, page.state.viewport.begin)
    page.state.viewport.zoom(0.5, page.state.viewport.end)
    press_key(matches.view, Qt.Key.Key_Backspace)
    assert page.state.viewport.begin == begin
    twice(matches.view, 0)
    assert has_keys(page)


def test_that_a_name_of_the_range_and_all_of_a_name_lead_to_the_lanes(page: TimelinePage, qtbot: QtBot) -> None:
    page.panes.show_tab("range")
    view = page.panes.range.view
    qtbot.waitUntil(lambda: view.model().rowCount() > 0)
    settle()
    twice(view, 0)
    assert has_keys(page)
    show_slice(page, qtbot, kernel(page))
    page.panes.show_tab("slice")
    QTest.mouseClick(page.panes.slice.find_all, LEFT)
    assert has_keys(page)
    press_key(page.view.canvas, Qt.Key.Key_N)


def test_that_enter_on_a_note_leads_to_the_lanes(page: TimelinePage) -> None:
    page.panes.add_note()
    view = page.panes.notes.view
    settle()
    press_key(QApplication.focusWidget() or view, Qt.Key.Key_Return)
    page.panes.choose_note(0)
    assert not has_keys(page)
    press_key(view, Qt.Key.Key_Return)
    assert has_keys(page)


# Room


@pytest.mark.parametrize("size", [(1280, 800), (1024, 700)])
def test_that_folding_gives_the_lanes_the_room_and_unfolding_takes_it_back(
    page: TimelinePage, shell: Shell, qtbot: QtBot, size: tuple[int, int]
) -> None:
    shell.resize(*size)
    qtbot.waitUntil(page.sentence.isVisible)  # it takes room from the lanes when it comes
    settle()
    lanes, pane = page.splitter.sizes()
    before = page.view.height()
    press_key(page.view.canvas, Qt.Key.Key_Q)
    assert page.panes.height() <= page.panes.folded_height < pane / 2
    assert page.view.height() >= before + pane - page.panes.folded_height
    assert page.panes.geometry().bottom() >= page.splitter.contentsRect().bottom() - 1
    assert page.panes.tabs.geometry().bottom() <= page.panes.rect().bottom()
    press_key(page.view.canvas, Qt.Key.Key_Q)
    assert page.splitter.sizes() == [lanes, pane]


def test_that_a_small_window_gives_the_lanes_the_larger_part(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    shell.resize(1024, 700)
    page = open_profile(qtbot, shell, rank_folder(tmp_path / "rank0_ascend_pt"))
    qtbot.waitUntil(lambda: page.splitter.sizes()[1] <= 0.41 * sum(page.splitter.sizes()))
    show_slice(page, qtbot, kernel(page))
    assert not faults(shell)


def test_that_everything_ends_at_one_border(page: TimelinePage) -> None:
    ends = {
        widget.mapTo(page, widget.rect().topRight()).x()
        for widget in (page.view, page.panes, page.head.open, page.tools.keys)
    }
    assert ends == {page.width() - 25}


def test_that_the_ways_of_counting_time_are_whole_in_another_language(page: TimelinePage) -> None:
    change_language("zh")
    settle()
    change_language("en")
    settle()
    box = page.tools.mode
    assert box.width() >= box.sizeHint().width() > box.fontMetrics().horizontalAdvance(t("timeline.tools.relative"))
    assert not faults(page.window())


# Search


def test_that_enter_waits_for_the_answer_and_goes_to_the_first_match(page: TimelinePage, qtbot: QtBot) -> None:
    search = page.tools.search
    type_name(page, KERNELS[0])
    press_key(search.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.state.hits.current == 0)
    assert page.state.selection.slice == int(page.state.hits.slices[0])


def test_that_matches_are_counted_before_one_is_chosen_and_let_go_of_by_escape(
    page: TimelinePage, qtbot: QtBot
) -> None:
    search = page.tools.search
    type_name(page, KERNELS[0])
    qtbot.waitUntil(lambda: len(page.state.hits.slices) > 0)
    count = len(page.state.hits.slices)
    assert search.count.whole_text() == (f"{count} matches" if count > 1 else "1 match")
    press_key(page.view.canvas, Qt.Key.Key_Escape)
    assert (search.field.text(), search.count.whole_text(), len(page.state.hits.slices)) == ("", "", 0)


def test_that_all_of_a_name_begin_at_the_chosen_one_and_leave_the_ticks(page: TimelinePage, qtbot: QtBot) -> None:
    search, index = page.tools.search, kernel(page)
    page.state.selection.select(index)
    search.find_name(KERNELS[0])
    qtbot.waitUntil(lambda: page.state.hits.current >= 0)
    assert int(page.state.hits.slices[page.state.hits.current]) == index
    assert search.case.isChecked()
    search.field.setText("x")
    assert not search.case.isChecked()


# What is said


def test_that_a_moved_lane_and_hidden_lanes_are_told(page: TimelinePage, qtbot: QtBot) -> None:
    index = kernel(page)
    show_slice(page, qtbot, index)
    page.state.lanes.set_offset(page.state.lane_of(index), 13_525_000)
    assert page.panes.slice.facts.value_of(t("timeline.slice.offset")).startswith("+13")
    page.state.lanes.hide(page.state.lane_of(index))
    assert page.tools.view.text() == "View (1 hidden)"
    change_language("zh")
    assert page.tools.view.text() == "视图（隐藏 1）"
    page.state.lanes.show_all()
    assert page.tools.view.text() == "视图"


def test_that_the_time_of_day_stands_apart_from_the_date(page: TimelinePage, qtbot: QtBot) -> None:
    show_slice(page, qtbot, kernel(page))
    details = page.panes.slice.lookup
    assert details is not None
    facts = {fact.name: fact.value for fact in slice_facts(page.state, details.details)}
    assert len(facts[t("timeline.slice.absolute")] or "") == len("11:22:33.733517620")
    assert t("timeline.slice.date") in facts


# Cancelled


@pytest.mark.parametrize("ends", ["cancelled", "failed"])
def test_that_first_lanes_of_another_profile_give_way_to_what_was_shown(
    page: TimelinePage, tmp_path: Path, qtbot: QtBot, ends: str
) -> None:
    from backends.timeline.profile_reader import read_profile
    from studio.errors import StudioError

    before, path = page.opened, page.path
    assert before is not None
    other = write_array(tmp_path / "other.json", chrome_pairs())
    first = read_profile(other, lambda _done, _total: None)
    page.opening.begun.emit(other)
    page.opening.first_lanes.emit(other, first.trace)
    assert page.opened is None
    if ends == "cancelled":
        page.opening.cancelled.emit()
    else:
        page.opening.failed.emit(other, StudioError("timeline.open.failed", code=1))
    assert (page.opened, page.path, page.state.trace) == (before, path, before.trace)
    assert page.head.name.whole_text().endswith("rank0_ascend_pt")
    assert (page.loading.isVisible(), page.view.isVisible(), page.panes.isVisible()) == (False, True, True)
    qtbot.waitUntil(page.sentence.isVisible)
