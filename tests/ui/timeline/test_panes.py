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

from backends.timeline.profile_reader import read_profile
from backends.timeline.query.notes import Mark, notes_file, read_notes, write_notes
from studio.errors import StudioError
from studio.paths import state_home
from studio.texts import t
from tests.timeline import other_traces, profile_folders, torch_npu_trace
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.profile_data import ASCEND_TEXTS, profile
from tests.ui import looks
from ui.services import editor
from ui.timeline.panes import matches_pane
from ui.timeline.panes.panes import TAB_NAMES, Panes
from ui.timeline.state.selection import TimeRange
from ui.timeline.state.view_state import ViewState
from ui.timeline.tools.search_bar import SearchBar
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QPoint
    from pytestqt.qtbot import QtBot

    from backends.timeline.profile_reader import Opened
    from backends.timeline.trace import Trace
    from studio.texts import Language
    from ui.services.session import Session
    from ui.timeline.panes.list_view import ListView

LEFT = Qt.MouseButton.LeftButton


class PanesWindow:
    """The panes of a state, shown."""

    def __init__(self, qtbot: QtBot, session: Session) -> None:
        self.qtbot, self.state = qtbot, ViewState()
        self.panes = Panes(session, self.state)
        self.bar = SearchBar(self.state)
        self.panes.find_requested.connect(self.bar.find_name)
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
        self.state.selection.select(index)
        pane = self.panes.slice
        self.qtbot.waitUntil(lambda: pane.lookup is not None and pane.lookup.details.index == index)

    def cells(self, view: ListView) -> list[list[str]]:
        model = view.model()
        return [
            [str(model.index(row, column).data()) for column in range(model.columnCount())]
            for row in range(model.rowCount())
        ]

    def statistics(self, kind: str | None = None) -> list[list[str]]:
        """Return the rows of the current range, of the lanes of a kind or of all."""
        box = self.panes.range.kind
        box.setCurrentIndex(box.findData(kind))
        with self.qtbot.waitSignal(self.panes.range.reckoned_anew):
            self.panes.show_tab("range")
        return self.cells(self.panes.range.view)


@pytest.fixture
def window(qtbot: QtBot, session: Session) -> PanesWindow:
    return PanesWindow(qtbot, session)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    lanes = [
        LaneSpec(name="Thread 1", kind="host", process="Python", slices=[(0, 10_000, "step"), (1000, 4000, "add")]),
        LaneSpec(name="Stream 1", slices=[(2000, 6000, "mm"), (7000, 8000, "mm")]),
        LaneSpec(name="Stream 2", slices=[(4000, 9000, "mm"), (9500, 9600, "add\tnew\nline")]),
    ]
    return trace_of(tmp_path / "trace", lanes, arrows=[(0, 1000, 1, 2000, "async_npu")])


def named(trace: Trace, name: str) -> list[int]:
    return [index for index in range(len(trace.start)) if trace.name_text(int(trace.name[index])) == name]


def kernels(trace: Trace) -> list[int]:
    """In order of time."""
    return sorted(named(trace, torch_npu_trace.KERNELS[0]), key=lambda index: int(trace.start[index]))


def click(view: QWidget, position: QPoint) -> None:
    QTest.mouseClick(view, LEFT, Qt.KeyboardModifier.NoModifier, position)


def click_row(view: ListView, row: int) -> None:
    click(view.viewport(), view.visualRect(view.model().index(row, 0)).center())


def test_that_empty_panes_say_what_to_do(window: PanesWindow) -> None:
    texts = _texts(window.panes)
    assert t("timeline.pane.no_slice") in texts
    assert t("timeline.pane.no_trace") in texts


def test_that_a_kernel_shows_its_arguments_its_metrics_and_its_times(window: PanesWindow, tmp_path: Path) -> None:
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    index = kernels(trace)[0]
    window.select(index)
    pane = window.panes.slice
    assert window.panes.current_tab == "slice"
    assert pane.name.whole_text() == torch_npu_trace.KERNELS[0]
    assert pane.args.value_of("Task Type") == "AI_CORE"
    assert pane.args.value_of("cube_utilization(%)")
    assert pane.args.value_of(t("timeline.slice.input", place=0))
    assert pane.facts.value_of(t("timeline.slice.duration")) == "11 µs"
    assert pane.facts.value_of(t("timeline.slice.rank")) == "0"
    assert "Ascend Hardware" in pane.facts.value_of(t("timeline.slice.lane"))


