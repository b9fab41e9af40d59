"""The Timeline page around the lanes: opening, its states, menus and exports, on traces that are made here."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema
from studio.paths import cache_home
from tests.timeline.other_traces import chrome_pairs, kineto
from tests.timeline.profile_folders import ranks
from tests.timeline.torch_npu_trace import (
    slice_of,
    torch_npu,
    write_array,
    write_object,
)
from tests.ui.looks import faults, settle
from tests.ui.timeline.clicks import (
    choose,
    click_slice,
    every_action,
    open_profile,
    page_of,
    press_key,
    trace_of,
    wait_opened,
)
from ui.services import editor
from ui.services.settings import Settings
from ui.shell.dropped_path import recognise
from ui.shell.window import Shell
from ui.timeline.opening import recent_profiles
from ui.timeline.opening.start_view import ProfileRow
from ui.timeline.view.keys_sheet import KeysSheet
from ui.timeline.view.lane_menu import OffsetSheet, ns_of
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.errors import StudioError
    from ui.services.session import Session
    from ui.timeline.page import TimelinePage


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    folder = tmp_path / "profile 中文"
    folder.mkdir()
    return write_array(folder / "trace_view.json", torch_npu())


@pytest.fixture
def page(qtbot: QtBot, shell: Shell, trace_file: Path) -> TimelinePage:
    return open_profile(qtbot, shell, trace_file)


def big(path: Path) -> Path:
    """Takes its reader a second or more."""
    line = '{"ph":"X","name":"op%d","pid":1,"tid":%d,"ts":%d,"dur":2,"args":{"x":"' + "y" * 80 + '"}},\n'
    rows = "".join(line % (number % 50, number % 7, number * 3) for number in range(400_000))
    path.write_text(f"[{rows[:-2]}]")
    return path


def named(page: TimelinePage, name: str) -> int:
    trace = trace_of(page)
    return next(index for index in range(len(trace.start)) if trace.name_text(int(trace.name[index])) == name)


def rows_in(page: TimelinePage, name: str) -> list[ProfileRow]:
    return [
        row
        for row in page.findChildren(ProfileRow, "timeline_offer")
        if row.accessibleName() == name and row.isVisible()
    ]


# Opening


def test_that_a_dropped_trace_is_read_and_said_in_one_sentence(
    page: TimelinePage, trace_file: Path, qtbot: QtBot
) -> None:
    assert page.stack.currentWidget() is page.splitter
    assert page.head.name.whole_text() == "profile 中文/trace_view.json"
    assert "2 steps" in page.head.chip.text()
    qtbot.waitUntil(page.sentence.isVisible)
    assert "computing" in page.sentence.text()
    assert page.loading.isHidden()
    assert not faults(page.window())
    assert os.listdir(trace_file.parent) == ["trace_view.json"]


def test_that_what_was_opened_is_offered_and_one_click_opens_it_again(
    page: TimelinePage, trace_file: Path, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: recent_profiles.recent() == (trace_file,))
    page._show_start()
    qtbot.waitUntil(lambda: bool(rows_in(page, "profile 中文/trace_view.json")))
    rows_in(page, "profile 中文/trace_view.json")[0].click()
    wait_opened(qtbot, page, trace_file)
    assert page.opened is not None
    assert not page.opened.fresh


def test_that_a_profile_that_is_gone_is_told_once_and_offered_no_more(
    qtbot: QtBot, shell: Shell, tmp_path: Path
) -> None:
    gone = tmp_path / "gone" / "trace_view.json"
    recent_profiles.remember(gone)
    assert recent_profiles.read_settings().profiles == [str(gone)]
    assert recent_profiles.recent() == ()
    page = page_of(shell)
    page.open(gone)
    qtbot.waitUntil(page.failed.isVisible)
    assert page.failed.reason.text() == f"{gone} does not exist. Check the path."
    assert page.failed.name.isHidden()


def test_that_a_profile_that_a_run_captured_is_offered(
    qtbot: QtBot, shell: Shell, session: Session, tmp_path: Path
) -> None:
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py"))
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, "script", schema.to_json(spec), None)
    folder = run.folder / "artifacts" / "captures" / "101112-profile-ab12"
    (folder / "rank0").mkdir(parents=True)
    write_object(folder / "rank0" / "x.pt.trace.json", kineto())
    (run.folder / "artifacts" / "captures" / "101113-profile-cd34").mkdir()  # withdrawn: nothing in it
    session.refresh_runs()
    page = page_of(shell)
    qtbot.waitUntil(page.start.captured.isVisible)
    rows = page.start.captured.findChildren(ProfileRow)
    assert [row.path for row in rows] == [folder]
    rows[0].click()
    wait_opened(qtbot, page, folder)
    assert len(trace_of(page).start)


def test_that_the_window_opens_a_profile_that_another_page_asks_for(
    qtbot: QtBot, shell: Shell, session: Session, trace_file: Path
) -> None:
    session.path_requested.emit("profile", trace_file)
    page = page_of(shell)
    wait_opened(qtbot, page, trace_file)


def test_that_what_is_no_profile_says_why_and_can_be_tried_again(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text("hello")
    page = page_of(shell)
    page.open(path)
    qtbot.waitUntil(page.failed.isVisible)
    assert "trace_view.json" in page.failed.reason.text()
    write_array(path, chrome_pairs())
    page.failed.again.click()
    wait_opened(qtbot, page, path)


def test_that_what_is_shown_stays_when_another_profile_cannot_be_opened(
    qtbot: QtBot, page: TimelinePage, shell: Shell, tmp_path: Path
) -> None:
    previous = page.opened
    other = tmp_path / "other.json"
    other.write_text("no trace")
    page.open(other)
    qtbot.waitUntil(shell.strip.isVisible)
    assert "other.json" in str(shell.strip.messages)
    assert (page.opened, page.view.isVisible(), page.loading.isVisible()) == (previous, True, False)
    assert page.path != other


def test_that_an_earlier_opening_is_not_heard_any_more(
    qtbot: QtBot, shell: Shell, tmp_path: Path, trace_file: Path
) -> None:
    other = write_array(tmp_path / "other.json", chrome_pairs())
    page = page_of(shell)
    opened: list[Path] = []
    page.opening.opened.connect(lambda path, _opened, _said: opened.append(path))
    for path in (trace_file, other):
        page.open(path)
    wait_opened(qtbot, page, other)
    qtbot.wait(300)
    assert opened == [other]


def test_that_reading_is_cancelled_and_leaves_nothing(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    page = page_of(shell)
    page.open(big(tmp_path / "big.json"))
    qtbot.waitUntil(lambda: page.opening._process is not None and page.opening._process.processId() > 0)
    assert page.loading.isVisible()
    child = page.opening._process.processId()
    page.loading.cancel.click()
    assert page.start.isVisible()
    qtbot.waitUntil(lambda: not Path(f"/proc/{child}").exists())
    left = [folder for folder in (cache_home() / "timeline").iterdir() if folder.is_dir()]
    assert not left


def test_that_what_was_shown_stays_where_another_reading_is_cancelled(
    page: TimelinePage, qtbot: QtBot, tmp_path: Path, trace_file: Path
) -> None:
    before = page.opened
    page.open(big(tmp_path / "big.json"))
    assert page.loading.isVisible()
    page.loading.cancel.click()
    assert page.loading.isHidden()
    assert (page.opened, page.path) == (before, trace_file)
    assert page.view.isVisible()
    qtbot.waitUntil(page.sentence.isVisible)


def test_that_first_lanes_are_shown_while_the_rest_is_read(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    page = page_of(shell)
    shares: list[float | None] = []
    page.state.trace_changed.connect(lambda: shares.append(trace_of(page).meta.partial))
    path = big(tmp_path / "big.json")
    page.open(path)
    wait_opened(qtbot, page, path)
    assert shares[-1] is None
    assert len(trace_of(page).start) == 400_000


def test_that_a_reader_that_is_killed_is_told(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    page = page_of(shell)
    page.open(big(tmp_path / "big.json"))
    qtbot.waitUntil(lambda: page.opening._process is not None and page.opening._process.processId() > 0)
    os.kill(page.opening._process.processId(), signal.SIGKILL)
    qtbot.waitUntil(page.failed.isVisible)
    assert "signal 9" in page.failed.reason.text()


def test_that_a_cut_trace_is_shown_and_said_to_be_cut(qtbot: QtBot, shell: Shell, trace_file: Path) -> None:
    trace_file.write_bytes(trace_file.read_bytes()[:-300])
    page = open_profile(qtbot, shell, trace_file)
    assert page.notes.isVisible()
    assert "trace_view.json" in page.notes.text()


@pytest.mark.parametrize("name", ["a b.json", "中文 😀\n.json", "-x.json"])
def test_that_any_name_of_a_file_will_do(qtbot: QtBot, shell: Shell, tmp_path: Path, name: str) -> None:
    page = open_profile(qtbot, shell, write_array(tmp_path / name, chrome_pairs()))
    settle()
    assert page.opened is not None


def test_what_a_drop_is_taken_for(tmp_path: Path) -> None:
    write_array(tmp_path / "any.json", chrome_pairs())
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / "train.py").touch()
    folder = ranks(tmp_path / "out")
    kinds = {path: recognise(path).kind for path in (tmp_path, tmp_path / "any.json", tmp_path / "config.json", folder)}
    assert kinds == {
        tmp_path: "project", tmp_path / "any.json": "profile", tmp_path / "config.json": "unknown", folder: "profile",
    }  # fmt: skip
    assert all(recognise(entry).kind == "profile" for entry in folder.iterdir())


# What is done with it


def test_that_the_page_speaks_the_language_of_the_moment(page: TimelinePage, qtbot: QtBot) -> None:
    qtbot.waitUntil(page.sentence.isVisible)
    click_slice(page, named(page, "ProfilerStep#0"))
    change_language("zh")
    settle()
    assert page.head.open.text() == "打开…"
    assert "step" in page.head.chip.text()
    assert "计算" in page.sentence.text()
    assert page.tools.mode.currentText() == "相对起点"
    assert not faults(page.window())


def test_that_keys_list_themselves_and_fold_the_pane(page: TimelinePage) -> None:
    press_key(page.view.canvas, Qt.Key.Key_F1)
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, KeysSheet)
    assert not faults(sheet)
    sheet.close()
    page.tools.view.setFocus()
    press_key(page.tools.view, Qt.Key.Key_F1)
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, KeysSheet)
    sheet.close()
    press_key(page.view.canvas, Qt.Key.Key_Q)
    assert page.panes.is_folded
    press_key(page.view.canvas, Qt.Key.Key_Q)
    assert not page.panes.is_folded


def test_that_lanes_are_filtered_by_what_is_typed(page: TimelinePage, qtbot: QtBot) -> None:
    before = len(page.state.lanes.bands)
    page.tools.filter.setFocus()
    QTest.keyClicks(page.tools.filter, "overlap")
    qtbot.waitUntil(lambda: 0 < len(page.state.lanes.bands) < before)
    page.tools.filter.clear()
    qtbot.waitUntil(lambda: len(page.state.lanes.bands) == before)


def test_that_time_is_counted_as_is_chosen(page: TimelinePage) -> None:
    modes = [page.tools.mode.itemData(row) for row in range(page.tools.mode.count())]
    assert modes == ["relative", "absolute", "step"]
    page.tools.mode.setCurrentIndex(1)
    page.tools.mode.activated.emit(1)
    assert page.state.time_mode == "absolute"


def test_that_a_narrow_window_counts_time_by_the_menu(page: TimelinePage, shell: Shell) -> None:
    shell.resize(720, 480)
    settle()
    assert page.tools.mode.isHidden()
    assert not faults(shell)
    page.tools.view.click()
    choose("Within step")
    assert page.state.time_mode == "step"


def test_that_a_trace_without_steps_or_clock_offers_neither(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    path = write_array(tmp_path / "plain.json", [slice_of("a", 1, 1, 1_000, 500)])
    page = open_profile(qtbot, shell, path)
    assert page.tools.mode.count() == 1


def test_the_view_menu(page: TimelinePage) -> None:
    bands = len(page.state.lanes.bands)
    page.tools.view.click()
    choose("Merge the streams of a device")
    assert len(page.state.lanes.bands) < bands
    page.tools.view.click()
    choose("Collapse all processes")
    assert set(page.state.lanes.bands.kind.tolist()) == {0}
    page.tools.view.click()
    choose("Show all lanes")
    page.tools.view.click()
    menu = QApplication.activePopupWidget()
    kinds = [action.text() for action in every_action(menu) if action.text() in trace_of(page).meta.flow_kinds]
    choose(kinds[0])
    assert page.state.flow_kinds == {trace_of(page).meta.flow_kinds.index(kinds[0])}


def test_the_menu_of_a_lane(page: TimelinePage, qtbot: QtBot) -> None:
    track = next(number for number, lane in enumerate(trace_of(page).meta.lanes) if lane.kind == "device")
    position = page.view.mapToGlobal(QPoint(60, 200))
    page.view.lane_menu_requested.emit(track, position)
    choose("Pin to the top")
    assert page.state.lanes.is_pinned(track)
    page.view.lane_menu_requested.emit(track, position)
    choose("Unpin")
    page.view.lane_menu_requested.emit(track, position)
    choose("Offset in time…")
    sheet = QApplication.activePopupWidget()
    assert isinstance(sheet, OffsetSheet)
    assert not faults(sheet)
    sheet.field.setText("soon")
    assert not sheet.keep.isEnabled()
    sheet.field.setText("-1.5 us")
    press_key(sheet.field, Qt.Key.Key_Return)
    assert page.state.lanes.offset_of(track) == -1500
    page.view.lane_menu_requested.emit(track, position)
    choose("Hide")
    assert page.state.lanes.hidden == [track]
    page.view.process_menu_requested.emit(0, position)
    choose("Show all lanes")
    assert page.state.lanes.hidden == []


def test_the_menu_of_a_slice(page: TimelinePage, qtbot: QtBot) -> None:
    trace = trace_of(page)
    index = named(page, "aclnnAdd_AddAiCore_Add")
    page.state.reveal(index)
    settle()
    position = page.view.mapToGlobal(QPoint(300, 200))
    page.view.slice_menu_requested.emit(index, position)
    choose("Select range of slice")
    assert page.state.selection.range is not None
    page.view.slice_menu_requested.emit(index, position)
    choose("Copy")
    assert "aclnnAdd_AddAiCore_Add" in QGuiApplication.clipboard().text()
    page.view.slice_menu_requested.emit(index, position)
    choose("Find all with this name")
    qtbot.waitUntil(lambda: len(page.state.hits.slices) > 0)
    assert all(trace.name[hit] == trace.name[index] for hit in page.state.hits.slices)
    page.view.slice_menu_requested.emit(index, position)
    menu = QApplication.activePopupWidget()
    flow = next(action.text() for action in every_action(menu) if action.text().startswith("←"))
    choose(flow)
    assert page.state.selection.slice != index


def test_that_a_line_of_the_stack_opens_in_the_editor(
    qtbot: QtBot, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "model.py"
    source.write_text("def forward(x):\n" + "    x = x + 1\n" * 12)
    opened: list[tuple[object, ...]] = []
    monkeypatch.setattr(editor, "chosen", lambda: ("code", "{path}:{line}"))
    monkeypatch.setattr(editor, "open_at", lambda *args: opened.append(args))
    path = write_array(
        tmp_path / "trace_view.json", torch_npu(stack=f"{source}(12): forward;\r\n/gone/train.py(4): <module>")
    )
    page = open_profile(qtbot, shell, path)
    page.state.reveal(named(page, "aclnnAdd_AddAiCore_Add"))
    stack = page.panes.slice.stack
    qtbot.waitUntil(lambda: stack.isVisible() and stack.list.count() > 0)
    settle()
    for row in (0, 1):
        position = stack.list.visualItemRect(stack.list.item(row)).center()
        QTest.mouseClick(stack.list.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert opened == [(("code", "{path}:{line}"), source, 12)]


def test_that_pictures_and_tables_are_written(page: TimelinePage, tmp_path: Path, qtbot: QtBot) -> None:
    png, svg, table = (tmp_path / f"view.{suffix}" for suffix in ("png", "svg", "csv"))
    page.export.write_picture(png)
    page.export.write_picture(svg)
    assert QImage(str(png)).width() == page.view.width()
    assert b"<svg" in svg.read_bytes()
    click_slice(page, named(page, "ProfilerStep#1"))
    press_key(page.view.canvas, Qt.Key.Key_M)
    page.export.write_slices(table)
    qtbot.waitUntil(table.exists)
    rows = list(csv.reader(table.read_text("utf-8-sig").splitlines()))
    assert rows[0][3] == "Name"
    names = {row[3] for row in rows[1:]}
    assert "ProfilerStep#1" in names
    assert "ProfilerStep#0" not in names


def test_that_a_file_that_cannot_be_written_is_told(
    page: TimelinePage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    errors: list[StudioError] = []
    session.trouble.connect(errors.append)
    page.export.write_picture(tmp_path / "gone" / "view.png")
    page.export.write_slices(tmp_path / "gone" / "view.csv")
    qtbot.waitUntil(lambda: len(errors) == 2)


def test_that_a_folder_of_ranks_is_one_timeline(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    page = open_profile(qtbot, shell, ranks(tmp_path / "out"))
    assert "2 ranks · 2 devices · 2 steps" in page.head.chip.text()


@pytest.mark.parametrize(
    ("text", "ns"),
    [("1500", 1500), (" -1.5 us ", -1500), ("2ms", 2_000_000), ("0.000000001 s", 1), ("+3 µs", 3000), ("", None),
     ("1e9", None), ("5 days", None), ("9" * 40, None), ("1.5", 1)],
)  # fmt: skip
def test_lengths_of_time_as_they_are_typed(text: str, ns: int | None) -> None:
    assert ns_of(text) == ns


def test_that_a_profile_named_on_the_command_line_is_opened(qtbot: QtBot, session: Session, trace_file: Path) -> None:
    shell = Shell(session, Settings(language="en", theme="light"))
    qtbot.addWidget(shell)
    shell.show_first(trace_file)
    qtbot.waitUntil(lambda: shell.page == "timeline")
    wait_opened(qtbot, page_of(shell), trace_file)


def test_that_keys_work_on_the_lanes_at_once_and_after_a_field(page: TimelinePage, shell: Shell) -> None:
    shell.activateWindow()
    shell.show_page("home")
    shell.show_page("timeline")
    assert QApplication.focusWidget() is page.view.canvas
    span = page.state.viewport.span
    press_key(QApplication.focusWidget(), Qt.Key.Key_W)
    assert page.state.viewport.span < span
    press_key(page.view.canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is page.tools.search.field
    press_key(page.tools.search.field, Qt.Key.Key_W)
    assert page.tools.search.field.text() == "w"
    page.tools.search.field.clear()
    press_key(page.tools.search.field, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is page.view.canvas
