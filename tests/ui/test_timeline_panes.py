"""The panes below the lanes and the search field: details, statistics, matches, notes, and what the data holds."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from backends.timeline.query.notes import Mark, place_of_notes, read_notes, write_notes
from backends.timeline.read import read_profile
from studio.errors import StudioError
from studio.places import state_home
from studio.texts import t
from tests.timeline import made, made_folders, made_others
from tests.timeline.shared_data import ASCEND_TEXTS, profile
from tests.timeline.traces import Made, trace_of
from tests.ui import looks
from ui import editor
from ui.say import change_language
from ui.timeline.panes import matches_pane
from ui.timeline.panes.panes import NAMES, Panes
from ui.timeline.search_bar import SearchBar
from ui.timeline.state import TimeRange, ViewState

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QPoint
    from pytestqt.qtbot import QtBot

    from backends.timeline.read import Opened
    from backends.timeline.trace import Trace
    from studio.texts import Language
    from ui.session import Session
    from ui.timeline.panes.list_view import ListView

LEFT = Qt.MouseButton.LeftButton


class Seen:
    """The panes of a state, shown."""

    def __init__(self, qtbot: QtBot, session: Session) -> None:
        self.qtbot, self.state = qtbot, ViewState()
        self.panes = Panes(session, self.state)
        self.bar = SearchBar(self.state)
        self.panes.find_wanted.connect(self.bar.find_name)
        for widget in (self.panes, self.bar):
            qtbot.addWidget(widget)
            widget.resize(1200, 320)
            widget.show()

    def open(self, path: Path) -> Trace:
        opened: Opened = read_profile(path, lambda _done, _total: None)
        self.state.set_trace(opened.trace)
        self.panes.show_opened(opened)
        return opened.trace

    def select(self, index: int) -> None:
        self.state.select(index)
        pane = self.panes.slice
        self.qtbot.waitUntil(lambda: pane.found is not None and pane.found.details.index == index)

    def cells(self, view: ListView) -> list[list[str]]:
        model = view.model()
        return [
            [str(model.index(row, column).data()) for column in range(model.columnCount())]
            for row in range(model.rowCount())
        ]

    def statistics(self) -> list[list[str]]:
        """Of the range as it is now."""
        with self.qtbot.waitSignal(self.panes.range.reckoned_anew):
            self.panes.show_tab("range")
        return self.cells(self.panes.range.view)


@pytest.fixture
def seen(qtbot: QtBot, session: Session) -> Seen:
    return Seen(qtbot, session)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    lanes = [
        Made(name="Thread 1", kind="host", process="Python", slices=[(0, 10_000, "step"), (1000, 4000, "add")]),
        Made(name="Stream 1", slices=[(2000, 6000, "mm"), (7000, 8000, "mm")]),
        Made(name="Stream 2", slices=[(4000, 9000, "mm"), (9500, 9600, "add\tnew\nline")]),
    ]
    return trace_of(tmp_path / "trace", lanes, arrows=[(0, 1000, 1, 2000, "async_npu")])


def named(trace: Trace, name: str) -> list[int]:
    return [index for index in range(len(trace.start)) if trace.name_text(int(trace.name[index])) == name]


def kernels(trace: Trace) -> list[int]:
    """In order of time."""
    return sorted(named(trace, made.KERNELS[0]), key=lambda index: int(trace.start[index]))


def click(view: QWidget, place: QPoint) -> None:
    QTest.mouseClick(view, LEFT, Qt.KeyboardModifier.NoModifier, place)


def click_row(view: ListView, row: int) -> None:
    click(view.viewport(), view.visualRect(view.model().index(row, 0)).center())


def test_that_empty_panes_say_what_to_do(seen: Seen) -> None:
    said = _texts(seen.panes)
    assert t("timeline.pane.no_slice") in said
    assert t("timeline.pane.no_trace") in said


def test_that_a_kernel_shows_its_arguments_its_metrics_and_its_times(seen: Seen, tmp_path: Path) -> None:
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    index = kernels(trace)[0]
    seen.select(index)
    pane = seen.panes.slice
    assert seen.panes.shown == "slice"
    assert pane.name.whole_text() == made.KERNELS[0]
    assert pane.args.value_of("Task Type") == "AI_CORE"
    assert pane.args.value_of("cube_utilization(%)")
    assert pane.args.value_of(t("timeline.slice.input", place=0))
    assert pane.place.value_of(t("timeline.slice.duration")) == "11 µs"
    assert pane.place.value_of(t("timeline.slice.rank")) == "0"
    assert "Ascend Hardware" in pane.place.value_of(t("timeline.slice.lane"))


def test_that_going_along_a_flow_selects_its_other_end_and_shows_both(seen: Seen, tmp_path: Path) -> None:
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    index = kernels(trace)[0]
    seen.select(index)
    pane = seen.panes.slice
    kinds = {flow.arrow.kind: row for row, flow in enumerate(pane.flows.flows)}
    assert set(kinds) == {"async_npu", "HostToDevice"}
    click_row(pane.flows.view, kinds["HostToDevice"])
    call = seen.state.selected
    assert trace.name_text(int(trace.name[call])) == "Node@launch"
    assert seen.state.begin < trace.start[call] < trace.end[index] < seen.state.end
    seen.select(index)
    pane.host_call.click()
    assert trace.name_text(int(trace.name[seen.state.selected])) == "aten::mm"


def test_that_a_line_of_the_stack_opens_in_the_editor_if_the_file_is_here(seen: Seen, tmp_path: Path) -> None:
    source, told, program = tmp_path / "模型.py", tmp_path / "told", tmp_path / "an editor"
    source.write_text("", "utf-8")
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{told}"\n', "utf-8")
    program.chmod(0o755)
    editor.remember((str(program), "{path}:{line}"))
    stack = f"{source}(12): forward;\r\n/not/here/train.py(40): <module>"
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt", stack=stack))
    seen.select(kernels(trace)[0])
    frames = seen.panes.slice.stack.list
    assert [frame.exists for frame in seen.panes.slice.stack.frames] == [True, False]
    assert t("timeline.slice.not_here") in frames.item(1).toolTip()
    click(frames.viewport(), frames.visualItemRect(frames.item(1)).center())
    click(frames.viewport(), frames.visualItemRect(frames.item(0)).center())
    seen.qtbot.waitUntil(lambda: told.exists() and bool(told.read_text()), timeout=10_000)
    assert told.read_text() == f"{source}:12|"


def test_that_an_editor_is_asked_for_where_there_is_none(
    seen: Seen, trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor, "KNOWN", ())
    seen.state.set_trace(trace)
    seen.panes.slice.open_source(tmp_path / "model.py", 3)
    assert seen.panes.window().findChild(QWidget, "editor_sheet") is not None


def test_that_a_file_that_is_gone_is_said_instead_of_the_arguments(seen: Seen, tmp_path: Path) -> None:
    path = made.write_array(tmp_path / "trace_view.json", made.torch_npu(steps=1, kernels=3))
    trace = seen.open(path)
    path.unlink()
    seen.select(kernels(trace)[0])
    problem = seen.panes.slice.found.details.problem if seen.panes.slice.found else None
    assert problem is not None
    assert str(problem) in [fact.name for fact in seen.panes.slice.args.facts.facts]


def test_that_of_many_slices_chosen_quickly_the_last_one_is_shown(seen: Seen, tmp_path: Path) -> None:
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    for index in kernels(trace):
        seen.state.select(index)
    seen.select(kernels(trace)[-1])
    seen.state.select(-1)
    assert seen.panes.slice.found is None


def test_that_copied_rows_have_tabs_between_their_cells_and_none_inside(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    assert seen.statistics()
    view = seen.panes.range.view
    view.selectAll()
    view.copy()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert len(lines) == 4
    assert all(line.count("\t") == 7 for line in lines)
    seen.select(named(trace, "step")[0])
    seen.panes.slice.copy.click()
    assert QGuiApplication.clipboard().text().startswith("step\n")


def test_that_the_statistics_of_a_range_are_those_counted_by_hand(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    seen.state.choose_range(TimeRange(begin=3000, end=8000))
    rows = {row[0]: row[1:] for row in seen.statistics()}
    assert seen.panes.shown == "range"
    # Parts inside: mm 3000-6000, 7000-8000 and 4000-8000, together 3000-8000.
    assert rows["mm"] == ["3", "5.000 µs", "8.000 µs", "8.000 µs", "2.667 µs", "1.000 µs", "4.000 µs"]
    # The step runs all the time; 1000 ns of it are add's.
    assert rows["step"] == ["1", "5.000 µs", "5.000 µs", "4.000 µs", "5.000 µs", "5.000 µs", "5.000 µs"]
    assert seen.panes.range.title.whole_text() == t("timeline.range.of_range", length="5.000 µs")
    assert seen.panes.range.busy.whole_text() == t(
        "timeline.view.rank_process",
        rank=0,
        name=t("timeline.range.device", name="–", computing="100 %", exposed="0 %", free="0 %"),
    )


def test_that_without_a_range_what_is_in_view_is_counted_of_the_lanes_that_are_shown(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    assert sorted(row[0] for row in seen.statistics()) == ["add", "add\tnew line", "mm", "step"]
    assert t("timeline.range.shown_lanes") not in seen.panes.range.title.whole_text()
    with seen.qtbot.waitSignal(seen.panes.range.reckoned_anew):
        seen.state.hide(0)
    rows = seen.cells(seen.panes.range.view)
    assert {row[0] for row in rows} == {"mm", "add\tnew line"}
    assert t("timeline.range.shown_lanes") in seen.panes.range.title.whole_text()
    with seen.qtbot.waitSignal(seen.panes.range.reckoned_anew):
        seen.state.show(9000, 9550)
    assert [row[0] for row in seen.cells(seen.panes.range.view)] == ["add\tnew line"]


def test_that_a_click_on_a_head_sorts_and_a_third_one_gives_the_first_order_back(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    before = seen.statistics()
    view, count = seen.panes.range.view, 1
    view.sortByColumn(count, Qt.SortOrder.DescendingOrder)
    assert [row[1] for row in seen.cells(view)] == ["3", "1", "1", "1"]
    view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in seen.cells(view)] == ["add", "add\tnew line", "mm", "step"]
    view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert seen.cells(view) == before


def test_that_statistics_are_written_as_csv_and_a_failure_is_said(
    seen: Seen, trace: Trace, tmp_path: Path, session: Session
) -> None:
    seen.state.set_trace(trace)
    seen.statistics()
    seen.panes.range.save(tmp_path / "range.csv")
    seen.qtbot.waitUntil(lambda: (tmp_path / "range.csv").exists())
    assert (tmp_path / "range.csv").read_text("utf-8-sig").splitlines()[0].startswith("Name,Count")
    with seen.qtbot.waitSignal(session.trouble) as told:
        seen.panes.range.save(tmp_path / "not there" / "range.csv")
    assert isinstance(told.args[0], StudioError)


def test_that_a_double_click_on_a_name_lists_its_slices(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    rows = seen.statistics()
    view = seen.panes.range.view
    place = view.visualRect(view.model().index([row[0] for row in rows].index("mm"), 0)).center()
    click(view.viewport(), place)
    QTest.mouseDClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None)
    assert seen.panes.shown == "search"
    assert [row[0] for row in seen.cells(seen.panes.matches.view)] == ["mm", "mm", "mm"]


def test_that_a_match_that_is_clicked_is_chosen_and_the_list_stays(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    seen.panes.show_tab("search")
    QTest.keyClicks(seen.bar.field, "MM")
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None)
    view = seen.panes.matches.view
    assert seen.bar.count.whole_text() == t("timeline.find.matches", count="3")
    assert [row[2] for row in seen.cells(view)] == ["2.000 µs", "4.000 µs", "7.000 µs"]
    view.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    click_row(view, 0)
    assert int(trace.start[seen.state.selected]) == 7000
    assert seen.panes.shown == "search"
    assert seen.bar.count.whole_text() == t("timeline.find.count", at="3", count="3")
    seen.bar.next.click()
    assert int(trace.start[seen.state.selected]) == 2000
    seen.state.select(named(trace, "step")[0])
    assert seen.panes.shown == "slice"


def test_that_the_search_steps_to_and_fro_and_is_cleared(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    QTest.keyClicks(seen.bar.field, "mm")
    QTest.keyClick(seen.bar.field, Qt.Key.Key_Return)
    seen.qtbot.waitUntil(lambda: len(seen.state.hits) == 3 and seen.state.hit == 0)
    seen.bar.previous.click()
    assert seen.state.hit == 2
    QTest.keyClick(seen.bar.field, Qt.Key.Key_Escape)
    seen.qtbot.waitUntil(lambda: len(seen.state.hits) == 0 and seen.state.hit_names is None)
    assert not seen.bar.count.isVisible()
    assert not seen.bar.next.isEnabled()


def test_that_case_and_regular_expressions_are_heeded_and_a_bad_one_is_said(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    seen.bar.case.setChecked(True)
    QTest.keyClicks(seen.bar.field, "MM")
    seen.qtbot.waitUntil(lambda: seen.bar.count.whole_text() == t("timeline.find.none"))
    seen.bar.regex.setChecked(True)
    seen.bar.field.setText("^(mm|step)$")
    seen.qtbot.waitUntil(lambda: len(seen.state.hits) == 4, timeout=10_000)
    seen.bar.field.setText("(")
    seen.qtbot.waitUntil(lambda: seen.bar.count.property("role") == "bad", timeout=10_000)
    assert not len(seen.state.hits)
    assert seen.bar.field.property("wrong")


def test_that_enter_on_a_name_lists_its_slices_too(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    seen.statistics()
    seen.panes.range.view.setCurrentIndex(seen.panes.range.view.model().index(0, 0))
    with seen.qtbot.waitSignal(seen.panes.find_wanted):
        QTest.keyClick(seen.panes.range.view, Qt.Key.Key_Return)


def test_that_names_of_any_kind_and_length_are_shown(seen: Seen, tmp_path: Path) -> None:
    names = ["", "<b>bold</b>", "新\u2028行\n二", "🙂" * 40, "x" * 1_000_000]
    slices = [(at * 10, at * 10 + 5, name) for at, name in enumerate(names)]
    seen.state.set_trace(trace_of(tmp_path, [Made(slices=slices)]))
    assert len(seen.statistics()) == len(names)
    for index in range(len(names)):
        seen.select(index)
        seen.panes.grab()
    seen.state.set_hits(np.arange(len(names)))
    seen.panes.show_tab("search")
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None)
    assert not seen.panes.grab().isNull()


def test_that_a_long_list_of_matches_is_cut_and_says_so(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches_pane, "MOST", 10)
    trace = trace_of(tmp_path, [Made(slices=[(at * 10, at * 10 + 5, "mm") for at in range(25)])])
    seen.state.set_trace(trace)
    seen.panes.show_tab("search")
    seen.state.set_hits(np.arange(25))
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None)
    assert len(seen.cells(seen.panes.matches.view)) == 10
    assert seen.panes.matches.cut.text() == t("timeline.matches.cut", shown="10", count="25")


def test_that_a_note_is_typed_kept_found_again_and_deleted(
    seen: Seen, trace: Trace, qtbot: QtBot, session: Session
) -> None:
    seen.state.set_trace(trace)
    seen.qtbot.waitUntil(lambda: t("timeline.notes.empty") in _texts(seen.panes.notes))
    seen.state.choose_range(TimeRange(begin=2000, end=6000))
    seen.panes.add_note()
    field = seen.panes.notes.view.findChild(QLineEdit)
    assert field is not None
    QTest.keyClicks(field, "stalls here")
    QTest.keyClick(field, Qt.Key.Key_Return)
    place = place_of_notes(trace)
    seen.qtbot.waitUntil(lambda: [mark.text for mark in read_notes(place)] == ["stalls here"])
    mark = read_notes(place)[0]
    assert (mark.begin - trace.meta.origin_ns, mark.end - trace.meta.origin_ns) == (2000, 6000)

    again = Seen(qtbot, session)
    again.state.set_trace(trace)
    again.panes.show_tab("notes")
    qtbot.waitUntil(lambda: len(again.state.marks) == 1)
    assert again.cells(again.panes.notes.view) == [["stalls here", "2.000 µs", "4.000 µs"]]
    again.state.show(0, 100)
    click_row(again.panes.notes.view, 0)
    assert again.state.begin < 2000 < 6000 < again.state.end
    assert again.panes.shown == "notes"
    again.panes.notes.delete_button.click()
    qtbot.waitUntil(lambda: not read_notes(place))


def _texts(widget: QWidget) -> list[str]:
    return [one.text() for one in widget.findChildren(QLabel)]


def test_that_a_note_needs_neither_a_range_nor_a_slice_and_a_clicked_mark_is_listed(seen: Seen, trace: Trace) -> None:
    seen.panes.add_note()
    assert not seen.state.marks
    seen.state.set_trace(trace)
    seen.panes.toggle()
    seen.panes.add_note()
    seen.state.select(named(trace, "step")[0])
    seen.panes.add_note()
    lengths = sorted(mark.end - mark.begin for mark in seen.state.marks)
    assert lengths == [0, 10_000]
    seen.panes.choose_note(1)
    assert seen.panes.shown == "notes"
    assert not seen.panes.is_folded
    assert [index.row() for index in seen.panes.notes.view.selectionModel().selectedRows()] == [1]


def test_that_notes_at_the_ends_of_all_time_are_listed(seen: Seen, trace: Trace) -> None:
    write_notes(place_of_notes(trace), [Mark(begin=-(1 << 63) + 1, end=(1 << 63) - 1, text="all\nof it")])
    seen.state.set_trace(trace)
    seen.panes.show_tab("notes")
    seen.qtbot.waitUntil(lambda: len(seen.state.marks) == 1)
    assert seen.cells(seen.panes.notes.view)[0][0] == "all of it"
    click_row(seen.panes.notes.view, 0)


def test_that_notes_that_cannot_be_written_are_said(seen: Seen, trace: Trace, session: Session) -> None:
    state_home().mkdir(parents=True, exist_ok=True)
    (state_home() / "timeline").write_text("in the way", "utf-8")
    seen.state.set_trace(trace)
    seen.qtbot.wait(50)
    with seen.qtbot.waitSignal(session.trouble) as told:
        seen.qtbot.waitUntil(lambda: seen.panes.notes.add_button.isEnabled())
        seen.panes.add_note()
    assert isinstance(told.args[0], StudioError)


def test_that_the_data_pane_says_what_was_read_and_why_some_was_not_shown(seen: Seen, tmp_path: Path) -> None:
    odd = [{"ph": "X", "name": "when", "pid": 1, "tid": 1, "ts": "never", "dur": 1}, {"ph": "?", "name": "what"}]
    made.write_array(tmp_path / "trace_view.json", [*made.torch_npu(), *odd])
    trace = seen.open(tmp_path / "trace_view.json")
    seen.panes.show_tab("data")
    pane = seen.panes.data
    seen.qtbot.waitUntil(lambda: pane.missing is not None)
    assert pane.counts.value_of(t("timeline.data.slices")) == f"{trace.meta.slices:,}"
    assert pane.counts.value_of(t("timeline.data.dangling")) == "1"
    assert pane.counts.value_of(t("timeline.aside.bad_time")) == "1"
    assert pane.counts.value_of(t("timeline.aside.unknown_phase")) == "1"
    assert [fact.value for fact in pane.sources.facts.facts] == [None, "trace_view.json"]
    assert "profile_memory=True" in [fact.name for fact in pane.not_collected.facts.facts]


def test_that_the_figures_of_the_data_pane_add_up_to_the_events(seen: Seen, tmp_path: Path) -> None:
    trace = seen.open(made.write_object(tmp_path / "trace.json", made_others.kineto()))
    counts = seen.panes.data.counts
    parts = ("slices", "instants", "flow_ends", "counters", "metadata")
    assert sum(getattr(trace.meta, part) for part in parts) + sum(trace.meta.set_aside.values()) == trace.meta.events
    assert counts.value_of(t("timeline.data.flow_ends")) == f"{trace.meta.flow_ends:,}"
    assert counts.value_of(t("timeline.data.series")) == str(len(trace.meta.series))
    assert t("timeline.data.from_memory") in [fact.name for fact in counts.facts.facts]


def test_that_switches_that_are_not_on_are_whole(seen: Seen, tmp_path: Path) -> None:
    seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    pane = seen.panes.data
    seen.qtbot.waitUntil(lambda: pane.missing is not None)
    lines = [fact.name for fact in pane.not_collected.facts.facts if fact.is_mono]
    assert max(map(len, lines)) <= 48
    assert "experimental_config=_ExperimentalConfig(" in lines
    assert pane.missing is not None
    for one in pane.missing:
        assert one.switch.replace(" ", "") in "".join(lines).replace(" ", "")


def test_that_the_data_pane_says_what_was_cut_off(seen: Seen, tmp_path: Path) -> None:
    path = made.write_array(tmp_path / "trace_view.json", made.torch_npu())
    path.write_bytes(path.read_bytes()[:-900])
    seen.open(path)
    seen.panes.show_tab("data")
    facts = seen.panes.data.sources.facts.facts
    assert t("timeline.data.cut") in facts[1].name
    assert t("timeline.remark.truncated", place="trace_view.json") in [fact.name for fact in facts]


def test_that_the_language_changes_while_panes_are_open(seen: Seen, tmp_path: Path) -> None:
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    seen.select(kernels(trace)[0])
    seen.statistics()
    change_language("zh")
    assert seen.panes.tabs.tabText(0) == "切片"
    assert seen.panes.slice.place.value_of("时长") == "11 µs"
    assert seen.panes.range.title.whole_text().startswith("当前可见范围")
    assert seen.panes.data.counts.value_of("泳道") == str(len(trace.meta.lanes))


def test_that_nothing_of_the_profile_before_is_kept(seen: Seen, trace: Trace, tmp_path: Path) -> None:
    old = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    seen.select(kernels(old)[0])
    seen.statistics()
    seen.bar.find_name(made.KERNELS[0])
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None and seen.panes.data.missing is not None)
    gone = weakref.ref(old)
    del old
    seen.panes.show_opened(None)
    seen.state.set_trace(trace)
    seen.qtbot.waitUntil(lambda: seen.panes.data.missing is not None)
    seen.qtbot.waitUntil(lambda: gc.collect() >= 0 and gone() is None)
    assert seen.panes.slice.found is None
    assert not seen.cells(seen.panes.matches.view)


def test_that_folding_leaves_the_tabs_and_a_click_on_one_unfolds(seen: Seen, trace: Trace) -> None:
    seen.state.set_trace(trace)
    seen.panes.toggle()
    assert seen.panes.is_folded
    assert seen.panes.maximumHeight() < 60
    click(seen.panes.tabs, seen.panes.tabs.tabRect(NAMES.index("notes")).center())
    assert not seen.panes.is_folded
    assert seen.panes.shown == "notes"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tab", NAMES)
def test_that_nothing_is_cut_off_or_lies_on_something_else(
    seen: Seen, tmp_path: Path, tab: str, language: Language
) -> None:
    change_language(language)
    assert not looks.faults(seen.panes)
    trace = seen.open(made_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    seen.panes.resize(1000, 240)
    seen.select(kernels(trace)[0])
    seen.panes.notes.add()
    seen.bar.find_name(made.KERNELS[0])
    seen.qtbot.waitUntil(lambda: seen.panes.matches.listed is not None and seen.panes.data.missing is not None)
    seen.panes.show_tab(tab)
    seen.qtbot.wait(20)
    assert not looks.faults(seen.panes)
    assert not looks.faults(seen.bar)


def test_that_a_real_kernel_shows_its_metrics_its_stack_and_its_flows(seen: Seen) -> None:
    trace = seen.open(profile(ASCEND_TEXTS[0]))
    index = next(index for index in named(trace, "aclnnAddmm_MatMulCommon_MatMulV2") if trace.end[index])
    seen.select(index)
    pane = seen.panes.slice
    assert pane.args.value_of("aicore_time(us)") or pane.args.value_of("aic_total_cycles")
    assert pane.stack.frames[0].text.endswith("forward")
    assert {flow.arrow.kind for flow in pane.flows.flows} == {"async_npu", "HostToDevice"}
    seen.state.choose_range(TimeRange(begin=0, end=trace.span + 1))
    rows = {row[0]: row[1] for row in seen.statistics()}
    assert rows["aclnnAddmm_MatMulCommon_MatMulV2"] == str(len(named(trace, "aclnnAddmm_MatMulCommon_MatMulV2")))