def test_that_going_along_a_flow_selects_its_other_end_and_shows_both(window: PanesWindow, tmp_path: Path) -> None:
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    index = kernels(trace)[0]
    window.select(index)
    pane = window.panes.slice
    kinds = {flow.arrow.kind: row for row, flow in enumerate(pane.flows.flows)}
    assert set(kinds) == {"async_npu", "HostToDevice"}
    click_row(pane.flows.view, kinds["HostToDevice"])
    call = window.state.selection.slice
    assert trace.name_text(int(trace.name[call])) == "Node@launch"
    assert window.state.viewport.begin < trace.start[call] < trace.end[index] < window.state.viewport.end
    window.select(index)
    pane.host_call.click()
    assert trace.name_text(int(trace.name[window.state.selection.slice])) == "aten::mm"


def test_that_a_line_of_the_stack_opens_in_the_editor_if_the_file_is_here(window: PanesWindow, tmp_path: Path) -> None:
    source, edited, program = tmp_path / "模型.py", tmp_path / "told", tmp_path / "an editor"
    source.write_text("\n" * 9 + "def forward(x):\n    x = x + 1\n    return x\n", "utf-8")
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{edited}"\n', "utf-8")
    program.chmod(0o755)
    editor.remember((str(program), "{path}:{line}"))
    stack = f"{source}(12): forward;\r\n/not/here/train.py(40): <module>"
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt", stack=stack))
    window.select(kernels(trace)[0])
    frames = window.panes.slice.stack.list
    assert [frame.match for frame in window.panes.slice.stack.frames] == ["same", "missing"]
    assert t("timeline.slice.not_here") in frames.item(1).toolTip()
    click(frames.viewport(), frames.visualItemRect(frames.item(1)).center())
    click(frames.viewport(), frames.visualItemRect(frames.item(0)).center())
    window.qtbot.waitUntil(lambda: edited.exists() and bool(edited.read_text()))
    assert edited.read_text() == f"{source}:12|"


def test_that_a_line_of_another_version_is_no_link_until_its_sources_are_chosen(
    window: PanesWindow, tmp_path: Path
) -> None:
    code = "def forward(x):\n    return x\n"
    installed, sources = tmp_path / "installed" / "net.py", tmp_path / "sources" / "net.py"
    for path, text in ((installed, "'a newer version'\n" * 9), (sources, code)):
        path.parent.mkdir()
        path.write_text(text)
    stack = f"{installed}(2): forward"
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt", stack=stack))
    window.select(kernels(trace)[0])
    shown = window.panes.slice.stack
    assert [frame.match for frame in shown.frames] == ["other"]
    assert t("timeline.slice.other_source", path=str(installed)) in shown.list.item(0).toolTip()
    assert shown.folder.isVisible()
    window.panes.slice.add_sources(sources.parent)
    window.qtbot.waitUntil(lambda: [frame.match for frame in shown.frames] == ["same"])
    assert shown.frames[0].path == sources
    assert not shown.folder.isVisible()


def test_that_an_editor_is_asked_for_where_there_is_none(
    window: PanesWindow, trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor, "EDITORS", ())
    window.state.set_trace(trace)
    window.panes.slice.open_source(tmp_path / "model.py", 3)
    assert window.panes.window().findChild(QWidget, "editor_sheet") is not None


def test_that_a_file_that_is_gone_is_said_instead_of_the_arguments(window: PanesWindow, tmp_path: Path) -> None:
    path = torch_npu_trace.write_array(tmp_path / "trace_view.json", torch_npu_trace.torch_npu(steps=1, kernels=3))
    trace = window.open(path)
    path.unlink()
    window.select(kernels(trace)[0])
    problem = window.panes.slice.lookup.details.problem if window.panes.slice.lookup else None
    assert problem is not None
    assert str(problem) in [fact.name for fact in window.panes.slice.args.facts.facts]


def test_that_of_many_slices_chosen_quickly_the_last_one_is_shown(window: PanesWindow, tmp_path: Path) -> None:
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    for index in kernels(trace):
        window.state.selection.select(index)
    window.select(kernels(trace)[-1])
    window.state.selection.select(-1)
    assert window.panes.slice.lookup is None


def test_that_copied_rows_have_tabs_between_their_cells_and_none_inside(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    assert window.statistics()
    view = window.panes.range.view
    view.selectAll()
    view.copy()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert len(lines) == 4
    assert all(line.count("\t") == 8 for line in lines)
    window.select(named(trace, "step")[0])
    window.panes.slice.copy.click()
    assert QGuiApplication.clipboard().text().startswith("step\n")


def test_that_the_statistics_of_a_range_are_those_counted_by_hand(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    window.state.selection.choose_range(TimeRange(begin=3000, end=8000))
    rows = {row[0]: row[2:] for row in window.statistics()}
    assert window.panes.current_tab == "range"
    # Parts inside: mm 3000-6000, 7000-8000 and 4000-8000, together 3000-8000.
    assert rows["mm"] == ["3", "5.000 µs", "8.000 µs", "8.000 µs", "2.667 µs", "1.000 µs", "4.000 µs"]
    # The step runs all the time; 1000 ns of it are add's.
    assert rows["step"] == ["1", "5.000 µs", "5.000 µs", "4.000 µs", "5.000 µs", "5.000 µs", "5.000 µs"]
    assert window.panes.range.title.whole_text() == t("timeline.range.of_range", length="5.000 µs")
    assert window.panes.range.busy.whole_text() == t(
        "timeline.view.rank_process",
        rank=0,
        name=t("timeline.range.device", name="–", computing="100 %", exposed="0 %", free="0 %"),
    )


def test_that_a_range_is_counted_by_rank_and_kind_of_lane_and_kernels_come_first(
    window: PanesWindow, tmp_path: Path
) -> None:
    lanes = [
        LaneSpec(name=name, kind=kind, process=f"{name} {rank}", rank=rank, slices=[(0, 100 * (rank + 1), text)])
        for rank in (0, 1)
        for name, kind, text in (
            ("Stream 1", "device", "Notify Wait"), ("Plane 0", "communication", "Notify_Wait"),
            ("Thread", "host", "aten::add"), ("Communication", "overlap", "Communication"),
        )
    ]  # fmt: skip
    window.state.set_trace(trace_of(tmp_path / "ranks", lanes))
    assert window.panes.range.kind.currentData() == "device"
    assert [row[:4] for row in window.statistics("device")] == [
        ["Notify Wait", "1", "1", "200 ns"], ["Notify Wait", "0", "1", "100 ns"],
    ]  # fmt: skip
    with window.qtbot.waitSignal(window.panes.range.reckoned_anew):
        window.panes.range.kind.setCurrentIndex(0)
        window.panes.range.kind.activated.emit(0)
    rows = window.cells(window.panes.range.view)
    assert len(rows) == 8
    assert {tuple(row[1:3]) for row in rows} == {
        (t(f"timeline.range.kind.{kind}"), str(rank))
        for kind in ("device", "communication", "host", "overlap")
        for rank in (0, 1)
    }


def test_that_without_a_range_what_is_in_view_is_counted_of_the_lanes_that_are_shown(
    window: PanesWindow, trace: Trace
) -> None:
    window.state.set_trace(trace)
    assert sorted(row[0] for row in window.statistics()) == ["add", "add\tnew line", "mm", "step"]
    assert t("timeline.range.shown_lanes") not in window.panes.range.title.whole_text()
    with window.qtbot.waitSignal(window.panes.range.reckoned_anew):
        window.state.lanes.hide(0)
    rows = window.cells(window.panes.range.view)
    assert {row[0] for row in rows} == {"mm", "add\tnew line"}
    assert t("timeline.range.shown_lanes") in window.panes.range.title.whole_text()
    with window.qtbot.waitSignal(window.panes.range.reckoned_anew):
        window.state.viewport.show(9000, 9550)
    assert [row[0] for row in window.cells(window.panes.range.view)] == ["add\tnew line"]


def test_that_a_click_on_a_head_sorts_and_a_third_one_gives_the_first_order_back(
    window: PanesWindow, trace: Trace
) -> None:
    window.state.set_trace(trace)
    before = window.statistics()
    view, count = window.panes.range.view, 2
    view.sortByColumn(count, Qt.SortOrder.DescendingOrder)
    assert [row[2] for row in window.cells(view)] == ["3", "1", "1", "1"]
    view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in window.cells(view)] == ["add", "add\tnew line", "mm", "step"]
    view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert window.cells(view) == before


def test_that_statistics_are_written_as_csv_and_a_failure_is_said(
    window: PanesWindow, trace: Trace, tmp_path: Path, session: Session
) -> None:
    window.state.set_trace(trace)
    window.statistics()
    window.panes.range.save(tmp_path / "range.csv")
    window.qtbot.waitUntil(lambda: (tmp_path / "range.csv").exists())
    assert (tmp_path / "range.csv").read_text("utf-8-sig").splitlines()[0].startswith("Rank,Lanes,Name,Count")
    with window.qtbot.waitSignal(session.trouble) as trouble:
        window.panes.range.save(tmp_path / "not there" / "range.csv")
    assert isinstance(trouble.args[0], StudioError)


def test_that_a_double_click_on_a_name_lists_its_slices(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    rows = window.statistics()
    view = window.panes.range.view
    position = view.visualRect(view.model().index([row[0] for row in rows].index("mm"), 0)).center()
    click(view.viewport(), position)
    QTest.mouseDClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, position)
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None)
    assert window.panes.current_tab == "search"
    assert [row[0] for row in window.cells(window.panes.matches.view)] == ["mm", "mm", "mm"]


def test_that_a_match_that_is_clicked_is_chosen_and_the_list_stays(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    window.panes.show_tab("search")
    QTest.keyClicks(window.bar.field, "MM")
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None)
    view = window.panes.matches.view
    assert window.bar.count.whole_text() == t("timeline.find.matches", count="3")
    assert [row[2] for row in window.cells(view)] == ["2.000 µs", "4.000 µs", "7.000 µs"]
    view.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    click_row(view, 0)
    assert int(trace.start[window.state.selection.slice]) == 7000
    assert window.panes.current_tab == "search"
    assert window.bar.count.whole_text() == t("timeline.find.count", at="3", count="3")
    window.bar.next.click()
    assert int(trace.start[window.state.selection.slice]) == 2000
    window.state.selection.select(named(trace, "step")[0])
    assert window.panes.current_tab == "slice"


def test_that_the_search_steps_to_and_fro_and_is_cleared(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    QTest.keyClicks(window.bar.field, "mm")
    QTest.keyClick(window.bar.field, Qt.Key.Key_Return)
    window.qtbot.waitUntil(lambda: len(window.state.hits.slices) == 3 and window.state.hits.current == 0)
    window.bar.previous.click()
    assert window.state.hits.current == 2
    QTest.keyClick(window.bar.field, Qt.Key.Key_Escape)
    window.qtbot.waitUntil(lambda: len(window.state.hits.slices) == 0 and window.state.hits.names is None)
    assert not window.bar.count.isVisible()
    assert not window.bar.next.isEnabled()


def test_that_case_and_regular_expressions_are_heeded_and_a_bad_one_is_said(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    window.bar.case.setChecked(True)
    QTest.keyClicks(window.bar.field, "MM")
    window.qtbot.waitUntil(lambda: window.bar.count.whole_text() == t("timeline.find.none"))
    window.bar.regex.setChecked(True)
    window.bar.field.setText("^(mm|step)$")
    window.qtbot.waitUntil(lambda: len(window.state.hits.slices) == 4)
    window.bar.field.setText("(")
    window.qtbot.waitUntil(lambda: window.bar.count.property("role") == "bad")
    assert not len(window.state.hits.slices)
    assert window.bar.field.property("wrong")


def test_that_enter_on_a_name_lists_its_slices_too(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    window.statistics()
    window.panes.range.view.setCurrentIndex(window.panes.range.view.model().index(0, 0))
    with window.qtbot.waitSignal(window.panes.find_requested):
        QTest.keyClick(window.panes.range.view, Qt.Key.Key_Return)


def test_that_names_of_any_kind_and_length_are_shown(window: PanesWindow, tmp_path: Path) -> None:
    names = ["", "<b>bold</b>", "新\u2028行\n二", "🙂" * 40, "x" * 1_000_000]
    slices = [(at * 10, at * 10 + 5, name) for at, name in enumerate(names)]
    window.state.set_trace(trace_of(tmp_path, [LaneSpec(slices=slices)]))
    assert len(window.statistics()) == len(names)
    for index in range(len(names)):
        window.select(index)
        window.panes.grab()
    window.state.set_hits(np.arange(len(names)))
    window.panes.show_tab("search")
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None)
    assert not window.panes.grab().isNull()


def test_that_a_long_list_of_matches_is_cut_and_says_so(
    window: PanesWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches_pane, "MAX_MATCHES", 10)
    trace = trace_of(tmp_path, [LaneSpec(slices=[(at * 10, at * 10 + 5, "mm") for at in range(25)])])
    window.state.set_trace(trace)
    window.panes.show_tab("search")
    window.state.set_hits(np.arange(25))
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None)
    assert len(window.cells(window.panes.matches.view)) == 10
    assert window.panes.matches.cut.text() == t("timeline.matches.cut", shown="10", count="25")


def test_that_a_note_is_typed_kept_found_again_and_deleted(
    window: PanesWindow, trace: Trace, qtbot: QtBot, session: Session
) -> None:
    window.state.set_trace(trace)
    window.qtbot.waitUntil(lambda: t("timeline.notes.empty") in _texts(window.panes.notes))
    window.state.selection.choose_range(TimeRange(begin=2000, end=6000))
    window.panes.add_note()
    field = window.panes.notes.view.findChild(QLineEdit)
    assert field is not None
    QTest.keyClicks(field, "stalls here")
    QTest.keyClick(field, Qt.Key.Key_Return)
    file = notes_file(trace)
    window.qtbot.waitUntil(lambda: [mark.text for mark in read_notes(file)] == ["stalls here"])
    mark = read_notes(file)[0]
    assert (mark.begin - trace.meta.origin_ns, mark.end - trace.meta.origin_ns) == (2000, 6000)

    again = PanesWindow(qtbot, session)
    again.state.set_trace(trace)
    again.panes.show_tab("notes")
    qtbot.waitUntil(lambda: len(again.state.marks) == 1)
    assert again.cells(again.panes.notes.view) == [["stalls here", "2.000 µs", "4.000 µs"]]
    again.state.viewport.show(0, 100)
    click_row(again.panes.notes.view, 0)
    assert again.state.viewport.begin < 2000 < 6000 < again.state.viewport.end
    assert again.panes.current_tab == "notes"
    again.panes.notes.delete_button.click()
    qtbot.waitUntil(lambda: not read_notes(file))


def _texts(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def test_that_a_note_needs_neither_a_range_nor_a_slice_and_a_clicked_mark_is_listed(
    window: PanesWindow, trace: Trace
) -> None:
    window.panes.add_note()
    assert not window.state.marks
    window.state.set_trace(trace)
    window.panes.toggle()
    window.panes.add_note()
    window.state.selection.select(named(trace, "step")[0])
    window.panes.add_note()
    lengths = sorted(mark.end - mark.begin for mark in window.state.marks)
    assert lengths == [0, 10_000]
    window.panes.choose_note(1)
    assert window.panes.current_tab == "notes"
    assert not window.panes.is_folded
    assert [index.row() for index in window.panes.notes.view.selectionModel().selectedRows()] == [1]


def test_that_two_windows_on_one_profile_keep_the_notes_of_both(
    qtbot: QtBot, window: PanesWindow, session: Session, trace: Trace
) -> None:
    other = PanesWindow(qtbot, session)
    for each in (window, other):
        each.state.set_trace(trace)
        each.panes.show_tab("notes")
    qtbot.waitUntil(lambda: window.panes.notes.add_button.isEnabled())
    file = notes_file(trace)
    other.state.set_marks([Mark(begin=5, end=5, text="AAA")])
    qtbot.waitUntil(lambda: [mark.text for mark in read_notes(file)] == ["AAA"])
    window.state.set_marks([*window.state.marks, Mark(begin=7, end=7, text="BBB")])
    qtbot.waitUntil(lambda: [mark.text for mark in read_notes(file)] == ["AAA", "BBB"])
    qtbot.waitUntil(lambda: [mark.text for mark in window.state.marks] == ["AAA", "BBB"])


def test_that_notes_at_the_ends_of_all_time_are_listed(window: PanesWindow, trace: Trace) -> None:
    write_notes(notes_file(trace), [Mark(begin=-(1 << 63) + 1, end=(1 << 63) - 1, text="all\nof it")])
    window.state.set_trace(trace)
    window.panes.show_tab("notes")
    window.qtbot.waitUntil(lambda: len(window.state.marks) == 1)
    assert window.cells(window.panes.notes.view)[0][0] == "all of it"
    click_row(window.panes.notes.view, 0)


def test_that_notes_that_cannot_be_written_are_said(window: PanesWindow, trace: Trace, session: Session) -> None:
    state_home().mkdir(parents=True, exist_ok=True)
    (state_home() / "timeline").write_text("in the way", "utf-8")
    window.state.set_trace(trace)
    window.qtbot.wait(50)
    with window.qtbot.waitSignal(session.trouble) as trouble:
        window.qtbot.waitUntil(lambda: window.panes.notes.add_button.isEnabled())
        window.panes.add_note()
    assert isinstance(trouble.args[0], StudioError)


def test_that_the_data_pane_says_what_was_read_and_why_some_was_not_shown(window: PanesWindow, tmp_path: Path) -> None:
    malformed = [{"ph": "X", "name": "when", "pid": 1, "tid": 1, "ts": "never", "dur": 1}, {"ph": "?", "name": "what"}]
    torch_npu_trace.write_array(tmp_path / "trace_view.json", [*torch_npu_trace.torch_npu(), *malformed])
    trace = window.open(tmp_path / "trace_view.json")
    window.panes.show_tab("data")
    pane = window.panes.data
    window.qtbot.waitUntil(lambda: pane.missing is not None)
    assert pane.counts.value_of(t("timeline.data.slices")) == f"{trace.meta.slices:,}"
    assert pane.counts.value_of(t("timeline.data.dangling")) == "1"
    assert pane.counts.value_of(t("timeline.aside.bad_time")) == "1"
    assert pane.counts.value_of(t("timeline.aside.unknown_phase")) == "1"
    assert [fact.value for fact in pane.sources.facts.facts] == [None, "trace_view.json", None]
    assert "profile_memory=True" in [fact.name for fact in pane.not_collected.facts.facts]


def test_that_the_figures_of_the_data_pane_add_up_to_the_events(window: PanesWindow, tmp_path: Path) -> None:
    trace = window.open(torch_npu_trace.write_object(tmp_path / "trace.json", other_traces.kineto()))
    counts = window.panes.data.counts
    parts = ("slices", "instants", "flow_ends", "counters", "metadata")
    assert sum(getattr(trace.meta, part) for part in parts) + sum(trace.meta.set_aside.values()) == trace.meta.events
    assert counts.value_of(t("timeline.data.flow_ends")) == f"{trace.meta.flow_ends:,}"
    assert counts.value_of(t("timeline.data.series")) == str(len(trace.meta.series))
    assert t("timeline.data.from_memory") in [fact.name for fact in counts.facts.facts]


def test_that_switches_that_are_not_on_are_whole(window: PanesWindow, tmp_path: Path) -> None:
    window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    pane = window.panes.data
    window.qtbot.waitUntil(lambda: pane.missing is not None)
    lines = [fact.name for fact in pane.not_collected.facts.facts if fact.is_mono]
    assert max(map(len, lines)) <= 48
    assert "experimental_config=_ExperimentalConfig(" in lines
    assert pane.missing is not None
    for view in pane.missing:
        assert view.switch.replace(" ", "") in "".join(lines).replace(" ", "")


def test_that_the_data_pane_says_what_was_cut_off(window: PanesWindow, tmp_path: Path) -> None:
    path = torch_npu_trace.write_array(tmp_path / "trace_view.json", torch_npu_trace.torch_npu())
    path.write_bytes(path.read_bytes()[:-900])
    window.open(path)
    window.panes.show_tab("data")
    facts = window.panes.data.sources.facts.facts
    assert t("timeline.data.cut") in facts[1].name
    assert t("timeline.remark.truncated", place="trace_view.json") in [fact.name for fact in facts]


def test_that_the_language_changes_while_panes_are_open(window: PanesWindow, tmp_path: Path) -> None:
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    window.select(kernels(trace)[0])
    window.statistics()
    change_language("zh")
    assert window.panes.tabs.tabText(0) == "切片"
    assert window.panes.slice.facts.value_of("时长") == "11 µs"
    assert window.panes.range.title.whole_text().startswith("当前可见范围")
    assert window.panes.data.counts.value_of("泳道") == str(len(trace.meta.lanes))


def test_that_nothing_of_the_profile_before_is_kept(window: PanesWindow, trace: Trace, tmp_path: Path) -> None:
    old = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    window.select(kernels(old)[0])
    window.statistics()
    window.bar.find_name(torch_npu_trace.KERNELS[0])
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None and window.panes.data.missing is not None)
    gone = weakref.ref(old)
    del old
    window.panes.show_opened(None)
    window.state.set_trace(trace)
    window.qtbot.waitUntil(lambda: window.panes.data.missing is not None)
    window.qtbot.waitUntil(lambda: gc.collect() >= 0 and gone() is None)
    assert window.panes.slice.lookup is None
    assert not window.cells(window.panes.matches.view)


def test_that_folding_leaves_the_tabs_and_a_click_on_one_unfolds(window: PanesWindow, trace: Trace) -> None:
    window.state.set_trace(trace)
    window.panes.toggle()
    assert window.panes.is_folded
    assert window.panes.maximumHeight() < 60
    click(window.panes.tabs, window.panes.tabs.tabRect(TAB_NAMES.index("notes")).center())
    assert not window.panes.is_folded
    assert window.panes.current_tab == "notes"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tab", TAB_NAMES)
def test_that_nothing_is_cut_off_or_lies_on_something_else(
    window: PanesWindow, tmp_path: Path, tab: str, language: Language
) -> None:
    change_language(language)
    assert not looks.faults(window.panes)
    trace = window.open(profile_folders.rank_folder(tmp_path / "rank0_ascend_pt"))
    window.panes.resize(1000, 240)
    window.select(kernels(trace)[0])
    window.panes.notes.add()
    window.bar.find_name(torch_npu_trace.KERNELS[0])
    window.qtbot.waitUntil(lambda: window.panes.matches.listed is not None and window.panes.data.missing is not None)
    window.panes.show_tab(tab)
    window.qtbot.wait(20)
    assert not looks.faults(window.panes)
    assert not looks.faults(window.bar)


@pytest.mark.parametrize("name", ASCEND_TEXTS[::2])
def test_that_a_kernel_of_a_profile_shows_its_metrics_its_stack_and_its_flows(window: PanesWindow, name: str) -> None:
    trace = window.open(profile(name))
    index = next(index for index in named(trace, "aclnnAddmm_MatMulCommon_MatMulV2") if trace.end[index])
    window.select(index)
    pane = window.panes.slice
    assert pane.args.value_of("aicore_time(us)") or pane.args.value_of("aic_total_cycles")
    assert pane.stack.frames[0].text.endswith("forward")
    assert {flow.arrow.kind for flow in pane.flows.flows} == {"async_npu", "HostToDevice"}
    window.state.selection.choose_range(TimeRange(begin=0, end=trace.span + 1))
    rows = {row[0]: row[1] for row in window.statistics("device")}
    assert rows["aclnnAddmm_MatMulCommon_MatMulV2"] == str(len(named(trace, "aclnnAddmm_MatMulCommon_MatMulV2")))
